"""Which columns a source has, and what has changed in it: one page for all formats.

A column that is new in a source is added to its table, and one whose type becomes wider becomes wider there; one that is gone or
has another type is an error that names it (`find_followed_columns`). Law: whatever the format, `held + change` is what the source
holds at the cursor.

    held {a: 1, b: 1}       the source {b: 1, c: 1}       change {a: -1, c: +1}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from evercurrent.data.types import Decimal, Float, Integer, Member, Type
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.delta import delta_change, delta_columns
from evercurrent.engine.spark.sources.files import files_change, files_columns
from evercurrent.engine.spark.sources.iceberg import iceberg_change, iceberg_columns
from evercurrent.engine.spark.sources.nodes import Change, Cursor, Source
from evercurrent.engine.spark.sources.parquet import parquet_change, parquet_columns
from evercurrent.engine.spark.sources.session_tables import (
    Native,
    answers,
    native_columns,
    native_path,
    session_change,
)
from evercurrent.engine.spark.sources.tables import has_versions, table_change, table_columns
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError, UnsupportedError


def columns_of(engine: Engine, source: Source, cursor: Cursor) -> tuple[tuple[Member, ...], bool]:
    """The columns that are to be seen in a source now, and whether these are all of its columns."""
    match source.format:
        case "delta":
            try:
                return delta_columns(engine, source.place), True
            except UnsupportedError as refusal:
                return native_columns(engine, require_native(engine, source, refusal)), True
        case "parquet":
            return parquet_columns(engine, source.place, cursor)
        case "iceberg":
            return iceberg_columns(engine, source), True
        case "files":
            return files_columns(source), True
        case "table":
            return table_columns(engine, source.place), True
        case _:
            assert_never(source.format)


def change_of(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    """What has changed since the cursor; `held` are the rows that we hold of it. `full`: compare everything."""
    match source.format:
        case "delta":
            try:
                return delta_change(engine, source, cursor, held, full)
            except UnsupportedError as refusal:
                native = require_native(engine, source, refusal)
                return session_change(engine, source, native, cursor, held, full)
        case "parquet":
            return parquet_change(engine, source, cursor, held, full)
        case "iceberg":
            return iceberg_change(engine, source, cursor, held, full)
        case "files":
            return files_change(engine, source, cursor, held, full)
        case "table":
            return table_change(engine, source, cursor, held, full)
        case _:
            assert_never(source.format)


def require_native(engine: Engine, source: Source, refusal: UnsupportedError) -> Native:
    """The Delta table as the session reads it, where we do not; the refusal, if it does not either."""
    native = native_path(source.place)
    if not answers(engine, native):
        raise refusal
    return native


def tells_past(engine: Engine, source: Source) -> bool:
    """Whether a source can be read as it was at a version that was reached."""
    match source.format:
        case "delta" | "iceberg":
            return True
        case "table":
            return has_versions(engine, source.place)
        case _:
            return False


def find_followed_columns(source: Source, now: Sequence[Member], whole: bool) -> tuple[Member, ...]:
    """The columns that the table of a source is to have: wider where those of the source are, and new ones at the end.

    Refuses columns that are gone, or of a type that does not hold all that the table has.
    """
    there = {c.name.lower(): c for c in now}
    for c in source.columns:
        found = there.get(c.name.lower())
        if found is None and whole:
            raise schema_error(source, f"the column {c.name} is no longer in {source.place}")
        if found is not None and not same(found.type, c.type) and not is_wider(found.type, c.type):
            if is_wider(c.type, found.type) and not whole:
                continue  # a new file with a narrower column
            raise schema_error(
                source, f"the column {c.name} of {source.place} is {found.type} now; it was {c.type}"
            )
    known = {c.name.lower() for c in source.columns}
    held = (
        replace(c, type=t.type)
        if (t := there.get(c.name.lower())) is not None and is_wider(t.type, c.type)
        else c
        for c in source.columns
    )
    return (*held, *(c for c in now if c.name.lower() not in known))


def is_wider(one: Type, other: Type) -> bool:
    """Whether the first type holds every value of the second, exactly and under the same name of a kind.

    >>> is_wider(Integer(64), Integer(32)), is_wider(Decimal(14, 2), Decimal(12, 2)), is_wider(Decimal(12, 3), Decimal(12, 2))
    (True, True, False)
    """
    match one, other:
        case Integer(bits), Integer(less):
            return bits > less
        case Float(bits), Float(less):
            return bits > less
        case Decimal(p, s), Decimal(q, r):
            return (p, s) != (q, r) and s >= r and p - s >= q - r
        case _:
            return False


def same(one: Type, other: Type) -> bool:
    return str(one) == str(other)


def schema_error(source: Source, what: str) -> QueryError:
    return QueryError(
        f"{source.name}: {what}",
        hint=f"nothing was changed; DROP TABLE {source.name} CASCADE, then declare the source and its views again",
    )
