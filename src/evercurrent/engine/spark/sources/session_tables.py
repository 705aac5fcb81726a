"""Tables that the session reads by a reader of its own, as of a version: Delta's engine, and Iceberg's.

Used where we do not read a table ourselves: features that are not known here, tables of Iceberg in the session's catalog (Hive,
REST, Unity), paths that only the session reaches. Nothing is copied: an origin names the version, and is read as of it.

    t at version 7                       SELECT * FROM delta.`/lake/t` VERSION AS OF 7
    what has changed from 7 to 9         the change feed of versions 8 and 9 (Iceberg: the changes of snapshots),
                                         if it accounts for all rows; otherwise rows of version 9 minus rows of version 7

A column of type VARIANT is read as its text in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from evercurrent.data.types import Map, Member, String
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import BYTES_PER_ROW, read_held_rows, total
from evercurrent.engine.spark.sources.nodes import Change, Cursor, LostHistoryError, Source, way_out
from evercurrent.engine.spark.sources.origins import reference
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import spark_type, type_of
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.errors import EvercurrentError, QueryError, StorageError
from evercurrent.frontend.sql.spark_text import quote_name

Kind = Literal["delta", "iceberg"]
CATALOGS = "spark.sql.catalog."
PART = re.compile(r"`(?:[^`]|``)+`|[^.`\s]+")
SIGNS = {"insert": 1, "update_postimage": 1, "update_after": 1}
SIGNS |= {"delete": -1, "update_preimage": -1, "update_before": -1}


def name_parts(name: str) -> list[str]:
    """The parts of a table's name, without backticks.

    >>> name_parts("lake.`a.b`.t")
    ['lake', 'a.b', 't']
    """
    parts = PART.findall(name)
    if ".".join(parts) != name:
        raise QueryError(f"{name!r} is no name of a table", hint="catalog.database.table")
    return [p[1:-1].replace("``", "`") if p.startswith("`") else p for p in parts]


def quote_table(name: str) -> str:
    """The name of a table, with each part in backticks.

    >>> quote_table("lake.t")
    '`lake`.`t`'
    """
    return ".".join(map(quote_name, name_parts(name)))


def whole_name(home: SparkSession, name: str) -> str:
    """The name of a table with its catalog, wherever the user's session is in its catalogs."""
    parts = name_parts(name)
    named = len(parts) > 2 or (len(parts) == 2 and home.conf.get(f"{CATALOGS}{parts[0]}", None) is not None)
    if not named:
        ahead = [home.catalog.currentCatalog()]
        ahead += [home.catalog.currentDatabase()] if len(parts) == 1 else []
        parts = [*ahead, *parts]
    return ".".join(map(quote_name, parts))


@dataclass(frozen=True)
class Native:
    """A table that the session reads: which engine does, and how SQL names it. `path` is empty for one of a catalog."""

    kind: Kind
    address: str
    path: str = ""

    def at(self, session: SparkSession, version: int) -> DataFrame:
        """The rows as of a version."""
        return session.sql(f"SELECT * FROM {self.address} VERSION AS OF {int(version)}")

    def changes(self, session: SparkSession, after: int, until: int) -> DataFrame:
        """What the engine says has changed after one version, until another."""
        if self.kind == "iceberg":
            reader = session.read.option("start-snapshot-id", after).option("end-snapshot-id", until)
            return reader.table(f"{self.address}.`changes`")
        reader = session.read.format("delta").option("readChangeFeed", "true")
        reader = reader.option("startingVersion", after + 1).option("endingVersion", until)
        return reader.load(self.path) if self.path else reader.table(self.address)

    def identity(self, session: SparkSession) -> tuple[str, int]:
        """What tells a table from another one that was created in its place; and its bytes. Snapshots of Iceberg do so alone."""
        if self.kind == "iceberg":
            return "", 0
        about = session.sql(f"DESCRIBE DETAIL {self.address}").collect()[0]
        return str(about["id"]), int(about["sizeInBytes"] or 0)

    def present(self, session: SparkSession) -> int | None:
        """The newest version; None if there is none yet."""
        if self.kind == "delta":
            return int(session.sql(f"DESCRIBE HISTORY {self.address} LIMIT 1").collect()[0]["version"])
        found = session.sql(f"SELECT snapshot_id FROM {self.address}.`refs` WHERE name = 'main'").collect()
        return int(found[0][0]) if found else None

    def columns_replaced(self, session: SparkSession, then: int, now: int) -> bool:
        """Whether a column may be another one under the same name."""
        old, new = self.at(session, then).schema, self.at(session, now).schema
        if shape(old) != shape(new):
            return True
        if self.kind == "delta":
            return False  # its feed refuses such a range itself
        rows = session.sql(
            f"SELECT latest_schema_id FROM {self.address}.`metadata_log_entries` "
            f"WHERE latest_snapshot_id IN ({int(then)}, {int(now)}) GROUP BY latest_schema_id"
        ).collect()
        return len(rows) != 1


