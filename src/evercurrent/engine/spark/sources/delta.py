"""Delta tables, read through their log.

What has changed between two versions is the difference of their files (`file_difference`). A table with a change feed says
the same more cheaply where whole files are rewritten (`feed`). A table that was created again under the same path, or in which a
column is another one under the same name, is compared as a whole. Features that this module does not know are refused.

    version 7: a.parquet, b.parquet       version 8: b.parquet, c.parquet       change: rows of c minus rows of a
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow
import pyarrow.parquet
from pyroaring import BitMap64
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.deletion_vectors import read_vector
from evercurrent.engine.spark.sources.delta_log import (
    DataFile,
    LogState,
    MissingVersionError,
    NotDeltaError,
    replay_log,
)
from evercurrent.engine.spark.sources.feed import feed_change
from evercurrent.engine.spark.sources.file_difference import compare_with_held, file_difference, same_columns
from evercurrent.engine.spark.sources.nodes import Change, Cursor, Source, way_out
from evercurrent.engine.spark.sources.origins import reference
from evercurrent.engine.spark.sources.pieces import FIELD_ID, Layout, Piece
from evercurrent.engine.spark.sources.places import source_disk
from evercurrent.engine.spark.sources.reading import load_rows
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import StorageError, UnsupportedError

READABLE = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
    }
)
"""Features of tables that this module reads."""
READER_VERSION = 3
PHYSICAL, ID = "delta.columnMapping.physicalName", "delta.columnMapping.id"
NATIVE = "a session with Delta's own engine reads it: spark.jars.packages, spark.sql.extensions"


@dataclass(frozen=True)
class DeltaState:
    """A Delta table at one version."""

    root: str
    disk: Disk
    log: LogState

    @property
    def version(self) -> int:
        return self.log.version

    @property
    def identity(self) -> str:
        return str(self.log.metadata["id"])

    @property
    def files(self) -> Mapping[str, DataFile]:
        return self.log.files

    @cached_property
    def schema(self) -> StructType:
        return StructType.fromJson(json.loads(self.log.metadata["schemaString"]))

    @cached_property
    def columns(self) -> tuple[Member, ...]:
        return tuple(Member(f.name, type_of(f.dataType)) for f in self.schema.fields)

    @cached_property
    def layout(self) -> Layout:
        """How columns are found in files: by their own names, by other names, or by numbers."""
        mode = self.log.configuration.get("delta.columnMapping.mode", "none")
        if mode not in ("none", "name", "id"):
            raise UnsupportedError(f"the Delta table {self.root} maps columns by {mode!r}", hint=NATIVE)
        fields = [field_in_files(f, mode) for f in self.schema.fields]
        names = {f.name: stored.name for f, stored in zip(self.schema.fields, fields, strict=True)}
        partitions = frozenset(names[n] for n in self.log.metadata.get("partitionColumns") or ())
        return Layout(tuple(names), StructType(fields), partitions, mode == "id")

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the log tells."""
        counts = [f.live for f in self.files.values()]
        return None if None in counts else sum(c or 0 for c in counts)

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files.values())

    def count_rows(self) -> int:
        """How many rows there are; files of which the log does not tell are asked."""
        found = 0
        for file in self.files.values():
            if file.rows is None:
                data = pyarrow.BufferReader(self.disk.map(file.path))
                file = replace(file, rows=pyarrow.parquet.read_metadata(data).num_rows)
            found += file.live or 0
        return found

    @property
    def named(self) -> str:
        return f"version {self.version}"

    def marks(self, path: str) -> object:
        vector = self.files[path].vector
        return None if vector is None else vector.unique

    def find_deleted(self, path: str) -> BitMap64 | None:
        return self.find_deleted_in(self.files[path])

    def find_deleted_in(self, file: DataFile) -> BitMap64 | None:
        """The positions of deleted rows of a file, of this version or another one."""
        return None if file.vector is None else read_vector(self.root, file.vector, self.disk.read)

    def piece(self, path: str, sign: int = 1) -> Piece:
        return self.piece_of(self.files[path], sign)

    def piece_of(self, file: DataFile, sign: int) -> Piece:
        return Piece(file.path, file.bytes, sign, file.partition, self.find_deleted_in(file))


