"""What a source is, and what looking at it returns.

>>> way_out(Source("orders", "delta", "/lake/orders"))
"db.refresh(full=['orders']) compares the whole table instead"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from evercurrent.data.types import Member
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.errors import StorageError

Format = Literal["delta", "parquet", "iceberg", "files", "table"]
FORMATS: tuple[str, ...] = get_args(Format)

Kept = Literal["copy", "reference"]
"""Whether the rows of a source are in the warehouse too, or are read where they are, at the version that was reached."""

Cursor = Mapping[str, Any]
"""How far a source was read: kept in every version as JSON, in a form that only its format knows."""


@dataclass(frozen=True)
class Source:
    """A table that others write; `place` is its path, or its name in a catalog."""

    name: str
    format: Format
    place: str
    columns: tuple[Member, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    kept: Kept = "copy"


@dataclass(frozen=True, order=True)
class File:
    """A Parquet file, by the path that Spark reads it by."""

    path: str
    bytes: int = 0


@dataclass(frozen=True)
class Change:
    """The change of a source, the new cursor, and how the change was found. `whole`: all rows there, by reference."""

    cursor: Cursor
    reason: str
    segment: Segment = EMPTY
    whole: Segment | None = None
    lost: bool = False  # the rows before are no longer known: what depends on them is filled again


class LostHistoryError(StorageError):
    """A source can no longer be read at the version that was reached."""


def way_out(source: Source) -> str:
    """What to do where a history is gone."""
    if source.kept == "reference":
        return f"db.refresh(full=[{source.name!r}]) goes on from its present version, and fills the views over it again"
    return f"db.refresh(full=[{source.name!r}]) compares the whole table instead"
