"""A history over a warehouse on Spark, as data, beside DuckDB and Spark's own SQL.

    follow([
        ("table", "t0", "CREATE TABLE t0 (k INT PRIMARY KEY, s STRING)"),
        ("view", "v0", "SELECT k, 'it''s' AS c FROM t0", "full", {1: "it's"}),
        ("change", "spark", [("t0", None, (1, "a"))]),
    ])

The last part of a view are the columns that must hold one constant in every row, in which case DuckDB is not asked. After every
change all views that DuckDB understands are compared with it, and the constants are looked at; now and then the view whose turn it
is is compared with Spark's own SQL. A change names who processes it: the driver, tasks, Spark, or whoever is estimated to be quicker.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.database import Warehouse
from tests.duck import Duck, difference, translate
from tests.fuzz.campaign import Tally
from tests.fuzz.histories import Wrong, imports
from tests.laws.world import insertion, perform
from tests.spark_session import small_session

Step = tuple[Any, ...]

QUICK = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
"""Settings with which queries over a few rows are quick; every batch sets its own."""

VERIFIED = 3
"""After so many changes Spark's own SQL is asked, too: that takes longer than the changes."""

NOT_UNDERSTOOD = (duckdb.BinderException, duckdb.NotImplementedException, duckdb.ParserException)


class Following:
    """One warehouse, plain tables and DuckDB under one history."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.tally = tally
        self.session = small_session("evercurrent-fuzz")
        self.folder = folder
        self.db = Warehouse(self.session, folder, progress=False)
        self.duck = Duck()
        self.tables: dict[str, Counter[tuple[Any, ...]]] = {}
        self.known: list[str] = []
        self.constants: dict[str, dict[int, Any]] = {}
        self.views: list[str] = []
        self.turn = 0

    def step(self, step: Step) -> None:
        match step:
            case ("table", name, text):
                self.db.execute(text)
                self.duck.execute(text)
                self.tables[name] = Counter()
            case ("view", name, text, policy, constants):
                try:
                    self.db.execute(f"CREATE VIEW {name} AS {text}", policy=policy)
                except EvercurrentError:
                    return  # what is refused is another campaign's matter
                self.views.append(name)
                self.tally.views += 1
                if constants:
                    self.constants[name] = constants
                else:
                    self.define(name, text)
            case ("change", strategy, operations):
                self.change(strategy, operations)
            case ("reopen",):
                self.db = Warehouse(self.session, self.folder, progress=False)
            case _:
                raise AssertionError(step)

    def define(self, name: str, text: str) -> None:
        try:
            self.duck.connection.execute(f"CREATE VIEW {name} AS {translate(text)}")
            self.duck.connection.execute(f"SELECT * FROM {name}")
            self.known.append(name)
        except NOT_UNDERSTOOD:
            pass

    def change(self, strategy: str, operations: Sequence[Any]) -> None:
        self.db._core.engine.strategy = strategy
        perform(self.db, list(operations))  # type: ignore[arg-type]
        for table, old, new in operations:
            if old is not None:
                self.tables[table][old] -= 1
            if new is not None:
                self.tables[table][new] += 1
        for table, rows in self.tables.items():
            self.duck.connection.execute(f"DELETE FROM {table}")
            if present := list(rows.elements()):
                self.duck.execute(insertion(table, present))
        self.compare()
        self.tally.transactions += 1

    def compare(self) -> None:
        for name in self.known:
            wrong = difference(
                self.db.view(name).rows(), self.duck.query(f"SELECT * FROM {name}", translated=True)
            )
            if wrong:
                raise Wrong(f"{name}: {wrong}")
        for name, constants in self.constants.items():
            for row in self.db.view(name).rows():
                for at, wanted in constants.items():
                    if row[at] != wanted and wanted == wanted:
                        raise Wrong(f"{name}: the constant {wanted!r} became {row[at]!r}")
        self.turn += 1
        if self.views and self.turn % VERIFIED == 0:
            for setting, value in QUICK.items():
                self.db._core.engine.session.conf.set(setting, value)
            report = self.db.verify([self.views[self.turn // VERIFIED % len(self.views)]])
            if report.differing:
                raise Wrong(f"not what Spark's SQL says: {report}")


def follow(steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    folder = Path(tempfile.mkdtemp(prefix="evercurrent-fuzz-"))
    try:
        following = Following(folder / "w", tally or Tally())
        try:
            for step in steps:
                following.step(step)
        finally:
            following.duck.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def script(steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the history."""
    text = "\n".join(f"        {step!r}," for step in steps)
    return (
        imports(text)
        + "from tests.fuzz.histories import NAN\nfrom tests.fuzz.warehouse_histories import follow\n\n"
        + "inf, nan = float('inf'), NAN\n\n"
        + "".join(f"# {line}\n" for line in message.splitlines())
        + f"follow(\n    [\n{text}\n    ]\n)\n"
    )
