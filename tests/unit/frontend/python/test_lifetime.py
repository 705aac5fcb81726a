"""What is kept, for how long, and for whom: anonymous and named views, subscriptions, tables that are not stored."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import pytest

import evercurrent as ec


class Sale(NamedTuple):
    region: str
    amount: int


class Region(NamedTuple):
    region: str
    manager: str


def test_an_anonymous_view_lives_while_it_is_referenced() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    view = sales.where(lambda s: s.amount > 10).materialize()
    again = db.view(sales.where(lambda s: s.amount > 10))
    sales.insert([Sale("n", 5), Sale("s", 20)])
    assert view.rows() == again.rows() == [("s", 20)]
    assert len(db.views) == 2
    del view
    gc.collect()
    assert len(db.views) == 1 and again.rows() == [("s", 20)]
    del again
    gc.collect()
    assert db.views == []


def test_what_reads_an_anonymous_view_keeps_it() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    view = sales.where(lambda s: s.amount > 10).materialize()
    named = db.view("named", view.select(lambda s: s.region))
    del view
    gc.collect()
    sales.insert(Sale("s", 20))
    assert named.rows() == [("s",)]
    assert len(db.views) == 2
    db.execute("DROP VIEW named")
    sales.where(lambda s: s.amount > 1).materialize()
    assert db.views == []


def test_an_anonymous_view_that_dies_inside_a_transaction_goes_later() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    view = sales.materialize()
    with db.transaction():
        sales.insert(Sale("n", 5))
        del view
        gc.collect()
        assert len(db.views) == 1
    db.view("other", sales)
    assert db.views == ["other"]


def test_a_view_that_is_collected_while_the_lock_is_held_waits() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    view = sales.materialize()
    with db._session.lock:
        del view
        gc.collect()
        assert len(db.views) == 1
    assert sales.rows() == []
    assert db.views == []


def test_a_subscription_keeps_no_rows() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    heard: list[Any] = []
    subscription = sales.where(lambda s: s.amount > 10).subscribe(
        lambda c: heard.append((c.inserted, c.deleted))
    )
    sales.insert([Sale("n", 5), Sale("s", 20)])
    sales.delete(Sale("s", 20))
    assert heard == [([("s", 20)], []), ([], [("s", 20)])]
    assert db._session.maintenance.design.program.states == ()
    subscription.cancel()
    assert db.views == []
    sales.insert(Sale("s", 30))
    assert len(heard) == 2


def test_a_virtual_table_stores_nothing() -> None:
    db = ec.connect()
    sales = db.table_of(Sale, stored=False)
    regions = db.table_of(Region)
    total = db.view(
        "total", sales.group_by(lambda s: s.region).select(lambda r, g: (r, g.sum(lambda s: s.amount)))
    )
    heard: list[Any] = []
    sales.where(lambda s: s.amount > 10).subscribe(lambda c: heard.extend(c.inserted))
    sales.insert([Sale("n", 5), Sale("n", 20)])
    assert total.rows() == [("n", 25)] and heard == [("n", 20)]
    with pytest.raises(ec.UnsupportedError, match="not stored"):
        sales.rows()
    with pytest.raises(ec.UnsupportedError, match="not stored"):
        sales.where(lambda s: s.amount > 1).materialize()
    assert "Sale (not stored: it forwards its changes)" in total.explain()
    assert regions.rows() == []
    sales.delete(Sale("n", 5))
    assert total.rows() == [("n", 20)]


def test_explain_of_a_query_object_keeps_nothing() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    query = sales.where(lambda s: s.amount > 10)
    assert "Scan Sale" in query.explain("optimised")
    gc.collect()
    assert db.views == []
    assert repr(query) == "<Query (region STRING, amount BIGINT)>"


def test_equal_queries_share_what_is_kept() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    db.view("one", sales.group_by(lambda s: s.region).select(lambda r, g: (r, g.max(lambda s: s.amount))))
    states = db._session.maintenance.design.program.states
    db.view(
        "two", sales.group_by(lambda row: row.region).select(lambda key, g: (key, g.max(lambda x: x.amount)))
    )
    db.execute("CREATE VIEW three AS SELECT region, max(amount) AS most FROM Sale GROUP BY region")
    assert db._session.maintenance.design.program.states == states


def test_replacing_a_table_that_a_python_view_reads() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    db.view("kept", sales.where(lambda s: s.amount > 10))
    sales.insert(Sale("s", 20))
    with pytest.raises(ec.QueryError, match="view kept depends on Sale"):
        db.execute("CREATE OR REPLACE TABLE Sale (region STRING NOT NULL)")
    assert db.view("kept").rows() == [("s", 20)]
    db.execute("CREATE OR REPLACE TABLE Sale (region STRING NOT NULL, amount BIGINT NOT NULL)")
    assert db.view("kept").rows() == []


def test_names() -> None:
    db = ec.connect()
    sales = db.table_of(Sale)
    assert db.table_of(Sale).name == "Sale"
    db.view("v", sales)
    with pytest.raises(ec.QueryError, match="already a view v"):
        db.view("v", sales.where(lambda s: s.amount > 1))
    db.view("v", sales.where(lambda s: s.amount > 1), replace=True)
    with pytest.raises(ec.QueryError, match="there is no table or view 'sails'"):
        db.relation("sails")

    class Other(NamedTuple):
        region: str
        size: int

    with pytest.raises(ec.QueryError, match="Sale has no column size, which Other has"):
        db.table_of(Other, name="Sale")
    with pytest.raises(ec.QueryError, match="different databases"):
        sales.join(ec.connect().table_of(Sale), lambda a, b: a == b)
    with pytest.raises(ec.QueryError, match="is not a class of rows"):
        db.table_of(int)


def test_keys_and_references() -> None:
    db = ec.connect()
    regions = db.table_of(Region, key="region")
    sales = db.table_of(Sale, references={"region": (Region, "region")})
    with pytest.raises(ec.ConstraintError):
        sales.insert(Sale("n", 5))
    regions.insert(Region("n", "Ann"))
    sales.insert(Sale("n", 5))
    with pytest.raises(ec.ConstraintError):
        regions.insert(Region("n", "Bob"))
    by_manager = sales.join(regions, lambda s, r: s.region == r.region).select(
        lambda s, r: (r.manager, s.amount)
    )
    assert by_manager.rows() == [("Ann", 5)]
