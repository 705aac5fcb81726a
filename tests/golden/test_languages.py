"""Law L13: SQL, OQL and Python are three ways to write one query, and equal queries are stored once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import evercurrent as ec

SCHEMA = """
CREATE TABLE students (id BIGINT PRIMARY KEY, name STRING NOT NULL, age INT NOT NULL, city STRING NOT NULL);
CREATE TABLE marks (student BIGINT NOT NULL, mark INT NOT NULL);
"""

Spelling = tuple[str, str, Callable[[Any, Any], Any]]

QUERIES: dict[str, Spelling] = {
    "filter": (
        "SELECT name FROM students WHERE age > 18",
        "select s.name as name from s in students where s.age > 18",
        lambda s, m: s.where(lambda s: s.age > 18).select(lambda s: {"name": s.name}),
    ),
    "join": (
        "SELECT s.name, m.mark FROM students s JOIN marks m ON m.student = s.id WHERE s.age > 18",
        "select s.name, m.mark from s in students, m in marks where m.student = s.id and s.age > 18",
        lambda s, m: (
            s.join(m, lambda s, m: m.student == s.id)
            .where(lambda s, m: s.age > 18)
            .select(lambda s, m: {"name": s.name, "mark": m.mark})
        ),
    ),
    "group": (
        "SELECT city, count(*) AS n, sum(age) AS total FROM students GROUP BY city",
        "select city: c, n: count(partition), total: sum(select p.s.age from p in partition) "
        "from s in students group by c: s.city",
        lambda s, m: s.group_by(lambda s: s.city).select(
            lambda city, g: {"city": city, "n": g.count(), "total": g.sum(lambda s: s.age)}
        ),
    ),
    "anti join": (
        "SELECT name FROM students s WHERE NOT EXISTS (SELECT * FROM marks m WHERE m.student = s.id)",
        "select s.name as name from s in students where not (exists m in marks: m.student = s.id)",
        lambda s, m: s.anti_join(m, lambda s, m: m.student == s.id).select(lambda s: {"name": s.name}),
    ),
    "distinct": (
        "SELECT DISTINCT city, age FROM students",
        "select distinct s.city, s.age from s in students",
        lambda s, m: s.select(lambda s: {"city": s.city, "age": s.age}).distinct(),
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_three_languages_are_kept_as_one(name: str) -> None:
    sql, oql, python = QUERIES[name]
    db = ec.connect()
    db.execute(SCHEMA)
    db.execute(f"CREATE VIEW in_sql AS {sql}")
    states = len(db._session.maintenance.design.program.states)
    db.oql(f"define in_oql as {oql}")
    db.view("in_python", python(db.table_of("students"), db.table_of("marks")))
    program = db._session.maintenance.design.program
    assert program.views["in_oql"] == program.views["in_sql"], db.view("in_oql").explain("normal")
    assert program.views["in_python"] == program.views["in_sql"], db.view("in_python").explain("normal")
    assert len(program.states) == states, "nothing is kept twice"
    db.table("students").insert([(1, "Ann", 20, "Rome"), (2, "Bob", 17, "Oslo"), (3, "Cid", 40, "Rome")])
    db.table("marks").insert([(1, 5), (1, 3), (2, 4)])
    expected = sorted(db.view("in_sql").rows())
    assert expected
    assert sorted(db.view("in_oql").rows()) == sorted(db.view("in_python").rows()) == expected
