"""Policies of views on Spark: by the change, from scratch, or whichever is estimated to cost less."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE cust (id BIGINT PRIMARY KEY, nation STRING);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total BIGINT);
"""
SPEND = """CREATE VIEW spend AS
    SELECT c.nation, SUM(o.total) AS total, COUNT(*) AS n, MAX(o.total) AS most
    FROM orders o JOIN cust c ON o.customer = c.id GROUP BY c.nation"""


def opened(spark: SparkSession, path: Path, strategy: Any = "auto") -> Warehouse:
    db = Warehouse(spark, path / "warehouse", strategy=strategy)
    db.execute(TABLES)
    db.table("cust").insert([(1, "DE"), (2, "FR"), (3, "FR")])
    db.table("orders").insert([(1, 1, 9), (2, 2, 1)])
    return db


def rows(db: Warehouse, view: str) -> list[Any]:
    return sorted(db.view(view).rows(), key=repr)


def test_a_full_view_is_recomputed_and_its_readers_follow(spark: SparkSession, tmp_path: Path) -> None:
    db = opened(spark, tmp_path)
    db.execute(SPEND, policy="full")
    db.execute("CREATE VIEW rich AS SELECT nation FROM spend WHERE total > 5")
    db.execute("CREATE VIEW nations AS SELECT COUNT(*) AS n FROM spend", policy="full")
    stored = set(db._core.snapshot.stores)
    run = db.apply({"orders": [{"_change_type": "insert", "id": 3, "customer": 3, "total": 7}]}, batch="b")
    assert [(v.view, v.strategy, v.code) for v in run.views] == [
        ("spend", "full", "policy"),
        ("rich", "keyed", "policy"),
        ("nations", "full", "policy"),
    ]
    assert run.view("spend").rows_changed == 2 and run.view("nations").rows_changed == 0
    assert rows(db, "spend") == [("DE", 9, 1, 9), ("FR", 8, 2, 7)]
    assert rows(db, "rich") == [("DE",), ("FR",)] and rows(db, "nations") == [(2,)]
    assert set(db._core.snapshot.stores) == stored
    changes = db.view("spend").changes(since=run.version - 1)
    assert sorted((r["total"], r["_change_type"]) for r in changes.collect()) == [
        (1, "delete"),
        (8, "insert"),
    ]
    run = db.apply({"cust": [{"_change_type": "insert", "id": 9, "nation": "PL"}]})
    assert not run.view("spend").rows_changed and run.view("rich").rows_changed == 0
    again = Warehouse(spark, tmp_path / "warehouse")
    assert again.view("spend").policy == "full" and rows(again, "spend") == rows(db, "spend")
    assert again.history()[run.version - 1].views == run.views
    again.execute(SPEND.replace("CREATE", "CREATE OR REPLACE"), policy="incremental")
    again.table("orders").delete(1)
    assert rows(again, "spend") == [("FR", 8, 2, 7)] and rows(again, "rich") == [("FR",)]
    assert again.history()[-1].view("spend").strategy == "keyed"


def test_recomputing_by_spark_gives_the_same_changes(spark: SparkSession, tmp_path: Path) -> None:
    db = opened(spark, tmp_path)
    db.execute(SPEND, policy="full")
    db._core.engine.strategy = "spark"
    run = db.apply({"orders": [{"_change_type": "insert", "id": 3, "customer": 3, "total": 7}]})
    assert run.view("spend").rows_changed == 2 and run.jobs > 0 and run.view("spend").bytes_read > 0
    assert rows(db, "spend") == [("DE", 9, 1, 9), ("FR", 8, 2, 7)]


