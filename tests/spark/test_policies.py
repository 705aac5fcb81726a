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


@pytest.mark.parametrize("strategy", ["auto", "spark"])
def test_a_full_view_is_recomputed_and_its_readers_follow(
    spark: SparkSession, tmp_path: Path, strategy: Any
) -> None:
    db = opened(spark, tmp_path, strategy)
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
    assert db.verify(), str(db.verify())
    run = db.apply({"cust": [{"_change_type": "insert", "id": 9, "nation": "PL"}]})
    assert not run.view("spend").rows_changed and run.view("rich").rows_changed == 0
    again = Warehouse(spark, tmp_path / "warehouse")
    assert again.view("spend").policy == "full" and rows(again, "spend") == rows(db, "spend")
    assert again.history()[run.version - 1].views == run.views
    again.execute(SPEND.replace("CREATE", "CREATE OR REPLACE"), policy="incremental")
    again.table("orders").delete(1)
    assert rows(again, "spend") == [("FR", 8, 2, 7)] and again.verify()
    assert again.history()[-1].view("spend").strategy == "keyed"
