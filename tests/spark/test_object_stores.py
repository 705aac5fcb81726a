"""Objects on Spark: the same handles over rows in stores, durable, and kept right from both ends."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

pytestmark = pytest.mark.spark

ODL = """
class person (extent Persons key name) { attribute string name; attribute unsigned short age; };
class employee extends person (extent Employees) {
    attribute unsigned long salary; attribute set<person> dependents; attribute employee manager;
    attribute list<string> notes; attribute bag<long> marks; attribute dictionary<string, person> named;
    attribute set<string> tags kept as array; attribute struct {string city; person at;} place; attribute decimal(8,2) bonus;
    relationship department dept inverse department::employees;
    relationship set<employee> likes inverse employee::liked; relationship set<employee> liked inverse employee::likes;
    long long yearly();
};
class department (extent Departments) { attribute string name; relationship set<employee> employees inverse employee::dept; };
"""


def test_objects_are_rows_of_tables(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.odl(ODL, operations={"employee.yearly": lambda self: self.salary * 12})
    db.execute(
        "CREATE VIEW pay AS SELECT e.dept.name AS d, SUM(salary) AS s FROM Employees e GROUP BY e.dept.name"
    )
    with db.transaction():
        sales, lab = db.new("department", name="Sales"), db.new("department", name="Lab")
        ann = db.new("employee", name="Ann", age=40, salary=100, dept=sales, notes=["a", "b"], bonus="1.5")
        bob = db.new("employee", name="Bob", salary=50, dept=sales, manager=ann, tags={"x"})
        kim = db.new("person", name="Kim")
        ann.dependents |= {kim, bob}
        ann.named["k"] = kim
        ann.marks.update([1, 1, 2])
        ann.likes.add(bob)
        ann.place = {"city": "Bern", "at": kim}
    assert sorted(db.view("pay").rows()) == [("Sales", 150)] and ann.yearly() == 1200
    version = db.version
    with pytest.raises(ec.ConstraintError), db.transaction():
        kim.name = "Ann"
    with pytest.raises(ZeroDivisionError), db.transaction():
        ann.salary, ann.dept = 7, lab
        ann.notes.clear()
        db.delete(bob)
        1 / 0
    assert db.version == version
    assert (ann.salary, ann.dept, ann.notes, kim.name, bob.manager) == (100, sales, ["a", "b"], "Kim", ann)

    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert again.schema_odl() == db.schema_odl()
    (a,) = [x for x in again.extent("Employees") if x.name == "Ann"]
    assert (a.oid, a.age, a.salary, str(a.bonus), a.notes, sorted(a.marks)) == (
        ann.oid,
        40,
        100,
        "1.50",
        ["a", "b"],
        [1, 1, 2],
    )
    assert {x.name for x in a.dependents} == {"Kim", "Bob"} and a.named["k"].name == "Kim"
    assert a.dept.name == "Sales" and {x.name for x in a.dept.employees} == {"Ann", "Bob"}
    (b,) = a.likes
    assert b.liked == {a} and b.manager is a and b.tags == {"x"} and a.place.at.name == "Kim"
    assert len(again.extent("Persons")) == 3 and again.object(a.oid) is a
    with again.transaction():
        a.salary += 1
        a.notes.insert(0, "z")
        a.place.city = "Basel"
        again.delete(a.named["k"])
    assert a.dependents == {b} and a.named == {} and a.place == {"city": "Basel", "at": None}
    again.delete(b.dept)
    assert a.dept is None and again.view("pay").rows() == [(None, 151)]
    again.delete(a)
    assert b.manager is None and b.liked == set()
    assert again.verify()

    db.reload()
    assert bob.manager is None and bob.dept is None and len(db.extent("Persons")) == 1
    with pytest.raises(ec.QueryError, match="was deleted"):
        ann.name
    db.execute("UPDATE Employees SET salary = 9 WHERE name = 'Bob'")
    db.execute("UPDATE Persons SET name = 'Bobby' WHERE name = 'Bob'")
    assert bob.salary == 9


SHIFTS = """class shift (extent Shifts) {
    attribute string who; attribute time at; attribute interval length; attribute list<interval> breaks; };"""


def test_times_and_intervals(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.odl(SHIFTS)
    db.oql(
        """define total as sum(select s.length from s in Shifts);
        define early as select struct(w: s.who, b: s.breaks) from s in Shifts where s.at < time '12:00:00'"""
    )
    assert db.view("total").value() == timedelta(0)
    with db.transaction():
        breaks = [timedelta(minutes=5), timedelta(microseconds=-1)]
        ann = db.new("shift", who="Ann", at=time(8, 30), length=timedelta(hours=-30), breaks=breaks)
        ben = db.new("shift", who="Ben", at=time(14), length=timedelta(days=90_000, microseconds=7))
    assert db.view("total").value() == timedelta(days=90_000, hours=-30, microseconds=7)
    assert db.view("early").value() == ec.Bag([{"w": "Ann", "b": breaks}])
    ben.at, ben.length = time(11, 59, 59), None
    assert db.view("total").value() == timedelta(hours=-30)
    assert len(db.view("early").value()) == 2

    again = Warehouse(spark, tmp_path / "w", strategy="spark")
    held = again.object(ann.oid)
    assert (held.at, held.length, held.breaks) == (ann.at, timedelta(hours=-30), breaks)
    again.oql("undefine early")
    held.length = timedelta(days=2, microseconds=3)  # by jobs of Spark
    assert again.view("total").value() == timedelta(days=2, microseconds=3)
    assert again.verify()


def test_objects_that_refer_to_each_other_by_arrays_and_structs(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.odl(
        """class node (extent Nodes) { attribute long n; attribute list<node> next kept as array;
        attribute struct {node at; long far;} home; };"""
    )
    with db.transaction():
        a, b = db.new("node", n=1), db.new("node", n=2)
        a.next, b.next, b.home = [b, a], [a], {"at": a, "far": 7}
    again = ec.connect(spark=spark, path=tmp_path / "w")
    first = again.object(a.oid)
    second = first.next[0]
    assert second.next[0] is first and second.home.at is first and first.next[1] is first
    home = second.home
    again.execute("UPDATE Nodes SET n = n + 1")  # handles are read again, and are the same
    assert (first.n, second.n, second.next[0] is first, home.at is first) == (2, 3, True, True)
    with again.transaction():
        first.n = 9  # the array that nobody has read since stays as it is
        second.home.far = 8
    assert (first.next, again.object(b.oid).home) == ([second, first], {"at": first, "far": 8})
    again.delete(first)
    assert (second.next, second.home) == ([], {"at": None, "far": 8})
