"""Statements over tables that the driver does not hold: rows are found by jobs and taken in by tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evercurrent.errors import ConstraintError, EvaluationError
from evercurrent.warehouse.changes import large_statements
from evercurrent.warehouse.database import Warehouse
from tests.duck import Duck, difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("small_driver")]

TABLES = (
    "CREATE TABLE kinds (k INT PRIMARY KEY, name STRING)",
    "CREATE TABLE t (id BIGINT PRIMARY KEY, k INT NOT NULL, x DECIMAL(12,2), note STRING)",
)
VIEW = "SELECT k.name, count(*) AS n, sum(t.x) AS s, max(t.x) AS most FROM t JOIN kinds k ON t.k = k.k GROUP BY k.name"
STATEMENTS = (
    "INSERT INTO kinds VALUES (0, 'zero'), (1, 'one'), (2, 'two')",
    "INSERT INTO t SELECT id, CAST(id % 4 AS INT), CAST(id % 100 AS DECIMAL(12,2)), NULL FROM numbers",
    "UPDATE t SET x = x + 1, note = 'more' WHERE id % 2 = 0",
    "DELETE FROM t WHERE id % 3 = 0",
    "MERGE INTO t USING numbers n ON t.id = n.id WHEN MATCHED AND n.id % 5 = 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET k = 2 "
    "WHEN NOT MATCHED THEN INSERT (id, k, x, note) VALUES (n.id, 1, 7, 'new')",
    "UPDATE t SET note = 'few' WHERE id = 10",
)
ROWS = 4_000


def test_changes_are_those_of_duckdb(
    spark: SparkSession, tmp_path: Path, duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_statements, "SMALL_ROWS", 1_000)
    large: list[int | None] = []
    by_jobs = large_statements.commit_rows
    monkeypatch.setattr(
        large_statements, "commit_rows", lambda *args: (large.append(by_jobs(*args)), large[-1])[1]
    )
    db = Warehouse(spark, tmp_path / "w")
    numbers = "CREATE TABLE numbers (id BIGINT PRIMARY KEY)"
    for statement in (numbers, *TABLES):
        db.execute(statement)
        duck.execute(statement)
    db.execute(f"CREATE VIEW v AS {VIEW}")
    frame = spark.range(ROWS).selectExpr("id", "'insert' AS _change_type")
    db.apply({"numbers": frame})
    duck.execute(f"INSERT INTO numbers SELECT * FROM range({ROWS})")
    for statement in STATEMENTS:
        db.execute(statement)
        duck.execute(statement)
        for name, query in (("t", "SELECT * FROM t"), ("v", VIEW)):
            ours = db.table("t").rows() if name == "t" else db.view("v").rows()
            assert not difference(list(ours), duck.query(query)), f"{name} after {statement}"
    assert len(large) == 4  # not the first and the last
    with pytest.raises(EvaluationError, match="several source rows match"):
        db.execute("MERGE INTO t USING numbers n ON t.id = n.id % 1500 WHEN MATCHED THEN UPDATE SET k = 1")
    with pytest.raises(ConstraintError, match="PRIMARY KEY"):
        db.execute("UPDATE t SET id = 1")
    with pytest.raises(ConstraintError, match="k must not be NULL"):
        db.execute("UPDATE t SET k = NULL")
    before = len(db.table("t"))
    assert db.execute("TRUNCATE TABLE t").count == before and len(db.table("t")) == 0
    assert list(db.view("v").rows()) == []
