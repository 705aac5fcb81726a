"""Which columns a source has, and what has changed in it: one page for all formats.

A column that is new in a source is added to its table; one that is gone or has another type is an error that names it
(`require_known`). Law: whatever the format, `held + change` is what the source holds at the cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from evercurrent.data.types import Member, Type
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.delta import delta_change, delta_columns
from evercurrent.engine.spark.sources.iceberg import iceberg_change, iceberg_columns
from evercurrent.engine.spark.sources.nodes import Change, Cursor, Source
from evercurrent.engine.spark.sources.parquet import parquet_change, parquet_columns
from evercurrent.engine.spark.sources.tables import table_change, table_columns
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError


def columns_of(engine: Engine, source: Source, cursor: Cursor) -> tuple[tuple[Member, ...], bool]:
    """The columns that are to be seen in a source now, and whether these are all of its columns."""
    match source.format:
        case "delta":
            return delta_columns(source.place), True
        case "parquet":
            return parquet_columns(engine, source.place, cursor)
        case "iceberg":
            return iceberg_columns(source), True
        case "table":
            return table_columns(engine, source.place), True
        case _:
            assert_never(source.format)


def change_of(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    """What has changed since the cursor; `held` are the rows that we hold of it. `full`: compare everything."""
    match source.format:
        case "delta":
            return delta_change(engine, source, cursor, held, full)
        case "parquet":
            return parquet_change(engine, source, cursor, held, full)
        case "iceberg":
            return iceberg_change(engine, source, cursor, held, full)
        case "table":
            return table_change(engine, source, cursor, held, full)
        case _:
            assert_never(source.format)


def new_columns(source: Source, now: Sequence[Member], whole: bool) -> tuple[Member, ...]:
    """The columns that the source has and its table has not; refuses columns that are gone or of another type."""
    there = {c.name.lower(): c for c in now}
    for c in source.columns:
        found = there.get(c.name.lower())
        if found is None and whole:
            raise schema_error(source, f"the column {c.name} is no longer in {source.place}")
        if found is not None and not same(found.type, c.type):
            raise schema_error(
                source, f"the column {c.name} of {source.place} is {found.type} now; it was {c.type}"
            )
    known = {c.name.lower() for c in source.columns}
    return tuple(c for c in now if c.name.lower() not in known)


def same(one: Type, other: Type) -> bool:
    return str(one) == str(other)


def schema_error(source: Source, what: str) -> QueryError:
    return QueryError(
        f"{source.name}: {what}",
        hint=f"nothing was changed; DROP TABLE {source.name} CASCADE, then declare the source and its views anew",
    )
