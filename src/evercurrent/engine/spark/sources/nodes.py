"""What a source is, and what looking at it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from evercurrent.data.types import Member
from evercurrent.engine.spark.storage.files import EMPTY, Segment

Format = Literal["delta", "parquet", "iceberg", "table"]
FORMATS: tuple[str, ...] = get_args(Format)

Cursor = Mapping[str, Any]
"""How far we have looked: kept in every version as JSON, and of a shape that only its format knows."""


@dataclass(frozen=True)
class Source:
    """A table that others write; `place` is its path, or its name in a catalog."""

    name: str
    format: Format
    place: str
    columns: tuple[Member, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, order=True)
class File:
    """A Parquet file, by the path that Spark reads it by."""

    path: str
    bytes: int = 0


@dataclass(frozen=True)
class Change:
    """What came and what went, how far we have looked, and how we found out."""

    cursor: Cursor
    reason: str
    segment: Segment = EMPTY


def way_out(source: Source) -> str:
    """What to do where a history is gone."""
    return f"db.refresh(full=[{source.name!r}]) compares the whole table instead"
