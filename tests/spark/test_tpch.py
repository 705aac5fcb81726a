"""The 22 TPC-H queries as 22 views of a warehouse, under changes of all eight tables, against DuckDB."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench import tpch
from evercurrent.warehouse.database import Warehouse
from tests.duck import Duck, statements
from tests.tpch.changes import Business
from tests.tpch.test_tpch import (
    HERE,
    QUERIES,
    apply_to_database,
    apply_to_duck,
    columns,
    compare,
    load_duck,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def follow(spark: Any, path: Path, duck: Duck, sizes: tuple[int, ...]) -> Warehouse:
    db = Warehouse(spark, path)
    for statement in statements((HERE / "schema.sql").read_text()):
        db.execute(statement)
        duck.execute(statement)
    business = Business(random.Random(22))
    first = business.start(tpch.tables(0.001), share=0.93)
    with db.transaction():
        for table in tpch.NAMES:
            db.table(table).insert([new for name, _, new in first if name == table])
    load_duck(duck, first)
    for name in sorted(QUERIES):
        db.execute(f"CREATE VIEW {name} AS {QUERIES[name]}")
    compare(db, duck, "after the load")  # type: ignore[arg-type]
    names = columns(duck)
    for i, size in enumerate(sizes):
        changes = business.transaction(size)
        apply_to_database(db, changes)  # type: ignore[arg-type]
        apply_to_duck(duck, names, changes)
        compare(db, duck, f"after transaction {i + 1} of {len(changes)} changes")  # type: ignore[arg-type]
    return db


def test_22_views_follow_a_stream_of_changes(spark: SparkSession, tmp_path: Path, duck: Duck) -> None:
    db = follow(spark, tmp_path / "w", duck, (1, 40, 200, 3, 80))
    again = Warehouse(spark, tmp_path / "w")
    compare(again, duck, "after opening it again")  # type: ignore[arg-type]
    assert again.version == db.version
