"""DuckDB as the engine that we did not write.

`Duck` keeps the same tables as the database under test: it takes Spark's SQL, translates it, and answers with rows that
`difference` compares as multisets. Numbers compare by value, whatever their type; a column that is a float on either
side compares within a tolerance, since DuckDB adds floats in any order and averages decimals as doubles.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import expressions as exp

Rows = list[tuple[Any, ...]]


@cache
def translate(statement: str) -> str:
    """Spark's SQL in DuckDB's spelling, without constraints (DuckDB checks them too early within a transaction)."""
    tree = sqlglot.parse_one(statement, read="spark")
    if isinstance(tree, exp.Create):
        for column in tree.find_all(exp.ColumnDef):
            kept = [c for c in column.constraints if isinstance(c.kind, exp.DefaultColumnConstraint)]
            column.set("constraints", kept)
        if isinstance(tree.this, exp.Schema):
            tree.this.set("expressions", [e for e in tree.this.expressions if isinstance(e, exp.ColumnDef)])
    return tree.sql(dialect="duckdb")


def statements(text: str) -> list[str]:
    """The statements of a script: a statement ends with a semicolon at the end of a line."""
    parts = [p.strip().removesuffix(";").strip() for p in (text.strip() + "\n").split(";\n")]
    return [p for p in parts if p]


class Duck:
    """An in-memory DuckDB that speaks Spark's SQL."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET threads = 1")

    def execute(self, statement: str) -> None:
        self.connection.execute(translate(statement))

    def query(self, text: str, *, translated: bool = False) -> Rows:
        return self.connection.execute(text if translated else translate(text)).fetchall()

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        for row in rows:
            marks = ", ".join("?" * len(row))
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", list(row))

    def delete_one(self, table: str, columns: Sequence[str], row: Sequence[Any]) -> None:
        """Delete one occurrence of a row."""
        same = " AND ".join(f'"{c}" IS NOT DISTINCT FROM ?' for c in columns)
        self.connection.execute(
            f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table} WHERE {same})", list(row)
        )

    def close(self) -> None:
        self.connection.close()


def canonical(value: Any) -> Any:
    """A hashable value that is equal for equal SQL values of both systems."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return "NaN" if math.isnan(value) else value
        case Decimal():
            return value
        case datetime.datetime():
            return value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
        case datetime.timedelta():
            return value // datetime.timedelta(microseconds=1)
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case Mapping():
            return frozenset((canonical(k), canonical(v)) for k, v in value.items())
        case list() | tuple():
            return tuple(canonical(v) for v in value)
        case _:
            return value


def canonical_rows(rows: Iterable[Sequence[Any]]) -> Rows:
    return [tuple(canonical(v) for v in row) for row in rows]


def close(ours: Any, theirs: Any, rough: bool = False) -> bool:
    """Equal, or floats that differ by rounding only."""
    if ours == theirs:
        return True
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(close(a, b, rough) for a, b in zip(ours, theirs, strict=True))
    if isinstance(ours, frozenset) and isinstance(theirs, frozenset):
        return all(close(a, b, rough) for a, b in zip(sorted(ours), sorted(theirs), strict=True))
    numbers = isinstance(ours, int | float | Decimal) and isinstance(theirs, int | float | Decimal)
    if not numbers or not (isinstance(ours, float) or isinstance(theirs, float)):
        return False
    slack = 1e-12
    if isinstance(ours, Decimal):
        # Spark rounds a decimal quotient to its scale, DuckDB divides doubles.
        slack = float(Decimal(10) ** int(ours.as_tuple().exponent))
    return math.isclose(float(ours), float(theirs), rel_tol=1e-6 if rough else 1e-9, abs_tol=slack)


def order_of(row: Sequence[Any]) -> tuple[Any, ...]:
    """A key that sorts rows of mixed values alike on both sides: exact columns first, numbers roughly."""
    exact, inexact = [], []
    for value in row:
        if isinstance(value, float | Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
            inexact.append(("1", float(f"{float(value):.6g}")))
        elif isinstance(value, tuple | frozenset):
            inexact.append(
                ("2", repr(sorted(map(repr, value)) if isinstance(value, frozenset) else len(value)))
            )
        else:
            exact.append((type(value).__name__, repr(value)))
    return (exact, inexact)


def difference(ours: Iterable[Sequence[Any]], theirs: Iterable[Sequence[Any]], *, rough: bool = False) -> str:
    """Empty if both are the same multiset of rows; otherwise what is on one side only."""
    mine, other = Counter(canonical_rows(ours)), Counter(canonical_rows(theirs))
    left, right = list((mine - other).elements()), list((other - mine).elements())
    if len(left) == len(right):
        pairs = zip(sorted(left, key=order_of), sorted(right, key=order_of), strict=True)
        if all(len(a) == len(b) and all(map(lambda x, y: close(x, y, rough), a, b)) for a, b in pairs):
            return ""
    return (
        f"only ours ({len(left)}): {sorted(left, key=order_of)[:8]}\n"
        f"only theirs ({len(right)}): {sorted(right, key=order_of)[:8]}"
    )
