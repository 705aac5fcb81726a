"""Mistakes that a type checker finds: each line that ends in a mark has one, of the kind that it names."""

from __future__ import annotations

from typing import NamedTuple

import evercurrent as ec


class Student(NamedTuple):
    name: str
    age: int


class Council(NamedTuple):
    member: str


db = ec.connect()
students = db.table_of(Student)
council = db.table_of(Council)

students.where(lambda s: s.agee > 3)  # wrong: attr-defined
students.select(lambda s: s.first_name)  # wrong: attr-defined
students.join(council, lambda s, c: s.name == c.name)  # wrong: attr-defined
pairs = students.join(council, lambda s, c: s.name == c.member)
pairs.where(lambda s, c: c.role == "x")  # wrong: attr-defined
students.order_by(lambda s: s.size)  # wrong: attr-defined
students.group_by(lambda s: s.town)  # wrong: attr-defined
students.select(lambda s: s.name).where(lambda n: n.age > 3)  # wrong: attr-defined
students.union_all(council)  # wrong: arg-type
students.where(lambda s, c: s.age > 3)  # wrong: arg-type
students.where(lambda s: s.name + 3 == "x")  # wrong: operator
db.view("v", students).objects()[0].role  # wrong: attr-defined


class Part(ec.Entity):
    name: str
    cost: int = 0


Part(nam="bolt")  # wrong: call-arg
Part(name=3)  # wrong: arg-type
Part(name="bolt").price  # wrong: attr-defined
db.execute("SELECT 1", 3)  # wrong: arg-type