def shape(schema: StructType) -> list[tuple[str, str]]:
    return [(f.name.lower(), f.dataType.simpleString()) for f in schema.fields]


def native_path(place: str) -> Native:
    """A Delta table at a path."""
    return Native("delta", f"delta.{quote_name(place)}", place)


def native_table(home: SparkSession, name: str, provider: str) -> Native | None:
    """A table of the session's catalog; None if its format has no versions."""
    if provider == "delta":
        return Native("delta", whole_name(home, name))
    return Native("iceberg", whole_name(home, name)) if provider == "iceberg" else None


def look_again(engine: Engine, native: Native, session: SparkSession) -> None:
    """Makes a session see the table as it is now, in all catalogs that the user's session was told of while it runs.

    A catalog of Iceberg remembers tables, each session on its own.
    """
    for name, value in dict(engine.home.conf.getAll).items():
        if name.startswith(CATALOGS) and session.conf.get(name, None) is None:
            session.conf.set(name, value)
    if not native.path:
        session.catalog.refreshTable(native.address)


def answers(engine: Engine, native: Native) -> bool:
    """Whether the session has a reader for the table."""
    try:
        look_again(engine, native, engine.session)
        version = native.present(engine.session)
        if version is not None:
            _ = native.at(engine.session, version).schema
        return True
    except Exception:  # whatever a reader says that is not there, or cannot read it
        return False


def member(name: str, t: DataType) -> Member:
    """A column; one of type VARIANT is a text."""
    return Member(name, String() if t.typeName() == "variant" else type_of(t))


def native_columns(engine: Engine, native: Native) -> tuple[Member, ...]:
    look_again(engine, native, engine.session)
    schema = engine.session.table(native.address).schema
    return tuple(member(f.name, f.dataType) for f in schema.fields)


def weigh(frame: DataFrame, columns: Sequence[Member], weight: Column) -> DataFrame:
    """The columns of a source as `c0, c1, ...`, with a weight; a column that is not there is NULL."""
    there = {f.name.lower(): f for f in frame.schema.fields}
    chosen = []
    for i, c in enumerate(columns):
        found, wanted = there.get(c.name.lower()), spark_type(c.type)
        if found is None:
            value = F.lit(None).cast(wanted)
        else:
            value = frame[quote_name(found.name)]
            value = F.to_json(value) if found.dataType.typeName() == "variant" else value
            value = one_zero(value.cast(wanted), c.type)
        chosen.append(value.alias(f"c{i}"))
    return frame.select(*chosen, weight.cast("bigint").alias(W))


def native_of(source: Source, cursor: Cursor) -> Native:
    """The table that an origin names; its name is quoted here, whatever was stored."""
    if source.format == "delta":
        return native_path(source.place)
    return Native("iceberg" if cursor["kind"] == "iceberg" else "delta", quote_table(source.place))


def native_rows(engine: Engine, session: SparkSession, source: Source, cursor: Cursor) -> DataFrame:
    """The rows of an origin that the session reads, as `c0, c1, ..., w`."""
    native = native_of(source, cursor)
    try:
        look_again(engine, native, session)
        if cursor.get("table") and native.identity(session)[0] != cursor["table"]:
            raise LostHistoryError(f"{source.name}: {source.place} was created again", hint=way_out(source))
        return weigh(native.at(session, cursor["version"]), source.columns, F.lit(1))
    except EvercurrentError:
        raise
    except Exception as problem:
        raise LostHistoryError(
            f"{source.name}: the session cannot read version {cursor['version']} of {source.place}: {first_line(problem)}",
            hint=way_out(source),
        ) from problem


