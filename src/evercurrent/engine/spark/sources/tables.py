"""Tables of the session's catalog, whatever their format.

    Delta, with a location       as a Delta table at that location
    Delta, Iceberg               as of versions, by the session's own reader (`session_tables`)
    Parquet, files known         by the difference of files, as Spark lists them
    other file formats           if no file has changed: nothing; otherwise all rows now minus all rows that we hold
    anything else                all rows now minus all rows that we hold, at every refresh

The last is what one can do for a view, a foreign table or a temporary one; the record of a run says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from stat import S_ISREG
from typing import Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.frames import take_in
from evercurrent.engine.spark.sources.delta import delta_change, delta_columns
from evercurrent.engine.spark.sources.difference import difference, read_held_rows, total
from evercurrent.engine.spark.sources.nodes import Change, Cursor, File, Source
from evercurrent.engine.spark.sources.parquet import Marks, is_local
from evercurrent.engine.spark.sources.session_tables import (
    Native,
    answers,
    member,
    native_table,
    quote_table,
    session_change,
)
from evercurrent.engine.spark.storage.files import EMPTY
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError, StorageError, UnsupportedError


@dataclass(frozen=True)
class TableDescription:
    """What a catalog says of a table; a view or a temporary table has neither provider nor location."""

    frame: DataFrame
    provider: str
    location: str

    @property
    def columns(self) -> tuple[Member, ...]:
        return tuple(member(f.name, f.dataType) for f in self.frame.schema.fields)


def describe_table(session: SparkSession, name: str) -> TableDescription:
    quoted = quote_table(name)
    try:
        # Spark remembers listings of files: what others have written since is not among them.
        session.catalog.refreshTable(quoted)
        about = {row[0]: row[1] for row in session.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect()}
        provider, location = provider_and_location(about)
        return TableDescription(session.table(quoted), provider, location)
    except AnalysisException as problem:
        raise QueryError(
            f"the session's catalog has no table {name}: {str(problem).splitlines()[0]}",
            hint="name it as in spark.table(...), with its catalog and database",
        ) from problem


def provider_and_location(about: Mapping[str, Any]) -> tuple[str, str]:
    """The format and the place of a table, from the lines of DESCRIBE TABLE EXTENDED; each is empty if unknown."""
    location = unquote(str(about.get("Location", "")).removeprefix("file:"))
    if location.startswith("//"):
        location = "/" + location.lstrip("/")
    return str(about.get("Provider", "")).lower(), location


def own_reader(engine: Engine, found: TableDescription) -> bool:
    """Whether we read a Delta table ourselves: it is on a disk that we see, and has no feature that we refuse."""
    if found.provider != "delta" or not found.location or not is_local(found.location):
        return False
    try:
        delta_columns(engine, found.location)
    except UnsupportedError:
        return False
    return True


def session_reader(engine: Engine, name: str, found: TableDescription) -> Native | None:
    """The table as the session reads it at its versions; None if it has none."""
    native = native_table(engine.home, name, found.provider)
    return native if native is not None and answers(engine, native) else None


def has_versions(engine: Engine, name: str) -> bool:
    """Whether a table can be read as of a version, by us or by the session."""
    found = describe_table(engine.home, name)
    return own_reader(engine, found) or session_reader(engine, name, found) is not None


def table_columns(engine: Engine, name: str) -> tuple[Member, ...]:
    return describe_table(engine.home, name).columns


def table_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    found = describe_table(engine.home, source.place)
    if own_reader(engine, found):
        at = replace(source, format="delta", place=found.location)
        inner = delta_change(engine, at, cursor if "version" in cursor else {}, held, full)
        return replace(inner, reason=f"Delta: {inner.reason}")
    native = session_reader(engine, source.place, found)
    if native is not None:
        return session_change(engine, source, native, cursor if "version" in cursor else {}, held, full)
    if source.kept == "reference":
        raise StorageError(
            f"{source.name}: {source.place} is no longer a table that can be read as of a version",
            hint=f"nothing was changed; DROP TABLE {source.name} CASCADE, then declare the source and its views again",
        )
    marks = file_marks(found)
    if marks is None:
        return by_content(engine, source, found, {}, held, "the table's content against all rows")
    known: Marks = cursor.get("files", {})
    reached = {"files": marks}
    if marks == known and not full:
        return Change(reached, "nothing new")
    under = all(path.startswith(found.location.rstrip("/") + "/") for path in marks)
    if found.provider != "parquet" or not under or full or any(marks.get(p) != m for p, m in known.items()):
        return by_content(
            engine, source, found, reached, held, "files changed: all rows now against all rows"
        )
    files = [File(path, mark[0]) for path, mark in marks.items() if path not in known]
    return Change(reached, f"{len(files)} new files", difference(engine, source, found.location, files))


def file_marks(found: TableDescription) -> Marks | None:
    """The files of a table with size and time of change; None where it is not made of files that we can see."""
    if not found.provider or not found.location or not is_local(found.location):
        return None
    paths = [unquote(p.removeprefix("file://")) for p in found.frame.inputFiles()]
    try:
        marks = {}
        for path in sorted(paths):
            status = os.stat(path)
            if not S_ISREG(status.st_mode):
                return None  # Spark names the folder of a table that only Hive reads, not its files
            marks[path] = [status.st_size, status.st_mtime_ns, status.st_ino]
        return marks
    except OSError:
        return None


def by_content(
    engine: Engine, source: Source, found: TableDescription, reached: dict[str, Any], held: Store, reason: str
) -> Change:
    """All rows of the table now, minus all rows that we hold."""
    there = {c.lower(): c for c in found.frame.columns}
    known = found.frame.select(*(f"`{there[c.name.lower()]}`" for c in source.columns))
    store = table_store(source.name)
    now = take_in(engine, store, source.name, source.columns, known, False)
    segment = total(engine, source, now, read_held_rows(engine, source, held))
    return Change(reached, reason, segment if segment.rows else EMPTY)
