"""Delta tables, read through their log.

    now - then = rows of the files that only `now` has - rows of the files that only `then` has

A table with a change feed says the same more cheaply (`feed`). A table that was made anew under the same path is compared
as a whole. What a reader of plain Parquet files would read wrongly is refused: deletion vectors, column mapping and every
feature that this module does not know.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow
from deltalake import DeltaTable
from pyspark.sql.types import StructType

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import difference
from evercurrent.engine.spark.sources.feed import feed_change
from evercurrent.engine.spark.sources.nodes import Change, Cursor, File, Source, way_out
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import StorageError, UnsupportedError

READABLE = frozenset({"timestampNtz", "vacuumProtocolCheck", "v2Checkpoint"})
"""Features of tables whose rows are still what their Parquet files say."""
CALLED = {"deletionVectors": "deletion vectors", "columnMapping": "column mapping"}
NATIVE = "a session with a reader of its own for it can serve it as a table: db.source(name, table=...)"


def require_readable(path: str, table: DeltaTable) -> None:
    """Refuse a table whose rows are not simply those of its files."""
    features = set(table.protocol().reader_features or ())
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        features.add("columnMapping")
    if "deletionVectors" in features and not pyarrow.table(table.deletion_vectors()).num_rows:
        features.remove("deletionVectors")  # they may be there one day
    for feature in sorted(features - READABLE):
        raise UnsupportedError(
            f"the Delta table {path} uses {CALLED.get(feature, f'the reader feature {feature}')}, "
            "which cannot be read rightly by reading its files",
            hint=NATIVE,
        )


@dataclass(frozen=True)
class State:
    """A Delta table at one version."""

    table: DeltaTable
    version: int
    identity: str
    columns: tuple[Member, ...]
    files: Mapping[str, int | None]  # absolute path: rows, where the log tells
    sizes: Mapping[str, int]

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the log tells."""
        counts = list(self.files.values())
        return None if None in counts else sum(c or 0 for c in counts)

    @property
    def has_feed(self) -> bool:
        return self.table.metadata().configuration.get("delta.enableChangeDataFeed", "false") == "true"

    def list(self, paths: set[str]) -> list[File]:
        return [File(p, self.sizes[p]) for p in sorted(paths)]


def opened(path: str, version: int | None = None) -> State:
    """A Delta table at a version, or at its newest."""
    if not DeltaTable.is_deltatable(path):
        raise StorageError(f"{path} is not a Delta table")
    try:
        table = DeltaTable(path, version=version)
        require_readable(path, table)
        metadata = table.metadata()
        actions = pyarrow.table(table.get_add_actions(flatten=True))
        schema = StructType.fromJson(json.loads(table.schema().to_json()))
    except UnsupportedError:
        raise
    except BaseException as problem:
        # Where its own code breaks, the package raises what is no Exception.
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        if "Unsupported" in str(problem) or "physicalName" in str(problem):
            raise UnsupportedError(
                f"the Delta table {path} cannot be read rightly: {problem}", hint=NATIVE
            ) from problem
        which = "" if version is None else f"version {version} of "
        raise StorageError(f"{which}the Delta table {path} cannot be read: {problem}") from problem
    paths = [absolute(path, p) for p in actions.column("path").to_pylist()]
    require_named_folders(path, metadata.partition_columns, actions, paths)
    return State(
        table,
        table.version(),
        str(metadata.id),
        tuple(Member(f.name, type_of(f.dataType)) for f in schema.fields),
        dict(zip(paths, actions.column("num_records").to_pylist(), strict=True)),
        dict(zip(paths, actions.column("size_bytes").to_pylist(), strict=True)),
    )


def absolute(root: str, path: str) -> str:
    """The path of a file that the log mentions: percent-encoded, relative to the table or a whole address."""
    decoded = unquote(path.removeprefix("file://"))
    return decoded if decoded.startswith("/") else os.path.join(root, decoded)


def require_named_folders(root: str, columns: list[str], actions: pyarrow.Table, paths: list[str]) -> None:
    """Refuse a partitioned table whose folders do not bear the values of its partition columns: Spark reads those."""
    for column in columns:
        values = actions.column(f"partition.{column}").combine_chunks()
        named = [folder_value(os.path.relpath(path, root), column) for path in paths]
        try:
            agrees = pyarrow.array(named, pyarrow.string()).cast(values.type).equals(values)
        except pyarrow.ArrowException:
            agrees = False
        if not agrees:
            raise UnsupportedError(
                f"the folders of the Delta table {root} do not bear the values of its partition column {column}",
                hint=NATIVE,
            )


def folder_value(path: str, column: str) -> str | None:
    """The value that the folders of a file give a column.

    >>> folder_value("day=2024-01-01/k=a%20b/x.parquet", "k")
    'a b'
    """
    for part in path.split(os.sep)[:-1]:
        name, _, value = part.partition("=")
        if unquote(name).lower() == column.lower():
            return None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)
    return ""


def delta_columns(path: str) -> tuple[Member, ...]:
    return opened(path).columns


def delta_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    now = opened(source.place)
    reached = {"version": now.version, "table": now.identity}
    before: int | None = cursor.get("version")
    if before is None or full:
        return compared(engine, source, now, reached, held, "all files against all rows")
    if cursor.get("table", now.identity) != now.identity or now.version < before:
        return compared(
            engine, source, now, reached, held, "the table was made anew: all files against all rows"
        )
    if before == now.version:
        return Change(reached, "nothing new")
    try:
        then = opened(source.place, before)
    except StorageError as problem:
        raise StorageError(f"{source.name}: {problem.message}", hint=way_out(source)) from problem
    why = ""
    if now.has_feed and then.has_feed:
        found = feed_change(engine, source, now.table, before, now.version, then.rows, now.rows)
        if not isinstance(found, str):
            return Change(reached, f"the change feed of versions {before + 1} to {now.version}", found)
        why = f" ({found})"
    gone = set(then.files) - set(now.files)
    missing = [f for f in gone if not os.path.exists(f)]
    if missing:
        raise StorageError(
            f"{source.name}: the Delta table {source.place} has been vacuumed since version {before}: "
            f"{len(missing)} files that are needed to find what has changed are gone",
            hint=way_out(source),
        )
    come = now.list(set(now.files) - set(then.files))
    segment = difference(engine, source, source.place, come, then.list(gone))
    return Change(reached, f"the files of versions {before} and {now.version}{why}", segment)


def compared(engine: Engine, source: Source, now: State, reached: Cursor, held: Store, reason: str) -> Change:
    files = now.list(set(now.files))
    return Change(reached, reason, difference(engine, source, source.place, files, held=held))
