"""A small warehouse with every kind of file, made by the driver alone, and all that can be read of it.

    with driver_alone():
        build(place, seed=17)
        observe(place)["view spend"]      # the rows, or the StorageError that reading them raised

Files are large here from 2,000 bytes on, and blocks have 256 bytes: so 300 rows make mapped copies and sums of blocks.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from evercurrent.engine.spark.storage.files import DamageWarning
from evercurrent.errors import StorageError
from evercurrent.warehouse.database import Warehouse

SCHEMA = """
CREATE TABLE c (id INT PRIMARY KEY, name STRING NOT NULL, nation STRING);
CREATE TABLE o (id INT PRIMARY KEY, cust INT, total DECIMAL(12,2), note STRING);
CREATE VIEW spend AS SELECT c.nation, SUM(o.total) AS total, MAX(o.total) AS most, COUNT(*) AS n
    FROM o JOIN c ON o.cust = c.id GROUP BY c.nation;
CREATE VIEW named AS SELECT o.id, c.name, o.note FROM o LEFT JOIN c ON o.cust = c.id;
CREATE VIEW best AS SELECT id, total FROM o ORDER BY total DESC, id LIMIT 5;
CREATE VIEW notes AS SELECT DISTINCT note FROM o;
"""
LAZY = "CREATE VIEW later AS SELECT cust, COUNT(*) AS n FROM o GROUP BY cust"
NATIONS = ("DE", "FR", None)
NEXT = {"o": [(9001, 3, "1.50", "new"), (9002, 4, "999.00", None)], "gone": (1, 2)}

Observations = dict[str, Any]
"""What was read, by what was asked: rows, or the StorageError that was raised."""


@contextmanager
def driver_alone() -> Iterator[None]:
    """Warehouses without Spark and without published views, to which little is much."""
    patches = {
        "evercurrent.engine.spark.engine.private": lambda spark: None,
        "evercurrent.warehouse.maintenance.commit.publish": lambda core: (),
        "evercurrent.warehouse.definitions.drafts.publish": lambda core: (),
        "evercurrent.warehouse.definitions.opening.publish": lambda core: (),
        "evercurrent.warehouse.maintenance.publish.publish": lambda core: (),
        "evercurrent.engine.spark.storage.files.SMALL_FILE": 2_000,
        "evercurrent.engine.spark.storage.checksums.SIDECAR": 2_000,
        "evercurrent.engine.spark.storage.checksums.BLOCK": 256,
        "evercurrent.engine.spark.storage.files.ROW_GROUP": 64,
        "evercurrent.engine.spark.storage.disk.os.fsync": lambda handle: None,
    }
    with ExitStack() as stack:
        for name, value in patches.items():
            stack.enter_context(mock.patch(name, value))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", DamageWarning)
        yield


@dataclass(frozen=True)
class Built:
    """A warehouse that lies there for as long as the process lives, and what was read of a copy of it."""

    folder: Any
    expected: Observations

    @property
    def place(self) -> Path:
        return Path(self.folder.name, "whole")


@cache
def built(seed: int) -> Built:
    """The warehouse of a seed; to be called inside of `driver_alone`."""
    made = Built(tempfile.TemporaryDirectory(), {})
    build(made.place, seed)
    made.expected.update(observe(copied(made, Path(made.folder.name, "copy"))))
    return made


def copied(warehouse: Built, place: Path) -> Path:
    """A copy of a warehouse at a place, in the stead of what lies there."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(warehouse.place, place)
    return place


def build(place: Path, seed: int, batches: int = 3) -> Warehouse:
    """Make a warehouse and change it a few times."""
    chance = Random(seed)
    db = Warehouse(None, place, progress=False)
    db.execute(SCHEMA)
    db.execute(LAZY, mode="lazy")
    db.table("c").insert([(i, f"customer {i}", chance.choice(NATIONS)) for i in range(1, 41)])
    db.table("o").insert([order(chance, i) for i in range(1, 301)])
    for n in range(batches):
        with db.transaction(batch=f"b{n}"):
            db.table("o").insert([order(chance, 1000 * (n + 1) + i) for i in range(chance.randint(1, 40))])
            for key in chance.sample(range(10 + 90 * n, 90 + 90 * n), 3):
                db.table("o").delete(key)
            db.table("c").update({"id": 10 + n}, nation=chance.choice(NATIONS))
    return db


def order(chance: Random, key: int) -> tuple[Any, ...]:
    total = f"{chance.randint(0, 500)}.{chance.randint(10, 99)}"
    return key, chance.randint(1, 44), total, chance.choice(("a", "bb", None, f"note {key}"))


def change(db: Warehouse) -> None:
    """The batch that comes next: it looks up rows of every view."""
    with db.transaction(batch="next"):
        db.table("o").insert(NEXT["o"])
        for key in NEXT["gone"]:
            db.table("o").delete(key)
        db.table("c").update({"id": 3}, nation="IT")


def tried(found: Observations, what: str, read: Callable[[], Any]) -> Any:
    try:
        found[what] = read()
    except StorageError as problem:
        found[what] = problem
    return found[what]


def read_all(db: Warehouse, found: Observations, when: str) -> None:
    for name in db.tables:
        tried(found, f"{when}: table {name}", lambda name=name: rows(db.table(name)))
    for name in db.views:
        tried(found, f"{when}: view {name}", lambda name=name: rows(db.view(name)))


def rows(handle: Any) -> list[Any]:
    return sorted(handle.rows(), key=repr)


def earlier_rows(db: Warehouse, table: str, version: int) -> list[Any]:
    found = db._core.engine.rows(db.table(table)._segments(version), db._core.table_types(table))
    return sorted(found, key=repr)


def observe(place: Path) -> Observations:
    """All that can be read of a warehouse, now, at an earlier version, and after one more batch."""
    found: Observations = {}
    db = tried(found, "open", lambda: Warehouse(None, place, progress=False))
    if isinstance(db, StorageError):
        return found
    found["open"] = db.version
    tried(found, "earlier", lambda: earlier_rows(db, "o", db.version - 1))
    tried(found, "repeated", lambda: db.apply({"o": []}, batch="b1").repeated)
    tried(found, "next", lambda: change(db))
    read_all(db, found, "next")
    again = tried(found, "again", lambda: Warehouse(None, place, progress=False))
    if not isinstance(again, StorageError):
        found["again"] = again.version
        read_all(again, found, "again")
    return found
