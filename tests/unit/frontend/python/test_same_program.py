"""Law. Python and SQL spellings of one query reach one normal form and one program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import evercurrent as ec
from evercurrent.algebra.canonical import canonical
from evercurrent.calculus.nodes import Comprehension
from evercurrent.calculus.normalize import normalize
from evercurrent.calculus.show import show
from evercurrent.delta.compile import compile_views
from evercurrent.design.compile import stages


class Student(NamedTuple):
    id: int
    name: str
    city: str
    age: int


class Council(NamedTuple):
    member: int
    role: str


class Edge(NamedTuple):
    src: int
    dst: int


Build = Callable[[Any, Any, Any], Any]

PAIRS: dict[str, tuple[Build, str]] = {
    "where": (
        lambda s, c, e: s.where(lambda x: x.age >= 18 and x.city == "Oslo").select(lambda x: x.name),
        "SELECT name FROM Student WHERE age >= 18 AND city = 'Oslo'",
    ),
    "join": (
        lambda s, c, e: (
            s.join(c, lambda x, y: x.id == y.member)
            .where(lambda x, y: y.role != "guard")
            .select(lambda x, y: (x.name, y.role))
        ),
        "SELECT s.name, c.role FROM Student s JOIN Council c ON s.id = c.member WHERE c.role <> 'guard'",
    ),
    "left join": (
        lambda s, c, e: s.left_join(c, lambda x, y: x.id == y.member).select(lambda x, y: (x.name, y.role)),
        "SELECT s.name, c.role FROM Student s LEFT JOIN Council c ON s.id = c.member",
    ),
    "semi join": (
        lambda s, c, e: s.semi_join(c, lambda x, y: x.id == y.member).select(lambda x: x.name),
        "SELECT name FROM Student s WHERE EXISTS (SELECT 1 FROM Council c WHERE c.member = s.id)",
    ),
    "anti join": (
        lambda s, c, e: s.anti_join(c, lambda x, y: x.id == y.member).select(lambda x: x.name),
        "SELECT name FROM Student s WHERE NOT EXISTS (SELECT 1 FROM Council c WHERE s.id = c.member)",
    ),
    "any": (
        lambda s, c, e: s.where(lambda x: any(y.member == x.id for y in c)).select(lambda x: x.name),
        "SELECT name FROM Student s WHERE EXISTS (SELECT 1 FROM Council c WHERE c.member = s.id)",
    ),
    "group": (
        lambda s, c, e: s.group_by(lambda x: x.city).select(
            lambda city, g: (city, g.count(), g.avg(lambda x: x.age))
        ),
        "SELECT city, count(*), avg(age) FROM Student GROUP BY city",
    ),
    "having": (
        lambda s, c, e: (
            s.group_by(lambda x: x.city)
            .where(lambda city, g: g.count() > 1)
            .select(lambda city, g: (city, g.sum(lambda x: x.age + 1)))
        ),
        "SELECT city, sum(age + 1) FROM Student GROUP BY city HAVING count(*) > 1",
    ),
    "everything": (
        lambda s, c, e: s.aggregate(lambda g: (g.count(), g.max(lambda x: x.age))),
        "SELECT count(*), max(age) FROM Student",
    ),
    "distinct": (lambda s, c, e: s.select(lambda x: x.city).distinct(), "SELECT DISTINCT city FROM Student"),
    "union all": (
        lambda s, c, e: s.select(lambda x: x.id) + c.select(lambda y: y.member),
        "SELECT id FROM Student UNION ALL SELECT member FROM Council",
    ),
    "union": (
        lambda s, c, e: s.select(lambda x: x.id) | c.select(lambda y: y.member),
        "SELECT id FROM Student UNION SELECT member FROM Council",
    ),
    "except": (
        lambda s, c, e: s.select(lambda x: x.id) - c.select(lambda y: y.member),
        "SELECT id FROM Student EXCEPT SELECT member FROM Council",
    ),
    "intersect": (
        lambda s, c, e: s.select(lambda x: x.id) & c.select(lambda y: y.member),
        "SELECT id FROM Student INTERSECT SELECT member FROM Council",
    ),
    "top": (
        lambda s, c, e: s.order_by(lambda x: (ec.desc(x.age), x.id)).limit(3),
        "SELECT * FROM Student ORDER BY age DESC, id LIMIT 3",
    ),
    "window": (
        lambda s, c, e: s.window(lambda x: x.city, lambda x: x.age).select(lambda x, w: (x.name, w.rank())),
        "SELECT name, rank() OVER (PARTITION BY city ORDER BY age) FROM Student",
    ),
    "recursion": (
        lambda s, c, e: ec.recursive(
            lambda r: e.union_all(
                r.join(e, lambda a, b: a.dst == b.src).select(lambda a, b: Edge(a.src, b.dst))
            )
        ),
        "WITH RECURSIVE r(src, dst) AS (SELECT src, dst FROM Edge UNION "
        "SELECT a.src, b.dst FROM r a JOIN Edge b ON a.dst = b.src) SELECT * FROM r",
    ),
    "comprehension": (
        lambda s, c, e: (
            ec.select(lambda x, y: (x.name, y.role))
            .from_(s, c)
            .where(lambda x, y: (x.id == y.member) & (x.age > 3))
        ),
        "SELECT s.name, c.role FROM Student s, Council c WHERE s.id = c.member AND s.age > 3",
    ),
}


@pytest.fixture
def db() -> ec.Database:
    return ec.connect()


def both(db: ec.Database, name: str) -> tuple[Any, Any]:
    tables = db.table_of(Student, key="id"), db.table_of(Council), db.table_of(Edge)
    build, sql = PAIRS[name]
    columns = ", ".join(f"c{i}" for i in range(len(build(*tables).schema)))
    db.execute(f"CREATE VIEW written ({columns}) AS {sql}")
    view = db._session.catalog.view("written")
    assert view is not None
    return build(*tables)._query(), view.query


@pytest.mark.parametrize("name", PAIRS)
def test_one_plan_and_one_program(db: ec.Database, name: str) -> None:
    ours, theirs = both(db, name)
    catalog = db._session.catalog
    plans = [stages(q, catalog).plan for q in (ours, theirs)]
    assert canonical(plans[0]) == canonical(plans[1])
    programs = [compile_views({"v": plan}, catalog) for plan in plans]
    assert kept(programs[0]) == kept(programs[1])
    together = compile_views({"ours": plans[0], "theirs": plans[1]}, catalog)
    assert together.views["ours"] == together.views["theirs"], "both are one relation of the program"


def kept(program: Any) -> Any:
    """The names of states and views: a name is a digest of what it stands for."""
    return sorted(s.name for s in program.states), sorted(program.views.values())


@pytest.mark.parametrize("name", ["where", "join", "comprehension", "any", "distinct"])
def test_one_normal_form(db: ec.Database, name: str) -> None:
    ours, theirs = (shown(normalize(q)) for q in both(db, name))
    assert ours == theirs


def shown(query: Any) -> str:
    """The text of a query, its variables and fields called by their positions."""
    assert isinstance(query, Comprehension)
    text = show(replace(query, fields=tuple(replace(f, name=f"f{i}") for i, f in enumerate(query.fields))))
    text = " ".join(text.split()).replace(" ,", ",")
    for i, name in enumerate(dict.fromkeys(re.findall(r"(\w+) <-", text))):
        text = re.sub(rf"\b{name}(?=\.| <-)", f"v{i}", text)
    return text