def first_line(problem: BaseException) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def session_change(
    engine: Engine, source: Source, native: Native, cursor: Cursor, held: Store, full: bool
) -> Change:
    """What has changed in a table since the cursor."""
    session = engine.session
    try:
        look_again(engine, native, session)
        version, (identity, size) = native.present(session), native.identity(session)
        if version is None:
            return Change({}, "nothing new")
        before = cursor.get("version")
        same = cursor.get("table", identity) == identity
        if before == version and same and not full:
            return Change(dict(cursor), "nothing new", whole=refer(source, native, cursor, size))
        rows = native.at(session, version).count()
    except Exception as problem:
        raise StorageError(
            f"{source.name}: the session cannot read {source.place}: {first_line(problem)}"
        ) from problem
    reached = {"version": version, "table": identity, "rows": rows, "reader": "session", "kind": native.kind}
    whole = refer(source, native, reached, size)
    if before is None and source.kept == "reference" and not full:
        return Change(reached, "all rows, by reference", whole, whole)
    if before is None or full or not same or (native.kind == "delta" and version < before):
        return compare(
            engine, source, native, Change(reached, "all rows against all rows", whole=whole), held
        )
    found = feed(engine, source, native, cursor, reached)
    if isinstance(found, Segment):
        return Change(reached, f"the session's change feed of {before} to {version}", found, whole)
    segment = rows_between(engine, source, native, before, version, rows)
    return Change(reached, f"the rows of {before} and {version}, by the session ({found})", segment, whole)


def refer(source: Source, native: Native, cursor: Cursor, size: int) -> Segment:
    """All rows at a cursor, by reference."""
    if source.kept != "reference" or "rows" not in cursor:
        return reference(source, cursor, 0, size)
    rows = int(cursor["rows"])
    at = source if native.path else replace(source, format="table", place=native.address)
    return reference(at, cursor, rows, size or rows * BYTES_PER_ROW)


def feed(engine: Engine, source: Source, native: Native, then: Cursor, now: Cursor) -> Segment | str:
    """The change by the engine's own feed; or why that does not tell it."""
    session, old, new = engine.session, then["version"], now["version"]
    try:
        if native.columns_replaced(session, old, new):
            return "columns changed"
        frame = native.changes(session, old, new)
        kind = F.lower(F.col("_change_type"))
        sign: Column = reduce(lambda w, k: w.when(kind == k, SIGNS[k]), SIGNS, F.when(F.lit(False), 0))
        segment, net = collect(engine, source, weigh(frame, source.columns, sign), now["rows"] // 8)
    except EvercurrentError:
        raise
    except Exception as problem:
        return f"no change feed: {first_line(problem)}"
    if "rows" in then and net != now["rows"] - then["rows"]:
        return "the change feed does not account for all rows"
    return segment


def rows_between(engine: Engine, source: Source, native: Native, old: int, new: int, rows: int) -> Segment:
    """Rows of one version, minus rows of another."""
    session = engine.session
    try:
        come = weigh(native.at(session, new), source.columns, F.lit(1))
        gone = weigh(native.at(session, old), source.columns, F.lit(-1))
        return collect(engine, source, come.unionByName(gone), 2 * rows)[0]
    except EvercurrentError:
        raise
    except Exception as problem:
        raise StorageError(
            f"{source.name}: the session cannot compare versions {old} and {new} of {source.place}: {first_line(problem)}",
            hint=way_out(source),
        ) from problem


def collect(engine: Engine, source: Source, frame: DataFrame, rows: int) -> tuple[Segment, int]:
    """Weighted rows as a segment, each row once; and the sum of their weights."""
    schema = row_schema([c.type for c in source.columns])
    context = engine.job_context(rows)
    if not any(isinstance(c.type, Map) for c in source.columns):
        frame = consolidate(frame, schema)
    name = scratch_store(source.name, "load")
    segment = total(engine, source, context.collect({name: frame})[name])
    if not segment.rows:
        return segment, 0
    net = context.read(schema, [segment]).agg(F.sum(W)).collect()[0][0]
    return segment, int(net)


def compare(engine: Engine, source: Source, native: Native, change: Change, held: Store) -> Change:
    """All rows of the table now, minus all rows that are held. `lost`, if what is referred to cannot be read."""
    now: Any = weigh(native.at(engine.session, change.cursor["version"]), source.columns, F.lit(1))
    segment, _ = collect(engine, source, now, change.cursor["rows"])
    try:
        before = read_held_rows(engine, source, held)
    except Exception:
        if source.kept != "reference":
            raise
        return replace(change, lost=True)
    return replace(change, segment=total(engine, source, segment, before))
