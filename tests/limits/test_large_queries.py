"""Queries that are wide, deep, or grow as they are written out: they work, or a LimitError names the limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import evercurrent as ec
from tests.limits.isolated import outcome

Case = Callable[[], object]


def database() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE r (a BIGINT, b BIGINT)")
    db.execute("INSERT INTO r VALUES (1, 1), (2, 3)")
    return db


def viewed(query: str) -> list[tuple[object, ...]]:
    """The rows of a view after an insertion, in a transaction, and a deletion; compared with the query from scratch."""
    db = database()
    db.execute(f"CREATE VIEW v AS {query}")
    db.execute("INSERT INTO r VALUES (3, 3), (5, 3)")
    with db.transaction():
        db.table("r").insert((7, 7))
        db.table("r").insert((8, 7))
    db.execute("DELETE FROM r WHERE a = 5")
    assert bool(db.verify())
    return sorted(db.view("v").rows(), key=repr)


def refused(query: str) -> tuple[str, str]:
    """The error for a view; nothing may have changed."""

    def attempt() -> object:
        db = database()
        before = (db.tables, db.views, db.table("r").rows())
        try:
            db.execute(f"CREATE VIEW v AS {query}")
        finally:
            assert (db.tables, db.views, db.table("r").rows()) == before
            db.execute("CREATE VIEW w AS SELECT a FROM r")
            db.execute("INSERT INTO r VALUES (9, 9)")
            assert len(db.view("w").rows()) == 3
        return "it was not refused"

    found = outcome(attempt)
    assert isinstance(found, tuple), found
    return found


def chain(tables: int, how: str = "JOIN") -> str:
    joins = " ".join(f"{how} r t{i} ON t{i}.a = t{i - 1}.b" for i in range(1, tables))
    return f"SELECT t0.a AS first, t{tables - 1}.b AS last FROM r t0 {joins}"


@pytest.mark.parametrize("count", [97, 400])
def test_many_conditions(count: int) -> None:
    conditions = " AND ".join(f"a + b <> {i + 100}" for i in range(count))
    rows = outcome(lambda: viewed(f"SELECT a FROM r WHERE {conditions}"))
    assert rows == [(1,), (2,), (3,), (7,), (8,)]


def test_many_conditions_over_groups() -> None:
    conditions = " AND ".join(f"n <> {i + 100}" for i in range(100))
    query = f"SELECT b, n FROM (SELECT b, COUNT(*) AS n FROM r GROUP BY b) g WHERE {conditions}"
    assert outcome(lambda: viewed(query)) == [(1, 1), (3, 2), (7, 2)]


@pytest.mark.parametrize("tables", [21, 40])
def test_joins_of_many_tables(tables: int) -> None:
    rows = outcome(lambda: viewed(chain(tables)))
    assert rows == [(1, 1), (2, 3), (3, 3), (7, 7), (8, 7)]


def test_a_join_of_many_tables_that_fans_out() -> None:
    """More loops in each other than Python can nest, each with several rows."""
    tables = ", ".join(f"r t{i}" for i in range(22))
    equal = " AND ".join(f"t{i}.b = t{i - 1}.b" for i in range(1, 22))
    query = f"SELECT t0.b, COUNT(*) AS n FROM {tables} WHERE {equal} AND t0.b = 1 GROUP BY t0.b"
    assert outcome(lambda: viewed(query)) == [(1, 1)]


@pytest.mark.parametrize("tables", [12, 30])
def test_many_left_joins(tables: int) -> None:
    rows = outcome(lambda: viewed(chain(tables, "LEFT JOIN")))
    assert rows == [(1, 1), (2, 3), (3, 3), (7, 7), (8, 7)]


@pytest.mark.parametrize("tables", [100, 500])
def test_too_many_joins(tables: int) -> None:
    kind, message = refused(chain(tables))
    assert kind == "LimitError", message


def test_a_limit_names_the_construct_and_the_limit() -> None:
    _, message = refused(chain(100))
    assert "100 tables in one join" in message and "64" in message and "view" in message


@pytest.mark.parametrize("depth", [8, 16, 40])
def test_columns_that_double(depth: int) -> None:
    query = "SELECT a AS x FROM r"
    for i in range(depth):
        query = f"SELECT x + x AS x FROM ({query}) q{i}"
    found = outcome(lambda: viewed(query))
    assert sorted(x for (x,) in found) == [n * 2**depth for n in (1, 2, 3, 7, 8)]


def test_columns_that_double_over_groups() -> None:
    query = "SELECT b, COUNT(*) AS x FROM r GROUP BY b"
    for i in range(20):
        query = f"SELECT b, x + x AS x FROM ({query}) q{i} WHERE x + b > 0"
    assert outcome(lambda: viewed(query)) == [(1, 1 << 20), (3, 2 << 20), (7, 2 << 20)]


def ctes(count: int, body: str) -> str:
    parts = ["c0 AS (SELECT a AS x FROM r)"]
    parts += [f"c{i} AS ({body.format(f'c{i - 1}')})" for i in range(1, count)]
    return f"WITH {', '.join(parts)} SELECT x FROM c{count - 1}"


JOIN_TWICE = "SELECT p.x FROM {0} p JOIN {0} q ON p.x = q.x"
ADD_TWICE = "SELECT x FROM {0} UNION ALL SELECT x + 1 FROM {0}"


def test_ctes_that_double() -> None:
    assert outcome(lambda: viewed(ctes(4, JOIN_TWICE))) == [(1,), (2,), (3,), (7,), (8,)]
    assert len(outcome(lambda: viewed(ctes(5, ADD_TWICE)))) == 5 * 16


@pytest.mark.parametrize("body", [JOIN_TWICE, ADD_TWICE])
@pytest.mark.parametrize("count", [12, 40])
def test_too_many_ctes_that_double(body: str, count: int) -> None:
    kind, message = refused(ctes(count, body))
    assert kind == "LimitError" and "view" in message


def cube(columns: int) -> Case:
    names = [f"c{i}" for i in range(columns)]

    def case() -> int:
        db = ec.connect()
        db.execute(f"CREATE TABLE k ({', '.join(f'{n} INT' for n in names)})")
        listed = ", ".join(names)
        db.execute(f"CREATE VIEW v AS SELECT {listed}, COUNT(*) AS n FROM k GROUP BY CUBE({listed})")
        db.execute(f"INSERT INTO k VALUES ({', '.join('1' * columns)})")
        return len(db.view("v").rows())

    return case


def test_cubes() -> None:
    assert outcome(cube(6)) == 64
    for columns in (10, 40):
        kind, message = outcome(cube(columns))
        assert kind == "LimitError" and "grouping sets" in message and "256" in message


@pytest.mark.parametrize(
    "query",
    [
        "SELECT " + "(" * 1000 + "a" + ")" * 1000 + " AS x FROM r",
        "SELECT " + " + ".join(["a"] * 2000) + " AS x FROM r",
        "SELECT " + "- " * 2000 + "a AS x FROM r",
        "SELECT " + "CASE WHEN a > 1 THEN 2 ELSE " * 500 + "1" + " END" * 500 + " AS x FROM r",
        "SELECT " + " || ".join(["'x'"] * 2000) + " AS x FROM r",
        "SELECT CAST(NULL AS " + "ARRAY<" * 500 + "INT" + ">" * 500 + ") AS x FROM r",
        "SELECT a FROM r WHERE " + "NOT " * 2000 + "a > 1",
        "SELECT a FROM r WHERE " + "a IN (SELECT a FROM r WHERE " * 150 + "a > 1" + ")" * 150,
        "SELECT a, " + "coalesce(nullif(" * 30 + "a" + ", -1), b)" * 30 + " AS x FROM r",
        " UNION ALL ".join(["SELECT a FROM r"] * 1000),
    ],
    ids=["brackets", "plus", "minus", "case", "concat", "types", "not", "in", "nullif", "union"],
)
def test_too_deep(query: str) -> None:
    kind, message = refused(query)
    assert kind == "LimitError", message


@pytest.mark.parametrize(
    "term",
    [
        " + ".join(["a"] * 60),
        "CASE WHEN a > 100 THEN 2 ELSE " * 30 + "a * 60" + " END" * 30,
        "coalesce(nullif(" * 6 + "a * 60" + ", -1), b)" * 6,
    ],
    ids=["plus", "case", "coalesce"],
)
def test_deep_expressions_work(term: str) -> None:
    rows = outcome(lambda: viewed(f"SELECT a, {term} AS x FROM r WHERE {term} > 0"))
    assert rows == [(n, 60 * n) for n in (1, 2, 3, 7, 8)]


def test_deep_types() -> None:
    def case() -> object:
        db = ec.connect()
        db.execute(f"CREATE TABLE n (x {'ARRAY<' * 500}INT{'>' * 500})")
        return db.tables

    kind, message = outcome(case)
    assert kind == "LimitError" and "100" in message


@pytest.mark.parametrize("operator", ["LIKE", "ILIKE"])
def test_patterns_take_linear_time(operator: str) -> None:
    def case() -> object:
        db = ec.connect()
        db.execute("CREATE TABLE t (s STRING)")
        db.execute(f"CREATE VIEW v AS SELECT length(s) AS n FROM t WHERE s {operator} '{'%a' * 16}%b'")
        db.table("t").insert([("a" * 5000,), ("a" * 5000 + "b",), ("a" * 15 + "b",)])
        return db.view("v").rows()

    assert outcome(case) == [(5001,)]


@pytest.mark.parametrize(
    "term",
    [
        "repeat('x', 2000000000)",
        "repeat('x', n)",
        "space(n)",
        "lpad('x', n, 'y')",
        "rpad('x', n, 'y')",
        "array_repeat(1, n)",
        "sequence(1, n)",
        "cast(n * 100000000000 AS INTERVAL DAY)",
    ],
)
def test_results_have_a_largest_size(term: str) -> None:
    def case() -> object:
        db = ec.connect()
        db.execute("CREATE TABLE t (n INT)")
        db.execute(f"CREATE VIEW v AS SELECT {term} AS x FROM t")
        db.execute("INSERT INTO t VALUES (2000000000)")
        return "it was not refused"

    kind, message = outcome(case)
    assert kind in ("EvaluationError", "SizeError"), message


LARGE = (
    "format_string('%2000000000d', n)",
    "format_string('%.2000f', 1.0)",
    "format_number(n, 2000000000)",
    "format_number(n, 2000)",
    "array_insert(array(1), n, 2)",
    "flatten(array_repeat(array_repeat(n, 10000), 10000))",
    "to_json(array_repeat(repeat('x', 10000), 10000))",
    "array_join(array_repeat(repeat('x', 10000), 10000), ',')",
    "cast(array_repeat(repeat('x', 10000), 10000) AS STRING)",
    "replace(repeat('x', 100000), 'x', repeat('y', 100000))",
    "regexp_replace(repeat('x', 10000), 'x', repeat('y', 10000))",
    "concat(array_repeat(1, 6000000), array_repeat(1, 6000000))",
)


def test_large_results() -> None:
    def case() -> object:
        db = ec.connect()
        db.execute("CREATE TABLE t (n INT)")
        db.execute("INSERT INTO t VALUES (2000000000)")
        made = []
        for term in LARGE:
            try:
                db.query(f"SELECT {term} AS x FROM t")
            except ec.EvaluationError:
                continue
            made.append(term)
        return made

    assert outcome(case) == []


GROWING = (
    "x || x",
    "concat(x, x, x)",
    "concat_ws('-', x, x)",
    "replace(x, 'a', x)",
    "hex(x)",
    "base64(x || x)",
    "lpad(x, length(x) * 2, x)",
    "repeat(x, 2)",
    "format_string('%s%s', x, x)",
    "overlay(x PLACING x FROM 1 FOR 1)",
    "array_join(array(x, x), '')",
)


def test_texts_that_grow_have_a_largest_size() -> None:
    assert outcome(lambda: [term for term in GROWING if not grows_to_the_limit(term)]) == []


def grows_to_the_limit(term: str) -> bool:
    """Below the limit all is right; beyond it the error names the view, the expression and the row, and nothing has changed."""
    db = ec.connect()
    db.execute("CREATE TABLE t (k INT PRIMARY KEY, s STRING)")
    query = "SELECT k, s AS x FROM t"
    for i in range(12):
        query = f"SELECT k, {term} AS x FROM ({query}) q{i}"
    db.execute("CREATE VIEW n AS SELECT COUNT(*) AS n FROM t")
    db.execute(f"CREATE VIEW v AS SELECT k, length(x) AS n FROM ({query}) z")
    db.execute("INSERT INTO t VALUES (1, 'a'), (2, '')")
    before = db.view("v").rows(), db.view("n").rows(), db.table("t").rows()
    assert db.verify()
    with pytest.raises(ec.SizeError) as caught:
        db.execute("UPDATE t SET s = ? WHERE k = 1", ["abc" * 20_000])
    said = str(caught.value)
    assert isinstance(caught.value, ec.LimitError) and "at most 10000000" in said, said
    assert "view v" in said and "for the row" in said and "^" in said, said
    assert (db.view("v").rows(), db.view("n").rows(), db.table("t").rows()) == before
    db.execute("INSERT INTO t VALUES (3, 'a')")
    return bool(db.verify())
