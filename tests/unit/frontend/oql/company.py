"""A small company, for tests of OQL."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import evercurrent as ec

ODL = """
class person (extent Persons) {
  attribute string name; attribute long age;
  string describe(); };
class employee extends person (extent Employees) {
  attribute long salary; attribute set<person> dependents; attribute list<string> titles;
  attribute dictionary<string, long> phones; attribute dictionary<string, employee> friends; attribute struct Home { string street; long number; } home;
  attribute employee manager;
  relationship department dept inverse department::employees;
  string describe(); };
class department (extent Departments) {
  attribute string name;
  relationship set<employee> employees inverse employee::dept; };
"""


def company() -> SimpleNamespace:
    db: Any = ec.connect()
    db.odl(
        ODL,
        operations={
            "person.describe": lambda p: "person " + p.name,
            "employee.describe": lambda e: "employee " + e.name,
        },
    )
    c = SimpleNamespace(db=db)
    c.dev, c.ops, c.hr = (db.new("department", name=n) for n in ("dev", "ops", "hr"))
    c.bob, c.cat = db.new("person", name="Bob", age=8), db.new("person", name="Cat", age=20)
    c.ann = db.new(
        "employee",
        name="Ann",
        age=45,
        salary=100,
        dept=c.dev,
        dependents=[c.bob, c.cat],
        titles=["Dr", "Prof"],
    )
    c.ben = db.new("employee", name="Ben", age=30, salary=50, dept=c.dev, manager=c.ann, dependents=[c.bob])
    c.cid = db.new("employee", name="Cid", age=39, salary=50, dept=c.ops, manager=c.ann)
    c.ann.phones["home"] = 12
    c.ann.home = {"street": "Hill", "number": 3}
    return c
