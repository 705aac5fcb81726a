"""Those who watch a table or view hear of every version that changes it, once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.rows.subscriptions import Change, SubscriberWarning
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Warehouse:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute("CREATE TABLE item (id INT PRIMARY KEY, kind STRING, n INT)")
    db.execute("CREATE VIEW totals AS SELECT kind, SUM(n) AS n FROM item GROUP BY kind")
    db.execute("CREATE VIEW large AS SELECT kind FROM totals WHERE n > 10", policy="full")
    db.table("item").insert([(1, "a", 4), (2, "b", 5)])
    return db


class Heard(list[tuple[int, list[Any], list[Any]]]):
    def __call__(self, change: Change) -> None:
        self.append((change.transaction, sorted(change.inserted), sorted(change.deleted)))


def test_minimal_changes_once_per_version(db: Warehouse) -> None:
    totals, large, table = Heard(), Heard(), Heard()
    watching = db.view("totals").subscribe(totals)
    db.view("large").subscribe(large)
    db.table("item").subscribe(table)
    v = db.version
    with db.transaction():
        db.table("item").insert([(3, "a", 7)])
        db.table("item").update(2, n=5)
    db.apply({"item": [{"_change_type": "insert", "id": 4, "kind": "b", "n": 0}]}, batch="x")
    db.apply({"item": [{"_change_type": "insert", "id": 4, "kind": "b", "n": 0}]}, batch="x")
    assert totals == [(v + 1, [("a", 11)], [("a", 4)])]
    assert large == [(v + 1, [("a",)], [])]
    assert table == [(v + 1, [(3, "a", 7)], []), (v + 2, [(4, "b", 0)], [])]
    watching.cancel()
    db.table("item").delete(3)
    assert len(totals) == 1 and large[1:] == [(v + 3, [], [("a",)])]
    later = Heard()
    db.view("totals").subscribe(later, since=v)
    assert later == [(v + 1, [("a", 11)], [("a", 4)]), (v + 3, [("a", 4)], [("a", 11)])]
    db.execute("DROP VIEW large")
    db.table("item").delete(1)
    assert len(large) == 2 and later[2:] == [(v + 5, [], [("a", 4)])]


def test_those_who_are_asked_before_can_refuse_and_read_but_not_change(db: Warehouse) -> None:
    seen: list[Any] = []

    def guard(change: Change) -> None:
        seen.append(sorted(db.view("totals").rows()))
        if any(n > 100 for _, n in change.inserted):
            raise ValueError("too much")
        if any(kind == "w" for kind, _ in change.inserted):
            db.table("item").delete(1)

    db.view("totals").subscribe(guard, when="before")
    heard = Heard()
    db.view("totals").subscribe(heard)
    before, files = db.version, len(db._core.engine.folder.data_files())
    with pytest.raises(ValueError, match="too much"):
        db.table("item").insert([(3, "a", 1000)])
    assert seen == [[("a", 1004), ("b", 5)]] and sorted(db.view("totals").rows()) == [("a", 4), ("b", 5)]
    assert db.version == before and len(db._core.engine.folder.data_files()) == files and heard == []
    with pytest.raises(ec.TransactionError, match="before the commit"):
        db.table("item").insert([(3, "w", 1)])
    db.table("item").insert([(3, "a", 1)])
    assert heard == [(before + 1, [("a", 5)], [("a", 4)])] and db.version == before + 1
    with pytest.raises(ec.QueryError, match="since"):
        db.view("totals").subscribe(guard, when="before", since=1)


def test_a_subscriber_may_change_the_database_and_fail(db: Warehouse) -> None:
    def limit(change: Change) -> None:
        for kind, n in change.inserted:
            if n > 50:
                db.table("item").insert([(99, kind, 50 - n)])

    heard = Heard()
    db.view("totals").subscribe(limit)
    db.view("totals").subscribe(heard)
    v = db.version
    db.table("item").insert([(3, "a", 96)])
    assert heard == [(v + 1, [("a", 100)], [("a", 4)]), (v + 2, [("a", 50)], [("a", 100)])]

    def broken(change: Change) -> None:
        raise RuntimeError("no")

    db.view("totals").subscribe(broken)
    with pytest.warns(SubscriberWarning, match="RuntimeError: no"):
        db.table("item").delete(3)
    assert sorted(db.view("totals").rows()) == [("a", -46), ("b", 5)] and len(heard) == 3


def test_what_other_drivers_commit_is_heard_on_reload(db: Warehouse, spark: SparkSession) -> None:
    other = Warehouse(spark, db._core.engine.folder.root)
    heard = Heard()
    db.view("totals").subscribe(heard)
    other.table("item").insert([(3, "c", 1)])
    other.table("item").insert([(4, "c", 1)])
    with pytest.raises(ec.ConflictError):
        db.table("item").insert([(5, "c", 1)])
    assert heard == []
    v = db.version
    db.reload()
    assert heard == [(v + 1, [("c", 1)], []), (v + 2, [("c", 2)], [("c", 1)])]
    db.table("item").insert([(5, "c", 1)])
    assert len(heard) == 3
