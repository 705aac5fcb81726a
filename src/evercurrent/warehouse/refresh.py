"""Tables that others write: declared once, looked at by `refresh`, and from then on like any other table.

A source is a definition of its own kind in every version, and so is how far we have looked (its cursor): both move with the
commit that takes its changes in, so no change is lost and none counts twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import replace

from evercurrent.data.types import Member
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.engine.spark.files import Segment
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.oracle import quoted
from evercurrent.engine.spark.sources import Change, Format, Source, change_of, columns_of
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateTable
from evercurrent.warehouse import bulk, definitions
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.record import RunRecord


def declare(core: Core, name: str, format: Format, path: str, key: Collection[str]) -> None:
    """Make a source known, as a table that only `refresh` changes."""
    if format not in ("delta", "parquet"):
        raise QueryError(f"there is no format {format!r}", hint="there is delta and parquet")
    path = os.path.abspath(os.fspath(path).removeprefix("file://"))
    columns = columns_of(core.engine, format, path)
    names = {c.name.lower(): c.name for c in columns}
    for k in key:
        if k.lower() not in names:
            raise QueryError(
                f"the source {name} has no column {k!r}", hint=f"it has {', '.join(names.values())}"
            )
    parts = [f"{quoted(c.name)} {c.type}" for c in columns]
    if key:
        parts.append(f"PRIMARY KEY ({', '.join(quoted(names[k.lower()]) for k in key)})")
    text = f"CREATE TABLE {quoted(name)} ({', '.join(parts)})"
    statement = parse_statement(text, core.catalog)
    assert isinstance(statement, CreateTable)
    definitions.create_table(
        core, statement.table, text, False, False, source={"format": format, "path": path}
    )


def sources_of(core: Core) -> dict[str, Source]:
    result = {}
    for d in core.snapshot.definitions:
        if d.get("source"):
            table = core.catalog.tables[d["name"].lower()]
            columns = tuple(Member(c.name, c.type) for c in table.columns)
            result[d["name"]] = Source(d["name"], d["source"]["format"], d["source"]["path"], columns)
    return result


def refresh(core: Core, full: Collection[str], batch: str | None) -> RunRecord | None:
    """Take in what has changed in all sources, as one version; None if nothing has."""
    begin = time.perf_counter()
    sources = sources_of(core)
    for name in full:
        if name.lower() not in {s.lower() for s in sources}:
            raise QueryError(f"there is no source {name!r}", hint=f"there are {', '.join(sources) or 'none'}")
    whole = {name.lower() for name in full}
    cursors = dict(core.snapshot.sources)
    changes: dict[str, Change] = {}
    for name, source in sources.items():
        held = core.table_segments(name)
        changes[name] = change_of(core.engine, source, cursors.get(name, {}), held, name.lower() in whole)
        cursors[name] = dict(changes[name].cursor)
    if cursors == core.snapshot.sources:
        return None
    segments: dict[str, Segment] = {n.lower(): c.segment for n, c in changes.items() if c.segment.rows}
    taken = time.perf_counter()
    if sum(s.rows for s in segments.values()) <= SMALL_ROWS:
        deltas = {
            key: ZSet(core.engine.rows(Store((s,)), core.table_types(key))) for key, s in segments.items()
        }
        core.examine(deltas, core.partial())
    else:
        bulk.examine(core, segments)
    steps = {"sources": taken - begin, "constraints": time.perf_counter() - taken}
    record = core.commit(segments, batch, begin, steps, cursors)
    return replace(record, notes=tuple(f"{n}: {c.reason}" for n, c in changes.items()))
