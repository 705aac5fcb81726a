"""Queries that a type checker accepts, and the types that it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, assert_type

import evercurrent as ec


@dataclass
class Student:
    name: str
    city: str | None
    age: int


class Council(NamedTuple):
    member: str
    role: str


class Edge(NamedTuple):
    src: int
    dst: int


db = ec.connect()
students = db.table_of(Student)
council = db.table_of(Council, key="member")
edges = db.table_of(Edge)

assert_type(students, ec.TableOf[Student])
assert_type(students.where(lambda s: s.age > 3), ec.Query[Student])
assert_type(students.select(lambda s: s.age), ec.Query[int])
assert_type(students.select(lambda s: (s.name, s.age)), ec.Query[tuple[str, int]])
assert_type(students.join(council, lambda s, c: s.name == c.member), ec.Joined[Student, Council])
assert_type(
    students.join(council, lambda s, c: s.name == c.member).select(lambda s, c: Council(s.name, c.role)),
    ec.Query[Council],
)
assert_type(
    students.left_join(council, lambda s, c: s.name == c.member).select(lambda s, c: c.role if c else None),
    ec.Query[str | None],
)
assert_type(students.order_by(lambda s: s.age).limit(3), ec.Query[Student])
assert_type(students.distinct(), ec.Query[Student])
assert_type(db.view("adults", students.where(lambda s: s.age > 17)), ec.LiveView[Student])
assert_type(db.view("adults"), ec.View)
assert_type(students.where(lambda s: s.age > 17).objects(), list[Student])
for adult in db.view("adults2", students):
    assert_type(adult, Student)

by_city = students.group_by(lambda s: s.city).select(lambda city, g: (city, g.count()))
ranked = students.window(lambda s: s.city, lambda s: s.age).select(lambda s, w: (s.name, w.rank()))
reach = ec.recursive(
    lambda r: edges.union_all(
        r.join(edges, lambda a, b: a.dst == b.src).select(lambda a, b: Edge(a.src, b.dst))
    )
)


class Part(ec.Entity, extent="Parts", key="name"):
    name: str
    cost: int = 0
    made_of: set[Part] = ec.empty()


db.declare(Part)
bolt = Part(name="bolt", cost=2)
assert_type(bolt, Part)
assert_type(bolt.name, str)
car = Part(name="car", made_of={bolt})


def either(which: ec.AnyDatabase) -> int:
    assert_type(which.table_of(Student), ec.TableOf[Student])
    which["spend"].to_pandas()
    return which.execute("DELETE FROM t WHERE id = ?", [1]).count


def both(spark: object) -> int:
    with ec.connect() as own:
        return either(own) + either(ec.connect(spark=spark, path="warehouse"))


async def follow() -> None:
    async with db.transaction():
        students.insert(Student("Ann", None, 3))
    async for change in db.view("adults").changes():
        print(change.updated)