def field_in_files(f: StructField, mode: str) -> StructField:
    """A column as files have it: under the name and number that the table's metadata say, inside of it too."""
    if mode == "none":
        return StructField(f.name, f.dataType)
    about = f.metadata or {}
    if PHYSICAL not in about:
        raise UnsupportedError(
            f"the column {f.name} has no name in files, though columns are mapped", hint=NATIVE
        )
    own = {FIELD_ID: about[ID]} if mode == "id" else None
    return StructField(about[PHYSICAL], type_in_files(f.dataType, mode), metadata=own)


def type_in_files(t: DataType, mode: str) -> DataType:
    match t:
        case StructType():
            return StructType([field_in_files(f, mode) for f in t.fields])
        case ArrayType():
            return ArrayType(type_in_files(t.elementType, mode), t.containsNull)
        case MapType():
            return MapType(
                type_in_files(t.keyType, mode), type_in_files(t.valueType, mode), t.valueContainsNull
            )
        case _:
            return t


def require_readable(root: str, log: LogState) -> None:
    """Refuse a table that has a feature which is not known here."""
    least = log.protocol.get("minReaderVersion", 1)
    if least > READER_VERSION:
        raise UnsupportedError(f"the Delta table {root} wants readers of version {least}", hint=NATIVE)
    for feature in sorted(set(log.protocol.get("readerFeatures") or ()) - READABLE):
        raise UnsupportedError(
            f"the Delta table {root} uses the reader feature {feature}, which is not known here", hint=NATIVE
        )


def open_table(engine: Engine, path: str, version: int | None = None) -> DeltaState:
    """A Delta table at a version, or at its newest."""
    return open_on(source_disk(engine.session, engine.folder, path), path, version)


def open_on(disk: Disk, path: str, version: int | None = None) -> DeltaState:
    try:
        log = replay_log(disk, path, version)
    except (MissingVersionError, NotDeltaError):
        raise
    except StorageError as problem:
        which = "" if version is None else f"version {version} of "
        raise StorageError(f"{which}the Delta table {path} cannot be read: {problem.message}") from problem
    require_readable(path, log)
    state = DeltaState(path, disk, log)
    _ = state.layout  # refuses columns that cannot be found in files
    return state


def delta_columns(engine: Engine, path: str) -> tuple[Member, ...]:
    return open_table(engine, path).columns


def cursor_of(now: DeltaState) -> dict[str, Any]:
    return {"version": now.version, "table": now.identity}


def delta_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    now = open_table(engine, source.place)
    before: int | None = cursor.get("version")
    if before is None and source.kept == "reference":
        return Change(cursor_of(now), "all rows, by reference", refer(source, now), refer(source, now))
    if before is None or full:
        return compare_table(engine, source, now, held, "all files against all rows")
    if cursor.get("table", now.identity) != now.identity or now.version < before:
        return compare_table(
            engine, source, now, held, "the table was created again: all files against all rows"
        )
    if before == now.version:
        return Change(cursor_of(now), "nothing new", whole=refer(source, now))
    try:
        then = open_table(engine, source.place, before)
    except StorageError as problem:
        raise StorageError(f"{source.name}: {problem.message}", hint=way_out(source)) from problem
    if not same_columns(source, then, now):
        return compare_table(engine, source, now, held, "columns were replaced: all files against all rows")
    why = ""
    found = feed_change(engine, source, then, now)
    if isinstance(found, str):
        why = f" ({found})" if found else ""
    elif found is not None:
        reason = f"the change feed of versions {before + 1} to {now.version}"
        return Change(cursor_of(now), reason, found, refer(source, now))
    segment = load_rows(engine, source, now.disk, file_difference(source, then, now))
    reason = f"the files of versions {before} and {now.version}{why}"
    return Change(cursor_of(now), reason, segment, refer(source, now))


def refer(source: Source, now: DeltaState) -> Segment:
    """All rows of the table as it is now, by reference."""
    return reference(source, cursor_of(now), now.count_rows() if source.kept == "reference" else 0, now.bytes)


def compare_table(engine: Engine, source: Source, now: DeltaState, held: Store, reason: str) -> Change:
    """All rows of the table now, minus all rows that are held."""
    return compare_with_held(
        engine, source, Change(cursor_of(now), reason, whole=refer(source, now)), now, held
    )
