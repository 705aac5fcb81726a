"""Objects beside everything else a database does: assertions, subscribers, recomputed views, tables, feeds, statistics."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec

ODL = """
class dept (extent Depts) { attribute string name; attribute long limit; relationship set<emp> staff inverse emp::dept; };
class emp (extent Emps) { attribute string name; attribute long pay; attribute set<string> tags; relationship dept dept inverse dept::staff; };
class boss extends emp (extent Bosses) { attribute long bonus; };
"""


@pytest.fixture
def db() -> ec.Database:
    db = ec.connect()
    db.odl(ODL)
    return db


def test_an_assertion_undoes_a_write(db: ec.Database) -> None:
    db.execute("CREATE ASSERTION fair CHECK (NOT EXISTS (SELECT * FROM Emps e WHERE e.pay > e.dept.limit))")
    d = db.new("dept", limit=10)
    a = db.new("emp", pay=5, dept=d)
    for change in (
        lambda: setattr(a, "pay", 11),
        lambda: setattr(d, "limit", 1),
        lambda: db.new("boss", pay=50, dept=d),
    ):
        with pytest.raises(ec.ConstraintError, match="fair"):
            change()
    assert (a.pay, d.limit, d.staff, len(db.extent("Emps"))) == (5, 10, {a}, 1)
    with db.transaction():
        a.pay, d.limit = 30, 40
    assert a.pay == 30


def test_a_subscriber_before_the_commit_can_refuse(db: ec.Database) -> None:
    db.execute("CREATE VIEW pays AS SELECT name, pay FROM Emps")
    a = db.new("emp", name="a", pay=1, tags=["x"])

    def refuse(change: Any) -> None:
        raise ValueError

    with db.view("pays").subscribe(refuse, when="before"):
        with pytest.raises(ValueError), db.transaction():
            a.pay = 2
            a.tags.add("y")
        with pytest.raises(ValueError):
            a.pay = 3
        with pytest.raises(ValueError):
            db.new("boss", pay=3)
    assert a.pay == 1 and a.tags == {"x"} and db.view("pays").rows() == [("a", 1)]
    meddling = db.view("pays").subscribe(lambda change: setattr(a, "name", "z"), when="before")
    with meddling, pytest.raises(ec.TransactionError):
        a.pay = 4
    assert (a.name, a.pay) == ("a", 1) and db.verify()


def test_views_that_are_recomputed_see_what_is_committed(db: ec.Database) -> None:
    db.execute("CREATE VIEW total AS SELECT SUM(pay) AS s, COUNT(*) AS n FROM Emps", policy="full")
    a = db.new("emp", pay=1)
    db.new("boss", pay=2)
    a.pay = 5
    assert db.view("total").rows() == [(7, 2)]
    with pytest.raises(RuntimeError), db.transaction():
        a.pay = 100
        raise RuntimeError
    assert db.view("total").rows() == [(7, 2)]
    db.delete(a)
    assert db.view("total").rows() == [(2, 1)]


@pytest.mark.parametrize("mode", ["lazy", "hybrid"])
def test_modes(db: ec.Database, mode: Any) -> None:
    db.execute(
        "CREATE VIEW sums AS SELECT e.dept.name AS d, SUM(pay) AS s FROM Emps e GROUP BY e.dept.name",
        mode=mode,
    )
    d = db.new("dept", name="d")
    a, b = db.new("emp", pay=1, dept=d), db.new("boss", pay=2, dept=d)
    assert db.view("sums").rows() == [("d", 3)]
    a.pay = 5
    d.name = "e"
    with db.transaction():
        b.pay = 7
    db.delete(a)
    assert db.view("sums").rows() == [("e", 7)] and db.verify()


def test_tables_and_objects_in_one_transaction(db: ec.Database) -> None:
    db.execute("CREATE TABLE log (name STRING PRIMARY KEY, pay BIGINT)")
    db.execute(
        "CREATE VIEW both AS SELECT e.name, e.pay AS now, l.pay AS then FROM Emps e JOIN log l ON l.name = e.name"
    )
    a = db.new("emp", name="a", pay=1)
    with db.transaction():
        db.table("log").insert(("a", 9))
        a.pay = 2
        db.execute("UPDATE Emps SET pay = pay + 1 WHERE name = 'a'")
        assert a.pay == 3
    assert db.view("both").rows() == [("a", 3, 9)]
    with pytest.raises(ec.ConstraintError), db.transaction():
        a.pay = 10
        db.table("log").insert(("a", 1))
    assert a.pay == 3 and db.view("both").rows() == [("a", 3, 9)]


def test_handles_of_tables_and_statistics(db: ec.Database) -> None:
    d = db.new("dept", name="d")
    a = db.new("emp", name="a", pay=1, dept=d, tags=["t"])
    assert db.table("Emps").get(a.oid) == (a.oid, "a", 1, d.oid) and len(db.table("Emps")) == 1
    db.table("Emps").update(a.oid, pay=4)
    assert a.pay == 4
    assert db.table("Emps").pandas()["dept"].tolist() == [d.oid]
    assert db.table("Emps").arrow().column("oid").to_pylist() == [a.oid]
    assert "Emps" in str(db.stats()) and "Emps" in repr(db.table("Emps"))
    feed = db.feed("Emps")
    assert not feed.fast
    feed.insert((0, "new", 3, None))
    assert {x.name for x in db.extent("Emps")} == {"a", "new"}
    db.table("Emps").delete(a.oid)
    assert d.staff == set() and len(db.table("Emps_tags")) == 0


def test_classes_are_replaced(db: ec.Database) -> None:
    db.new("emp", name="a")
    with pytest.raises(ec.QueryError, match="already a class emp"):
        db.odl("class emp (extent Emps) { attribute string title; };")
    with pytest.raises(ec.QueryError, match="cannot be dropped: class boss"):
        db.odl("class emp (extent Emps) { relationship dept dept inverse dept::staff; };", replacing=True)
    with pytest.raises(ec.QueryError, match="no type 'strng'"):
        db.odl("class dept {}; class emp (extent Emps) { attribute strng x; };", replacing=True)
    assert len(db.extent("Emps")) == 1
    db.odl(
        "class dept (extent Depts) {}; class emp (extent Emps) { attribute string title; }; class boss extends emp {};",
        replacing=True,
    )
    assert len(db.extent("Emps")) == 0 and db.new("boss", title="x").title == "x"
    assert "Bosses" not in db.tables and "Emps_tags" not in db.tables


def test_what_is_interrupted_leaves_views_right(db: ec.Database) -> None:
    db.execute("CREATE VIEW sums AS SELECT name, SUM(pay) AS s FROM Emps GROUP BY name")
    a = db.new("emp", name="a", pay=1)
    setter = type(a).pay.fset
    names = setter.__globals__
    (insert,) = [
        n
        for n in names
        if n.startswith("__ec_i") and n[6:].isdigit() and names[n].__name__.startswith("insert")
    ][:1]

    def interrupted(*columns: Any) -> None:
        raise KeyboardInterrupt

    names["__ec_A"] = [None]  # the short way is for a program of one thread
    names[insert] = interrupted  # until the triggers are taken anew
    with pytest.raises(KeyboardInterrupt):
        a.pay = 5
    assert a.pay == 1 and db.view("sums").rows() == [("a", 1)] and db.verify()
    a.pay = 6
    assert db.view("sums").rows() == [("a", 6)]
