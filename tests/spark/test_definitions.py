"""Dropping and replacing what other things refer to, on a warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Warehouse:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute("""
        CREATE TABLE parent (id INT PRIMARY KEY, name STRING);
        CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parent (id));
        CREATE VIEW named AS SELECT c.id, p.name FROM child c JOIN parent p ON c.parent = p.id;
        CREATE VIEW many AS SELECT COUNT(*) AS n FROM child
    """)
    db.table("parent").insert([(1, "a")])
    return db


def test_a_dropped_parent_takes_the_reference_along(db: Warehouse, spark: SparkSession) -> None:
    db.table("child").insert([(10, 1), (11, None)])
    with pytest.raises(ec.QueryError, match="CASCADE"):
        db.execute("DROP TABLE parent")
    db.execute("DROP TABLE parent CASCADE")
    assert db.tables == ["child"] and db.views == ["many"]
    again = Warehouse(spark, db._core.engine.folder.root)
    again.table("child").insert([(12, 99)])
    assert again.view("many").rows() == [(3,)]
    again.execute("CREATE TABLE parent (id INT PRIMARY KEY)")
    again.table("child").insert([(13, 98)])
    assert again.view("many").rows() == [(4,)]


def test_a_parent_is_replaced_if_no_row_refers_to_it(db: Warehouse) -> None:
    db.table("child").insert([(11, None)])
    db.execute("CREATE OR REPLACE TABLE parent (id INT PRIMARY KEY, name STRING, extra INT)")
    assert db.table("parent").rows() == [] and db.view("many").rows() == [(1,)]
    db.table("parent").insert([(5, "e", 0)])
    db.table("child").insert([(12, 5)])
    assert db.view("named").rows() == [(12, "e")]
    with pytest.raises(ec.ConstraintError, match="rows of child refer to it"):
        db.execute("CREATE OR REPLACE TABLE parent (id INT PRIMARY KEY, name STRING)")
    db.table("child").delete(12)
    with pytest.raises(ec.QueryError, match="no key"):
        db.execute("CREATE OR REPLACE TABLE parent (id INT, name STRING)")
    assert db.table("parent").rows() == [(5, "e", 0)]


def test_assertions_are_replaced_and_may_be_there(db: Warehouse) -> None:
    db.execute("CREATE ASSERTION few CHECK ((SELECT COUNT(*) FROM child) < 1)")
    db.execute("CREATE ASSERTION IF NOT EXISTS few CHECK ((SELECT COUNT(*) FROM child) < 9)")
    with pytest.raises(ec.QueryError, match="OR REPLACE"):
        db.execute("CREATE ASSERTION few CHECK ((SELECT COUNT(*) FROM child) < 9)")
    with pytest.raises(ec.ConstraintError, match="few"):
        db.table("child").insert([(1, None)])
    db.execute("CREATE OR REPLACE ASSERTION few CHECK ((SELECT COUNT(*) FROM child) < 2)")
    db.table("child").insert([(1, None)])
    with pytest.raises(ec.ConstraintError, match="few"):
        db.execute("CREATE OR REPLACE ASSERTION few CHECK ((SELECT COUNT(*) FROM child) < 1)")
    with pytest.raises(ec.ConstraintError, match="few"):
        db.table("child").insert([(2, None)])


def test_statements_that_are_too_large_are_refused(db: Warehouse) -> None:
    before = (db.tables, db.views, db.version)
    for statement in (
        "CREATE VIEW w AS SELECT " + " + ".join(["id"] * 2000) + " AS x FROM child",
        f"CREATE TABLE w (x {'ARRAY<' * 500}INT{'>' * 500})",
        "CREATE VIEW w AS " + " UNION ALL ".join(["SELECT id FROM child"] * 1000),
    ):
        with pytest.raises(ec.LimitError):
            db.execute(statement)
    with pytest.raises(ec.LimitError):
        db.query("SELECT id FROM child WHERE " + "NOT " * 2000 + "id > 1")
    assert (db.tables, db.views, db.version) == before
