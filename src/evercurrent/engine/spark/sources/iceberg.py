"""Iceberg tables, by the difference of two snapshots' files, through the package `pyiceberg`.

    now - then = rows of the files that only `now` has - rows of the files that only `then` has

Spark reads the files by the ids that Iceberg gives columns, so a column that was renamed or whose place was taken by
another is what the table says it is. A snapshot with delete files (merge on read) is refused: its rows are not simply
those of its files. A table is found in a catalog that `pyiceberg` knows, or in a folder with a version hint; a folder
without one does not say which of its metadata is committed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import difference
from evercurrent.engine.spark.sources.nodes import Change, Cursor, File, Source, way_out
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
class State:
    """An Iceberg table at one snapshot; `snapshot` is None while it has none."""

    snapshot: int | None
    identity: str
    schema: spark.StructType
    ids: Mapping[str, int]
    files: Mapping[str, int]

    def list(self, paths: set[str]) -> list[File]:
        return [File(p, self.files[p]) for p in sorted(paths)]


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


def loaded_table(source: Source) -> Any:
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


def opened(source: Source, snapshot: int | None = None) -> State:
    """The table at a snapshot, or at its present one; its columns are the present ones in any case."""
    table = loaded_table(source)
    current = table.current_snapshot()
    chosen = snapshot if snapshot is not None else (current.snapshot_id if current else None)
    files = {}
    if chosen is not None:
        if table.metadata.snapshot_by_id(chosen) is None:
            # The package would say that an unknown snapshot has no files.
            raise StorageError(f"the snapshot {chosen} of the Iceberg table {source.place} has expired")
        try:
            tasks = list(table.scan(snapshot_id=chosen).plan_files())
        except Exception as problem:
            raise StorageError(
                f"the snapshot {chosen} of the Iceberg table {source.place} cannot be read: {problem}"
            ) from problem
        for task in tasks:
            if task.delete_files:
                raise UnsupportedError(
                    f"the Iceberg table {source.place} has delete files (merge on read), "
                    "which cannot be read rightly by reading its files",
                    hint="compact it (rewrite_data_files), or serve it by a session with a reader of its own: "
                    "db.source(name, table=...)",
                )
            if str(task.file.file_format.value).upper() != "PARQUET":
                raise UnsupportedError(
                    f"the Iceberg table {source.place} has files of format {task.file.file_format.value}; "
                    "only Parquet can be read"
                )
            files[task.file.file_path.removeprefix("file://")] = task.file.file_size_in_bytes
    fields = table.schema().fields
    schema = spark.StructType([field_of(source, f) for f in fields])
    return State(chosen, str(table.metadata.table_uuid), schema, {f.name: f.field_id for f in fields}, files)


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


def iceberg_columns(source: Source) -> tuple[Member, ...]:
    return tuple(Member(f.name, type_of(f.dataType)) for f in opened(source).schema.fields)


def iceberg_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    now = opened(source)
    reached = {"snapshot": now.snapshot, "table": now.identity, "ids": dict(now.ids)}
    before = cursor.get("snapshot")
    engine.session.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    root = os.path.commonpath([os.path.dirname(f) for f in now.files]) if now.files else "/"
    taken = any(now.ids.get(name, i) != i for name, i in cursor.get("ids", {}).items())
    if before is None or full or taken or cursor.get("table") != now.identity:
        if before is None and now.snapshot is None and not full:
            return Change(reached, "nothing new")
        reason = "all files against all rows"
        files = now.list(set(now.files))
        return Change(reached, reason, difference(engine, source, root, files, held=held, schema=now.schema))
    if before == now.snapshot:
        return Change(reached, "nothing new")
    try:
        then = opened(source, before)
    except StorageError as problem:
        raise StorageError(f"{source.name}: {problem.message}", hint=way_out(source)) from problem
    gone = set(then.files) - set(now.files)
    if any(not os.path.exists(f) for f in gone):
        raise StorageError(
            f"{source.name}: files of snapshot {before} of the Iceberg table {source.place} are gone",
            hint=way_out(source),
        )
    root = os.path.commonpath([os.path.dirname(f) for f in (*now.files, *gone)] or ["/"])
    come = now.list(set(now.files) - set(then.files))
    segment = difference(engine, source, root, come, then.list(gone), schema=now.schema)
    return Change(reached, f"the files of snapshots {before} and {now.snapshot}", segment)
