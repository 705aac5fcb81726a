"""The reference semantics against an engine that we did not write, on random SQL.

Each query is read by the front end and evaluated as it is written and in normal form; DuckDB must agree with both.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb
import pytest

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.normalize import normalize
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.values import give_out, take_in
from evercurrent.data.zset import ZSet
from evercurrent.frontend.sql.parse import parse_query, parse_statement
from evercurrent.frontend.sql.statements import CreateTable
from tests.duck import difference
from tests.unit.calculus.random_sql import TABLES, random_rows, random_sql

Rows = dict[str, list[tuple[Any, ...]]]


def catalog() -> Catalog:
    made = Catalog()
    for name, columns in TABLES.items():
        text = f"CREATE TABLE {name} ({', '.join(f'{c} {kind}' for c, kind in columns.items())})"
        statement = parse_statement(text, made)
        assert isinstance(statement, CreateTable)
        made = made.with_table(statement.table)
    return made


CATALOG = catalog()


class Pair:
    """The same rows in both worlds."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET threads = 1")
        for name, columns in TABLES.items():
            kinds = ", ".join(f"{c} {'VARCHAR' if k == 'STRING' else k}" for c, k in columns.items())
            self.connection.execute(f"CREATE TABLE {name} ({kinds})")
        self.inside: dict[str, ZSet] = {}

    def load(self, rows: Rows) -> None:
        for name, table in rows.items():
            self.connection.execute(f"DELETE FROM {name}")
            if table:
                marks = ", ".join("?" * len(table[0]))
                self.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", table)
            fields = CATALOG.fields_of(name)
            self.inside[name] = ZSet.of(
                tuple(take_in(f.type, v) for f, v in zip(fields, row, strict=True)) for row in table
            )

    def ours(self, query: Query) -> list[tuple[Any, ...]]:
        result = evaluate(query, lambda name: self.inside[name].items())
        assert all(weight > 0 for _, weight in result.items())
        return [
            tuple(give_out(f.type, v) for f, v in zip(query.fields, row, strict=True))
            for row in result.insertions()
        ]

    def check(self, text: str) -> None:
        theirs = self.connection.execute(text).fetchall()
        query = parse_query(text, CATALOG).query
        assert not (found := difference(self.ours(query), theirs)), f"{text}\n{found}"
        normal = normalize(query)
        assert not (found := difference(self.ours(normal), theirs)), f"normal form of {text}\n{found}"


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.connection.close()


@pytest.mark.parametrize("batch", range(8))
def test_random_queries(pair: Pair, batch: int) -> None:
    for seed in range(batch * 30, batch * 30 + 30):
        rng = Random(seed)
        pair.load(random_rows(rng))
        pair.check(random_sql(rng, 2))


def test_deep_random_queries(pair: Pair) -> None:
    for seed in range(25):
        rng = Random(f"deep {seed}")
        pair.load(random_rows(rng, 5))
        pair.check(random_sql(rng, 3))
