"""Iceberg tables, by the difference of two snapshots' files, through the package `pyiceberg`.

Files are read by the ids that Iceberg gives columns, so a renamed column, and a new one under an old name, are read as the table
means them. Rows that delete files delete are left out (`iceberg_deletes`). A table is found in a catalog that `pyiceberg`
knows, or in a folder with a version hint; a folder without one does not say which of its metadata is committed.

    snapshot 1: a.parquet       snapshot 2: a.parquet without row 5, b.parquet       change: rows of b minus row 5 of a
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyroaring import BitMap64
from pyspark.sql import types as spark

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.file_difference import compare_with_held, file_difference
from evercurrent.engine.spark.sources.iceberg_deletes import DeleteFile, positions_deleted
from evercurrent.engine.spark.sources.nodes import Change, Cursor, Source, way_out
from evercurrent.engine.spark.sources.origins import reference
from evercurrent.engine.spark.sources.pieces import Layout, Piece, plain_path
from evercurrent.engine.spark.sources.places import source_disk
from evercurrent.engine.spark.sources.reading import load_rows
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import QueryError, StorageError, UnsupportedError

SIMPLE: Mapping[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
    "binary": spark.BinaryType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampNTZType(),
    "timestamptz": spark.TimestampType(),
}


@dataclass(frozen=True)
class IcebergFile:
    """A data file: its address as the table names it, and the files that may delete rows of it."""

    raw: str
    bytes: int
    rows: int
    deletes: tuple[DeleteFile, ...] = ()


@dataclass(frozen=True)
class IcebergState:
    """An Iceberg table at one snapshot; `snapshot` is None while it has none."""

    disk: Disk
    snapshot: int | None
    identity: str
    layout: Layout
    ids: Mapping[str, int]
    files: Mapping[str, IcebergFile]

    @property
    def named(self) -> str:
        return f"snapshot {self.snapshot}"

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files.values())

    def count_rows(self) -> int:
        """How many rows there are."""
        return sum(f.rows - len(self.find_deleted(p) or ()) for p, f in self.files.items())

    def marks(self, path: str) -> object:
        return self.files[path].deletes

    def find_deleted(self, path: str) -> BitMap64 | None:
        file = self.files[path]
        return positions_deleted(path, file.raw, file.deletes, self.disk.map) if file.deletes else None

    def piece(self, path: str, sign: int = 1) -> Piece:
        return Piece(path, self.files[path].bytes, sign, skipped=self.find_deleted(path))


def require_options(options: Mapping[str, str]) -> None:
    """Definitions are kept in the warehouse for everyone to read: no secrets among them, and no code to import."""
    for name in options:
        if re.search(r"impl|plugin|signer|class", name, re.IGNORECASE):
            raise QueryError(
                f"the option {name} names code that pyiceberg would import, and a warehouse is data",
                hint="put it into pyiceberg's own configuration (.pyiceberg.yaml or PYICEBERG_CATALOG__...)",
            )
        if re.search(r"secret|token|credential|password", name, re.IGNORECASE):
            raise QueryError(
                f"the option {name} would be kept in the warehouse, readable to all who read it",
                hint="put it into pyiceberg's own configuration (.pyiceberg.yaml or PYICEBERG_CATALOG__...)",
            )


def load_table(source: Source) -> Any:
    try:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.table import StaticTable
    except ImportError as problem:
        raise UnsupportedError(
            "Iceberg tables are read through the package pyiceberg, which is not installed",
            hint="pip install 'evercurrent[iceberg]'",
        ) from problem
    try:
        if os.path.isabs(source.place):
            return StaticTable.from_metadata(source.place)
        require_options(source.options)
        properties = {k: v for k, v in source.options.items() if k != "catalog"}
        return load_catalog(source.options.get("catalog", "default"), **properties).load_table(source.place)
    except QueryError:
        raise
    except Exception as problem:
        raise StorageError(
            f"the Iceberg table {source.place} cannot be opened: {problem}",
            hint="name it in its catalog: db.source(name, format='iceberg', table='db.name', options={...}); "
            "a folder must have metadata/version-hint.text",
        ) from problem


def open_table(
    engine: Engine, source: Source, snapshot: int | None = None, identity: str | None = None
) -> IcebergState:
    """The table at a snapshot, or at its present one; its columns are the present ones in any case."""
    table = load_table(source)
    own = str(table.metadata.table_uuid)
    if identity is not None and identity != own:
        raise StorageError(f"the Iceberg table {source.place} was created again")
    current = table.current_snapshot()
    chosen = snapshot if snapshot is not None else (current.snapshot_id if current else None)
    files: dict[str, IcebergFile] = {}
    if chosen is not None:
        found = table.metadata.snapshot_by_id(chosen)
        if found is None:
            # The package would say that an unknown snapshot has no files.
            raise StorageError(f"the snapshot {chosen} of the Iceberg table {source.place} has expired")
        try:
            files = plan_files(source, table, found)
        except UnsupportedError:
            raise
        except Exception as problem:
            raise StorageError(
                f"the snapshot {chosen} of the Iceberg table {source.place} cannot be read: {problem}"
            ) from problem
    fields = table.schema().fields
    for f in fields:
        if getattr(f, "initial_default", None) is not None:
            raise UnsupportedError(
                f"the column {f.name} of the Iceberg table {source.place} has a default for old rows"
            )
    schema = spark.StructType([field_of(source, f) for f in fields])
    layout = Layout(tuple(f.name for f in fields), schema, by_id=True)
    disk = source_disk(engine.session, engine.folder, plain_path(table.metadata.location))
    return IcebergState(disk, chosen, own, layout, {f.name: f.field_id for f in fields}, files)


def plan_files(source: Source, table: Any, snapshot: Any) -> dict[str, IcebergFile]:
    """The data files of a snapshot, each with the files that may delete rows of it."""
    data: list[tuple[Any, int, object]] = []
    deletes: list[DeleteFile] = []
    for manifest in snapshot.manifests(table.io):
        unpartitioned = not table.metadata.specs()[manifest.partition_spec_id].fields
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file, sequence = entry.data_file, entry.sequence_number or 0
            kind, format = file.content.name, str(file.file_format.value).upper()
            where: object = (manifest.partition_spec_id, repr(file.partition))
            if format not in ("PARQUET", "PUFFIN"):
                raise UnsupportedError(
                    f"the Iceberg table {source.place} has files of format {format}; only Parquet can be read"
                )
            if kind == "DATA":
                data.append((file, sequence, where))
            elif kind == "EQUALITY_DELETES":
                over = None if unpartitioned else where
                fields = tuple(file.equality_ids or ())
                deletes.append(DeleteFile(plain_path(file.file_path), "equality", sequence, over, fields))
            else:
                way = "vector" if format == "PUFFIN" else "positions"
                deletes.append(DeleteFile(plain_path(file.file_path), way, sequence, where))
    found = {}
    for file, sequence, where in data:
        own = tuple(d for d in deletes if d.applies(sequence, where))
        path = plain_path(file.file_path)
        found[path] = IcebergFile(file.file_path, file.file_size_in_bytes, file.record_count, own)
    return found


def field_of(source: Source, f: Any) -> spark.StructField:
    return spark.StructField(
        f.name, spark_of(source, f.name, f.field_type), metadata={"parquet.field.id": f.field_id}
    )


def spark_of(source: Source, name: str, t: Any) -> spark.DataType:
    """Spark's type for one of Iceberg's, with the ids of its fields."""
    from pyiceberg import types as iceberg

    match t:
        case iceberg.DecimalType():
            return spark.DecimalType(t.precision, t.scale)
        case iceberg.StructType():
            return spark.StructType([field_of(source, f) for f in t.fields])
        case iceberg.ListType():
            return spark.ArrayType(spark_of(source, name, t.element_type))
        case iceberg.MapType():
            return spark.MapType(spark_of(source, name, t.key_type), spark_of(source, name, t.value_type))
        case iceberg.FixedType():
            return spark.BinaryType()
        case _ if str(t) in SIMPLE:
            return SIMPLE[str(t)]
        case _:
            raise UnsupportedError(
                f"the column {name} of the Iceberg table {source.place} is of type {t}, which cannot be read yet"
            )


def iceberg_columns(engine: Engine, source: Source) -> tuple[Member, ...]:
    return tuple(Member(f.name, type_of(f.dataType)) for f in open_table(engine, source).layout.schema.fields)


def cursor_of(now: IcebergState) -> dict[str, Any]:
    return {"snapshot": now.snapshot, "table": now.identity, "ids": dict(now.ids)}


def refer(source: Source, now: IcebergState) -> Segment:
    """All rows of the table as it is now, by reference."""
    return reference(source, cursor_of(now), now.count_rows() if source.kept == "reference" else 0, now.bytes)


def iceberg_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    now = open_table(engine, source)
    before = cursor.get("snapshot")
    replaced = any(now.ids.get(name, i) != i for name, i in cursor.get("ids", {}).items())
    if before is None and not full:
        if now.snapshot is None:
            return Change(cursor_of(now), "nothing new")
        if source.kept == "reference":
            return Change(cursor_of(now), "all rows, by reference", refer(source, now), refer(source, now))
    if before is None or full or replaced or cursor.get("table") != now.identity:
        change = Change(cursor_of(now), "all files against all rows", whole=refer(source, now))
        return compare_with_held(engine, source, change, now, held)
    if before == now.snapshot:
        return Change(cursor_of(now), "nothing new", whole=refer(source, now))
    try:
        then = open_table(engine, source, before)
    except StorageError as problem:
        raise StorageError(f"{source.name}: {problem.message}", hint=way_out(source)) from problem
    segment = load_rows(engine, source, now.disk, file_difference(source, then, now))
    reason = f"the files of snapshots {before} and {now.snapshot}"
    return Change(cursor_of(now), reason, segment, refer(source, now))
