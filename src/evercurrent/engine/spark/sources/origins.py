"""Origins: texts that say where the rows of a source are, at a version.

    origin_text(orders, cursor)       {"name": "orders", "format": "delta", "place": "/lake/orders", "cursor": {"version": 7, ...}, ...}

A segment has origins in the place of files (`storage.files.Segment`); `references` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql.types import StructField, StructType

from evercurrent.data.types import Member
from evercurrent.engine.spark.sources.nodes import Cursor, Source
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.translate.types import spark_type, type_of
from evercurrent.errors import StorageError


def origin_text(source: Source, cursor: Cursor) -> str:
    schema = StructType([StructField(c.name, spark_type(c.type)) for c in source.columns])
    about = {
        "name": source.name,
        "format": source.format,
        "place": source.place,
        "options": dict(source.options),
        "cursor": dict(cursor),
        "schema": schema.jsonValue(),
    }
    return json.dumps(about, sort_keys=True)


def reference(source: Source, cursor: Cursor, rows: int, size: int) -> Segment:
    """All rows of a source at a cursor, as a segment without files."""
    return Segment((), rows, size, net=False, origins=(origin_text(source, cursor),) if rows else ())


def source_of(origin: str) -> tuple[Source, dict[str, Any]]:
    """The source that an origin names, and the cursor."""
    try:
        about = json.loads(origin)
        schema = StructType.fromJson(about["schema"])
        columns = tuple(Member(f.name, type_of(f.dataType)) for f in schema.fields)
        source = Source(
            about["name"], about["format"], about["place"], columns, about["options"], "reference"
        )
        return source, dict(about["cursor"])
    except (KeyError, TypeError, ValueError) as problem:
        raise StorageError(
            f"a version mentions {origin[:80]!r}, which is no version of a source"
        ) from problem


def with_columns(segment: Segment, columns: Sequence[Member]) -> Segment:
    """The same rows with other columns: new ones are NULL where the files do not have them."""
    texts = []
    for origin in segment.origins:
        source, cursor = source_of(origin)
        texts.append(origin_text(replace(source, columns=tuple(columns)), cursor))
    return replace(segment, origins=tuple(texts))
