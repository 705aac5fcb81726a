"""Change feeds as Arrow tables, judged by columns: what stands and what is refused is what rows one by one give."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import evercurrent as ec
from evercurrent.engine.spark.storage import files
from evercurrent.warehouse.changes import apply, columns
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = """
CREATE TABLE cust (id BIGINT, part INT, mail STRING UNIQUE, score DOUBLE, PRIMARY KEY (id, part));
CREATE TABLE orders (
    id BIGINT PRIMARY KEY, customer BIGINT, part INT, total DECIMAL(9,2), note VARCHAR(5),
    FOREIGN KEY (customer, part) REFERENCES cust (id, part), CHECK (total >= 0)
);
CREATE VIEW spend AS SELECT customer, COUNT(*) AS n, SUM(total) AS total FROM orders GROUP BY customer
"""
COLUMNS = {
    "cust": {"id": pa.int64(), "part": pa.int32(), "mail": pa.string(), "score": pa.float64()},
    "orders": {
        "id": pa.int64(),
        "customer": pa.int64(),
        "part": pa.int32(),
        "total": pa.decimal128(9, 2),
        "note": pa.string(),
    },
}
Change = tuple[str, tuple[Any, ...]]


def feed(table: str, changes: list[Change]) -> pa.Table:
    columns = {
        name: pa.array([row[i] for _, row in changes], kind)
        for i, (name, kind) in enumerate(COLUMNS[table].items())
    }
    return pa.table({**columns, "_change_type": pa.array([kind for kind, _ in changes], pa.string())})


def stored(db: Warehouse, table: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in db.table(table).rows()), key=repr)


def random_changes(r: random.Random, db: Warehouse) -> dict[str, pa.Table]:
    """Mostly right: rows that are there go, or go and come back otherwise; now and then anything."""
    made: dict[str, pa.Table] = {}
    for table in r.sample(["cust", "orders"], r.choice([1, 2, 2])):
        there = stored(db, table)
        changes: list[Change] = []
        for _ in range(r.randrange(1, 4)):
            row = random_row(r, table, stored(db, "cust"))
            match r.randrange(16):
                case 0 | 1 if there:
                    changes.append(("delete", r.choice(there)))
                case 2 | 3 if there:
                    old = r.choice(there)
                    changes += [("update_preimage", old), ("update_postimage", (*old[:-1], row[-1]))]
                case 4:
                    changes.append(("delete", row))
                case 5 if there:
                    changes.append(("delete", (*r.choice(there)[:-1], row[-1])))
                case 6:
                    changes += [("insert", row), ("delete", row)]
                case _:
                    changes.append(("insert", row))
        made[table] = feed(table, changes)
    return made


def random_row(r: random.Random, table: str, customers: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    if table == "cust":
        mail = r.choice([None, f"m{r.randrange(60)}"])
        return r.randrange(20), r.randrange(2), mail, r.choice([None, 0.0, 1.5])
    customer, part = (None, 0) if r.random() < 0.2 else (r.randrange(8), r.randrange(2))
    if customers and r.random() < 0.8:
        customer, part = r.choice(customers)[:2]
    total = r.choice([None, -1]) if r.random() < 0.1 else r.randrange(9)
    note = "too long" if r.random() < 0.02 else r.choice([None, "", "abc"])
    return r.randrange(60), customer, part, total, note


@pytest.fixture
def two(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[Warehouse, Warehouse]]:
    found = (Warehouse(spark, tmp_path / "columns"), Warehouse(spark, tmp_path / "rows"))
    for db in found:
        db.execute(SCHEMA)
    yield found


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_agree(
    two: tuple[Warehouse, Warehouse], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    by_columns, by_rows = two
    r = random.Random(seed)
    quick = 0

    def counted(*given: Any) -> Any:
        nonlocal quick
        found = columns.segments(*given)
        quick += found is not None
        return found

    for step in range(30):
        changes = random_changes(r, by_columns)
        outcomes: list[str] = []
        for db, way in ((by_columns, counted), (by_rows, lambda *_: None)):
            with monkeypatch.context() as patch:
                patch.setattr(apply, "columns", type("way", (), {"segments": staticmethod(way)}))
                try:
                    db.apply(changes)
                    outcomes.append("applied")
                except ec.EvercurrentError as problem:
                    outcomes.append(problem.message)
        assert outcomes[0] == outcomes[1], (step, changes)
        for table in COLUMNS:
            assert stored(by_columns, table) == stored(by_rows, table), (step, changes)
    assert sorted(by_columns.view("spend").rows(), key=repr) == sorted(by_rows.view("spend").rows(), key=repr)
    assert by_columns.verify()
    assert quick >= 5


def test_rows_without_digests_are_still_judged(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warehouse whose files were written before there were digests."""
    with monkeypatch.context() as patch:
        patch.setattr(files.Folder, "digested", property(lambda _: {}, lambda *_: None), raising=False)
        db = Warehouse(spark, tmp_path / "old")
        db.execute(SCHEMA)
        db.table("cust").insert([(1, 0, "a", 1.5), (2, 0, "b", None)])
    db = Warehouse(spark, tmp_path / "old")
    db.apply({"cust": feed("cust", [("delete", (1, 0, "a", 1.5)), ("insert", (1, 1, "a", 2.5))])})
    assert stored(db, "cust") == [(1, 1, "a", 2.5), (2, 0, "b", None)]
    with pytest.raises(ec.ConstraintError, match="has no row"):
        db.apply({"cust": feed("cust", [("delete", (2, 0, "b", 0.5))])})
