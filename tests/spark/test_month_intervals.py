"""Intervals of months inside views: no column of a table or view has one, but states do, on the driver, in tasks and by jobs."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, y INT, m INT); CREATE TABLE u (id INT PRIMARY KEY, y INT, m INT)"
)
STEP = "make_ym_interval(y, m)"
VIEWS = {
    "grouped": f"SELECT count(*) AS n FROM t GROUP BY {STEP}",
    "different": f"SELECT count(*) AS n FROM (SELECT DISTINCT {STEP} AS i FROM t)",
    "longest": f"SELECT DATE '2020-01-01' + max({STEP}) AS d FROM t",
    "whole": f"SELECT DATE '2020-01-01' + sum({STEP}) AS d FROM t",
    "joined": "SELECT t.id, u.id AS other FROM t JOIN u ON make_ym_interval(t.y, t.m) = make_ym_interval(u.y, u.m)",
    "nested": f"SELECT count(*) AS n FROM t GROUP BY struct(id AS i, array({STEP}) AS a)",
    "listed": f"SELECT size(collect_list({STEP})) AS n FROM t",
    "first": f"SELECT id FROM t ORDER BY {STEP}, id LIMIT 2",
    "before": f"SELECT id, DATE '2020-01-01' + lag({STEP}) OVER (ORDER BY id) AS d FROM t",
}


def exercise(db: Any) -> None:
    db.execute(TABLES)
    for name, query in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {query}")
    db.execute("INSERT INTO t VALUES (1, 1, 2), (2, 0, 14), (3, 1, 1), (4, NULL, 1), (5, -1, -7)")
    db.execute("INSERT INTO u VALUES (1, 1, 2), (2, 0, 13)")
    found = {name: sorted(db.view(name).rows(), key=str) for name in VIEWS}
    assert found["grouped"] == [(1,), (1,), (1,), (2,)] and found["different"] == [(4,)]
    assert found["joined"] == [(1, 1), (2, 1), (3, 2)] and found["first"] == [(4,), (5,)]
    db.execute("UPDATE t SET m = m + 1 WHERE id = 1; DELETE FROM t WHERE id = 3")
    found = {name: sorted(db.view(name).rows(), key=str) for name in VIEWS}
    day = datetime.date
    assert found == {
        "grouped": [(1,), (1,), (1,), (1,)],
        "different": [(4,)],
        "longest": [(day(2021, 4, 1),)],
        "whole": [(day(2020, 11, 1),)],
        "joined": [(2, 1)],
        "nested": [(1,), (1,), (1,), (1,)],
        "listed": [(3,)],
        "first": [(4,), (5,)],
        "before": [(1, None), (2, day(2021, 4, 1)), (4, day(2021, 3, 1)), (5, None)],
    }
    for name, query in VIEWS.items():  # a state that is filled from rows which are there
        db.execute(f"CREATE VIEW late_{name} AS {query}")
        assert sorted(db.view(f"late_{name}").rows(), key=str) == found[name], name


def test_states_of_a_driver_have_months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "w")
    exercise(db)
    with pytest.raises(ec.UnsupportedError, match="INTERVAL YEAR TO MONTH cannot be kept on Spark yet"):
        db.execute(f"CREATE VIEW shown AS SELECT id, {STEP} AS i FROM t")


@pytest.mark.spark
@pytest.mark.parametrize("strategy", ["driver", "tasks", "spark"])
def test_states_on_spark_have_months(spark: SparkSession, tmp_path: Path, strategy: Any) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", strategy=strategy)
    exercise(db)
    report = db.verify()
    assert report, str(report)


@pytest.mark.spark
def test_months_through_arrow(spark: SparkSession) -> None:
    """Spark has no intervals of months in Arrow: they pass as numbers, wherever they are in a value."""
    from evercurrent.engine.spark.translate.intervals import number_months, restore_months, schema_in_numbers

    frame = spark.sql(
        "SELECT i, array(i, NULL) AS a, struct(i AS x, 1 AS y) AS s, map('k', i) AS m, CAST(NULL AS STRUCT<x: INTERVAL YEAR TO MONTH>) "
        "AS n FROM VALUES (INTERVAL '-1-7' YEAR TO MONTH), (INTERVAL '1-2' YEAR TO MONTH), (NULL) AS t(i)"
    )
    numbers = number_months(frame)
    assert numbers.schema.simpleString() == schema_in_numbers(frame.schema).simpleString()
    rows = numbers.toArrow().to_pylist()
    assert [r["i"] for r in rows] == [-19, 14, None] and [r["a"][0] for r in rows] == [-19, 14, None]
    assert rows[0]["s"] == {"x": -19, "y": 1} and dict(rows[0]["m"]) == {"k": -19} and rows[0]["n"] is None
    again = restore_months(numbers, frame.schema)
    assert again.schema.simpleString() == frame.schema.simpleString()
    texts = [f"string({c})" for c in frame.columns]
    assert again.selectExpr(*texts).collect() == frame.selectExpr(*texts).collect()
