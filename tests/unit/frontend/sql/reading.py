"""A small company to read queries over: its catalog, its rows, and both answers to a query."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.values import give_out, take_in
from evercurrent.frontend.sql.parse import parse_script, parse_statement
from evercurrent.frontend.sql.statements import CreateTable, CreateView, Select, Statement
from tests.duck import Duck

D = datetime.date
SCHEMA = """
CREATE TABLE emp (
    id INT PRIMARY KEY, name STRING NOT NULL, dept INT, salary DECIMAL(10,2), hired DATE,
    tags ARRAY<STRING>, score DOUBLE, active BOOLEAN);
CREATE TABLE dept (id INT PRIMARY KEY, name STRING, boss INT, budget DECIMAL(12,2));
CREATE TABLE edge (x INT, y INT);
CREATE TABLE t (a INT, b INT, c DOUBLE, s STRING DEFAULT 'q');
CREATE TABLE u (a INT, b INT, d STRING);
"""
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "emp": [
        (1, "Ann", 10, Decimal("100.00"), D(2020, 1, 31), ["x", "y"], 1.5, True),
        (2, "Bob", 10, Decimal("80.50"), D(2020, 2, 29), ["x"], 2.5, False),
        (3, "Cid", 20, None, D(2021, 5, 1), [], 2.5, True),
        (4, "Dee", 20, Decimal("120.25"), None, None, None, None),
        (5, "Eve", None, Decimal("80.50"), D(2019, 12, 31), ["z", "x", "x"], -1.0, True),
        (6, "Fay", 30, Decimal("0.00"), D(2020, 2, 29), ["y"], 0.0, False),
        (7, "ann", 40, Decimal("77.77"), D(2022, 7, 7), ["y", None], 9.25, True),
    ],
    "dept": [
        (10, "Sales", 1, Decimal("1000.00")),
        (20, "Tech", 4, Decimal("2000.50")),
        (30, "Ops", None, None),
        (50, "Empty", 2, Decimal("5.00")),
    ],
    "edge": [(1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (1, 2)],
    "t": [
        (1, 10, 0.5, "p"),
        (1, 10, 0.5, "p"),
        (2, 20, 1.5, "q"),
        (2, None, None, "r"),
        (None, 30, 2.5, None),
        (3, 30, -4.0, "q"),
    ],
    "u": [(1, 10, "p"), (2, 21, "q"), (None, 30, "z"), (4, None, "p"), (1, 10, "p")],
}


@cache
def catalog() -> Catalog:
    found = Catalog()
    for text in parse_script(SCHEMA):
        found = declared(found, text)
    return found


def declared(found: Catalog, text: str) -> Catalog:
    statement = parse_statement(text, found)
    if isinstance(statement, CreateTable):
        return found.with_table(statement.table)
    assert isinstance(statement, CreateView)
    return found.with_view(statement.view)


def read(text: str) -> Statement:
    return parse_statement(text, catalog())


def query_of(text: str) -> Query:
    statement = read(text)
    assert isinstance(statement, Select)
    return statement.ordered.query


@cache
def stored(name: str) -> tuple[tuple[tuple[Any, ...], int], ...]:
    table = catalog().table(name)
    assert table is not None
    types = [c.type for c in table.columns]
    return tuple(
        (tuple(take_in(t, v) for t, v in zip(types, row, strict=True)), 1) for row in ROWS[table.name]
    )


def rows_of(query: Query, shown: int | None = None) -> list[tuple[Any, ...]]:
    """The rows of a query by the reference evaluator, as users see them."""
    types = [f.type for f in query.fields][:shown]
    return [
        tuple(give_out(t, v) for t, v in zip(types, row, strict=False))
        for row, weight in evaluate(query, stored).items()
        for _ in range(weight)
    ]


def ours(text: str) -> list[tuple[Any, ...]]:
    statement = read(text)
    assert isinstance(statement, Select)
    return rows_of(statement.ordered.query, len(statement.names))


@cache
def duck() -> Duck:
    found = Duck()
    for text in parse_script(SCHEMA):
        found.execute(text)
    for table, rows in ROWS.items():
        found.insert(table, rows)
    return found