def test_auto_takes_what_costs_less(spark: SparkSession, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute(TABLES)
    db.table("cust").insert([(i, f"N{i % 50}") for i in range(100)])
    db.table("orders").insert([(i, i % 100, i % 17) for i in range(3000)])
    joined = "SELECT o.id, c.nation, o.total FROM orders o JOIN cust c ON o.customer = c.id"
    db.execute(f"CREATE VIEW wide AS {joined}", policy="auto")
    db.execute(f"CREATE VIEW same AS {joined}", policy="incremental")
    db.execute(
        f"CREATE VIEW first AS SELECT nation, MIN(id) AS id FROM ({joined}) GROUP BY nation", policy="auto"
    )
    db.execute("CREATE VIEW ids AS SELECT id FROM first WHERE id > 3")
    small = db.apply({"orders": [{"_change_type": "delete", "id": 3}]})
    assert {v.view: v.strategy for v in small.views} == {
        "wide": "delta",
        "same": "delta",
        "first": "keyed",
        "ids": "keyed",
    }
    assert small.view("first").code == "cheaper" and small.view("wide").code == "shared"
    # Every customer of the orders changes: more is touched than there is to read.
    moves = [(i, f"M{i % 50}") for i in range(100)]
    changes = [{"_change_type": "delete", "id": i} for i in range(100)]
    changes += [{"_change_type": "insert", "id": i, "nation": n} for i, n in moves]
    told = str(db.view("first").explain(changes={"cust": 200}))
    run = db.apply({"cust": changes})
    first = run.view("first")
    assert (first.strategy, first.code) == ("full", "recompute-cheaper")
    assert first.instead_seconds is not None and first.instead_seconds > first.expected > 0
    assert "full (recompute-cheaper" in told and first.reason in told
    assert run.view("ids").strategy == "keyed" and run.view("same").strategy == "delta"
    assert rows(db, "first") == sorted((f"M{i}", 53 if i == 3 else i) for i in range(50))
    # What was made anew goes on moving.
    after = db.apply({"orders": [{"_change_type": "delete", "id": 10}]})
    assert after.view("first").strategy == "keyed" and after.view("first").rows_changed == 2
    assert ("M10", 60) in rows(db, "first") and (60,) in rows(db, "ids")


def test_what_no_program_keeps_is_evaluated_by_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute("CREATE TABLE edge (a INT, b INT); CREATE TABLE bag (xs ARRAY<INT>)")
    db.table("edge").insert([(1, 2), (2, 3)])
    db.table("bag").insert([([1, 2, 5],)])
    degrees = """CREATE VIEW degrees AS
        SELECT transform(xs, x -> (SELECT COUNT(*) FROM edge WHERE edge.a = x)) AS ns FROM bag"""
    with pytest.raises(ec.UnsupportedError, match="lambda"):
        db.execute(degrees)
    db.execute(degrees, policy="auto")
    db.execute("CREATE VIEW longest AS SELECT size(ns) AS n, ns[1] AS second FROM degrees")
    run = db.apply({"edge": [{"_change_type": "insert", "a": 2, "b": 4}]})
    found = run.view("degrees")
    assert (found.strategy, found.code) == ("full", "unsupported") and "lambda" in found.reason
    assert found.rows_changed == 2 and run.view("longest").strategy == "delta"
    assert rows(db, "degrees") == [([1, 2, 0],)] and rows(db, "longest") == [(3, 2)]
    again = Warehouse(spark, tmp_path / "warehouse")
    assert rows(again, "degrees") == [([1, 2, 0],)]
    assert "by no program" in str(again.view("degrees").explain())
    again.table("bag").insert([([2, 1],)])
    again.compact()
    assert rows(again, "longest") == [(2, 1), (3, 2)]


def test_explain_tells_before_running(spark: SparkSession, tmp_path: Path) -> None:
    db = opened(spark, tmp_path)
    db.execute(SPEND, policy="full")
    db.execute("CREATE VIEW big AS SELECT id FROM orders WHERE total > 3", policy="auto")
    text = str(db.explain(changes={"ORDERS": 10}))
    assert "10 changed rows of orders" in text and "policy: its policy is full" in text
    one = str(db.explain("spend", changes={"orders": 1}))
    assert "by Spark's SQL" in one and "by a fill" in one and "not stored" in one and "by the change" in one
    assert "none (untouched" in str(db.view("big").explain(changes={"cust": 5}))
    with pytest.raises(ec.QueryError, match="no number"):
        db.explain(changes={"orders": -1})
    with pytest.raises(ec.QueryError, match="there is no policy"):
        db.execute("CREATE VIEW v AS SELECT 1 AS x", policy="sometimes")  # type: ignore[arg-type]
