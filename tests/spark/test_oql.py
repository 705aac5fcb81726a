"""OQL on Spark: the same definitions over stored objects, and the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent import UNDEFINED, Bag, Record, Set

pytestmark = pytest.mark.spark

ODL = """
class person (extent Persons) { attribute string name; attribute long age; };
class employee extends person (extent Employees) {
  attribute long salary; attribute set<person> dependents;
  relationship department dept inverse department::employees; };
class department (extent Departments) {
  attribute string name; relationship set<employee> employees inverse employee::dept; };
"""
DEFINES = """
define older(long a) as select e from e in Employees where e.age > a;
define names as select struct(n: o.name, d: o.dept.name) from o in older(30);
define staff as select struct(d: d.name, kids: (select c.name from e in d.employees, c in e.dependents)) from d in Departments;
define pay as struct(n: count(Employees), total: sum(select e.salary from e in Employees), top: max(select e.salary from e in Employees));
define best as (select e.name from e in Employees order by e.salary desc)[0:1]
"""


def record(**members: Any) -> Record:
    return Record(tuple(members), tuple(members.values()))


def test_the_same_values_on_spark(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.odl(ODL)
    db.oql(DEFINES)
    assert db.views == ["names", "staff", "pay", "best"]
    assert db.view("pay").value() == record(n=0, total=0, top=UNDEFINED)
    with db.transaction():
        dev, ops = db.new("department", name="dev"), db.new("department", name="ops")
        bob = db.new("person", name="Bob", age=8)
        ann = db.new("employee", name="Ann", age=45, salary=100, dept=dev, dependents=[bob])
        db.new("employee", name="Cid", age=39, salary=70)
    assert db.view("names").value() == Bag([record(n="Ann", d="dev"), record(n="Cid", d=UNDEFINED)])
    assert db.view("staff").value() == Bag([record(d="dev", kids=Bag(["Bob"])), record(d="ops", kids=Bag())])
    assert db.view("best").value() == ["Ann", "Cid"]
    with db.transaction():
        bob.name, ann.dept, ann.salary = "Rob", ops, 50
    assert db.view("staff").value() == Bag([record(d="dev", kids=Bag()), record(d="ops", kids=Bag(["Rob"]))])
    assert db.view("best").value() == ["Cid", "Ann"]
    assert db.view("pay").value() == record(n=2, total=120, top=70)
    assert sorted(db.view("staff").rows()) == [("dev", []), ("ops", ["Rob"])]
    assert db.query("select distinct e.dept from e in Employees", language="oql") == Set([ops, None])
    assert db.verify()

    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert again.views == ["names", "staff", "pay", "best"]
    assert again.view("staff").value() == db.view("staff").value()
    again.oql("define names as select o.name from o in older(40); undefine staff")
    assert again.view("names").value() == Bag(["Ann"])
    assert again.views == ["pay", "best", "names"]


MORE = """
define first2 as select e.name from e in Employees order by e.salary desc limit 2;
define some as select e.salary from e in Employees limit 2;
define each as select struct(d: d.name, one: (select e.name from e in d.employees order by e.age limit 1)) from d in Departments;
define kinds as select struct(d: d, n: count(distinct e.salary)) from e in Employees group by d: nvl(e.dept.name, "none");
define both as select distinct e.salary from e in Employees order by e.salary desc, e.name asc
"""


def test_limits_and_distinct_counts(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.odl(ODL)
    db.oql(MORE)
    with db.transaction():
        dev = db.new("department", name="dev")
        ann = db.new("employee", name="Ann", age=45, salary=100, dept=dev)
        ben = db.new("employee", name="Ben", age=30, salary=100, dept=dev)
        db.new("employee", name="Cid", age=39)
    assert db.view("first2").value() == ["Ann", "Ben"]
    assert db.view("some").value() == Bag([None, 100])
    assert db.view("kinds").value() == Bag([record(d="dev", n=1), record(d="none", n=1)])
    with db.transaction():
        ben.salary, ann.age, ann.salary = 120, 20, None
    assert db.view("first2").value() == ["Ben", "Ann"]
    assert db.view("some").value() == Bag([None, None])
    assert db.view("each").value() == Bag([record(d="dev", one=["Ann"])])
    assert db.view("kinds").value() == Bag([record(d="dev", n=2), record(d="none", n=1)])
    assert db.view("both").value() == [120, None]
    assert db.verify()
