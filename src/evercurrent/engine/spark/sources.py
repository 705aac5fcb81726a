"""Tables that others write: what has changed in them since we last looked, as a Z-set.

    delta      rows of the files that came minus rows of the files that went, between two versions
    parquet    rows of the files that came; if files went or were changed, all rows now minus all rows we hold

Rows that were only rewritten are in both and cancel. Whatever cannot be read rightly is refused: a table with deletion
vectors or column mapping, and a history whose files have been vacuumed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from deltalake import DeltaTable
from pyspark.sql import functions as F

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.files import EMPTY, Segment
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.shapes import W, row_schema
from evercurrent.engine.spark.types import spark_type, type_of
from evercurrent.errors import QueryError, StorageError, UnsupportedError

Format = Literal["delta", "parquet"]
REFUSED = {
    "deletionVectors": "deletion vectors",
    "columnMapping": "column mapping",
    "v2Checkpoint": "v2 checkpoints",
}


@dataclass(frozen=True)
class Source:
    """A table that others write."""

    name: str
    format: Format
    path: str
    columns: tuple[Member, ...]


@dataclass(frozen=True)
class Change:
    """What came and what went, and how far we have looked; `whole`: the two differ by everything."""

    segment: Segment
    cursor: Mapping[str, Any]
    reason: str


def columns_of(engine: Engine, format: Format, path: str) -> tuple[Member, ...]:
    """The columns of a table that others write."""
    if format == "delta":
        table = delta_table(path)
        files = [unquote(u.removeprefix("file://")) for u in table.file_uris()]
        if not files:
            raise UnsupportedError(f"the Delta table {path} is empty: its columns cannot be read yet")
        frame = engine.session.read.option("basePath", path).parquet(*files)
        order = [f.name for f in table.schema().fields]
        fields = {f.name: f for f in frame.schema.fields}
        return tuple(Member(n, type_of(fields[n].dataType)) for n in order)
    files = sorted(parquet_files(path))
    if not files:
        raise StorageError(f"there are no Parquet files in {path}")
    frame = engine.session.read.option("basePath", path).parquet(*(os.path.join(path, f) for f in files))
    return tuple(Member(f.name, type_of(f.dataType)) for f in frame.schema.fields)


def delta_table(path: str, version: int | None = None) -> DeltaTable:
    if not DeltaTable.is_deltatable(path):
        raise StorageError(f"{path} is not a Delta table")
    try:
        table = DeltaTable(path, version=version)
    except Exception as problem:
        raise StorageError(
            f"version {version} of the Delta table {path} cannot be read: {problem}"
        ) from problem
    features = set(table.protocol().reader_features or ())
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        features.add("columnMapping")
    for feature in features & set(REFUSED):
        raise UnsupportedError(
            f"the Delta table {path} uses {REFUSED[feature]}, which cannot be read rightly yet"
        )
    return table


def parquet_files(path: str) -> dict[str, list[int]]:
    """The Parquet files under a folder, with size and time of change."""
    root = Path(path)
    if not root.is_dir():
        raise StorageError(f"there is no folder {path}")
    found = {}
    for p in root.rglob("*.parquet"):
        relative = p.relative_to(root)
        if not any(part.startswith(("_", ".")) for part in relative.parts):
            status = p.stat()
            found[str(relative)] = [status.st_size, status.st_mtime_ns]
    return found


def change_of(engine: Engine, source: Source, cursor: Mapping[str, Any], held: Store, full: bool) -> Change:
    """What has changed since the cursor; `held` are the rows that we hold of it. `full`: compare everything."""
    match source.format:
        case "delta":
            return delta_change(engine, source, cursor, held, full)
        case "parquet":
            return parquet_change(engine, source, cursor, held, full)


def delta_change(
    engine: Engine, source: Source, cursor: Mapping[str, Any], held: Store, full: bool
) -> Change:
    table = delta_table(source.path)
    now = {"version": table.version()}
    files = {unquote(u.removeprefix("file://")) for u in table.file_uris()}
    require_columns(source, [f.name for f in table.schema().fields])
    before: int | None = cursor.get("version")
    if before == now["version"] and not full:
        return Change(EMPTY, now, "nothing new")
    if before is None or full:
        return Change(difference(engine, source, sorted(files), [], held), now, "all files against all rows")
    old = old_files(source, before)
    gone = sorted(old - files)
    missing = [f for f in gone if not os.path.exists(f)]
    if missing:
        raise StorageError(
            f"{source.name}: the Delta table {source.path} has been vacuumed since version {before}: "
            f"{len(missing)} files that are needed to find what has changed are gone",
            hint=f"db.refresh(full=[{source.name!r}]) compares the whole table instead",
        )
    segment = difference(engine, source, sorted(files - old), gone, Store())
    return Change(segment, now, f"files of versions {before} and {now['version']}")


def old_files(source: Source, version: int) -> set[str]:
    try:
        table = delta_table(source.path, version)
    except StorageError as problem:
        raise StorageError(
            f"{source.name}: {problem.message}",
            hint=f"db.refresh(full=[{source.name!r}]) compares the whole table instead",
        ) from problem
    return {unquote(u.removeprefix("file://")) for u in table.file_uris()}


def parquet_change(
    engine: Engine, source: Source, cursor: Mapping[str, Any], held: Store, full: bool
) -> Change:
    files = parquet_files(source.path)
    known: dict[str, list[int]] = cursor.get("files", {})
    now = {"files": files}
    if files == known and not full:
        return Change(EMPTY, now, "nothing new")
    kept = all(files.get(name) == mark for name, mark in known.items())
    paths = [os.path.join(source.path, f) for f in sorted(files) if not kept or full or f not in known]
    if kept and not full:
        return Change(difference(engine, source, paths, [], Store()), now, "new files")
    return Change(
        difference(engine, source, paths, [], held), now, "files went or changed: all files against all rows"
    )


def require_columns(source: Source, names: Sequence[str]) -> None:
    there = {n.lower() for n in names}
    for c in source.columns:
        if c.name.lower() not in there:
            raise QueryError(f"{source.name}: the column {c.name} is no longer in {source.path}")


def difference(
    engine: Engine, source: Source, come: Sequence[str], gone: Sequence[str], held: Store
) -> Segment:
    """Rows of the files that came, minus those of the files that went, minus what is held; consolidated."""
    parts = []
    for files, sign in ((come, 1), (gone, -1)):
        if files:
            parts.append(load(engine, source, files, sign))
    if held.segments:
        schema = row_schema([c.type for c in source.columns])
        workshop = engine.workshop(held.rows)
        negative = workshop.read(schema, held.segments).withColumn(W, -F.col(W))
        parts.append(workshop.collect({f"{source.name}\0held": negative})[f"{source.name}\0held"])
    parts = [p for p in parts if p.rows]
    if not parts:
        return EMPTY
    return engine.merged(
        f"table\0{source.name.lower()}", Store(tuple(parts)), row_schema([c.type for c in source.columns])
    )


def load(engine: Engine, source: Source, files: Sequence[str], sign: int) -> Segment:
    """The rows of files, as a segment of our own."""
    size = sum(os.path.getsize(f) for f in files)
    workshop = engine.workshop(size // 20)
    frame = engine.session.read.option("basePath", source.path).option("mergeSchema", "true").parquet(*files)
    there = {c.lower(): c for c in frame.columns}
    columns = [
        (frame[there[c.name.lower()]] if c.name.lower() in there else F.lit(None))
        .cast(spark_type(c.type))
        .alias(f"c{i}")
        for i, c in enumerate(source.columns)
    ]
    name = f"{source.name}\0load{sign}"
    return workshop.collect({name: frame.select(*columns, F.lit(sign).cast("bigint").alias(W))})[name]
