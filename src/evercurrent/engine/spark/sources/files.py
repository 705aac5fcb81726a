"""Folders of files that Spark reads by a format: JSON, CSV, ORC, text, or Parquet with columns of one's own.

    db.source("clicks", format="files", path="lake/clicks", options={"format": "json", "schema": "page STRING, at TIMESTAMP"})
    {"page": "/home", "at": "2026-01-31T10:00:00Z"}        ('/home', 2026-01-31 10:00:00)

Changes are found as for folders of Parquet files: the rows of new files, or everything if files were removed or rewritten. The columns
are those of the option `schema`; all other options are Spark's, for its reader of the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.errors import ParseException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import load_frame, read_held_rows, total
from evercurrent.engine.spark.sources.nodes import Change, Cursor, File, Source
from evercurrent.engine.spark.sources.parquet import Marks, list_marks
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import QueryError

READ_BY_SPARK = ("json", "csv", "orc", "text", "parquet", "avro", "xml")


def require_file_options(name: str, options: Mapping[str, str]) -> None:
    if options.get("format") not in READ_BY_SPARK:
        raise QueryError(
            f"the source {name}: the option format must be one of {', '.join(READ_BY_SPARK)}",
            hint="db.source(name, format='files', path=..., options={'format': 'json', 'schema': 'page STRING'})",
        )
    if "schema" not in options:
        raise QueryError(
            f"the source {name}: files need the option schema",
            hint="options={'schema': 'page STRING, at TIMESTAMP'}",
        )


def schema_of(source: Source) -> StructType:
    try:
        found = StructType.fromDDL(source.options["schema"])
    except ParseException as problem:
        raise QueryError(
            f"the source {source.name}: its schema cannot be read: {str(problem).splitlines()[0]}"
        ) from problem
    if not isinstance(found, StructType):
        raise QueryError(
            f"the source {source.name}: its schema must name columns", hint="'page STRING, at TIMESTAMP'"
        )
    return found


def files_columns(source: Source) -> tuple[Member, ...]:
    return tuple(Member(f.name, type_of(f.dataType)) for f in schema_of(source).fields)


def read(engine: Engine, source: Source, files: Sequence[File]) -> DataFrame:
    """The rows of files, as the user's own session would read them."""
    own = {k: v for k, v in source.options.items() if k not in ("format", "schema")}
    zone = str(engine.home.conf.get("spark.sql.session.timeZone"))
    reader = engine.session.read.format(source.options["format"]).options(**{"timeZone": zone, **own})
    reader = (
        reader.schema(schema_of(source)).option("basePath", source.place).option("__globPaths__", "false")
    )
    return reader.load([f.path for f in files])


def files_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    marks: Marks = list_marks(engine, source.place, "")
    known: Marks = cursor.get("files", {})
    reached = {"files": marks}
    if marks == known and not full:
        return Change(reached, "nothing new")
    appended = not full and all(marks.get(name) == mark for name, mark in known.items())
    names = [n for n in marks if not appended or n not in known]
    files = [File(f"{source.place.rstrip('/')}/{n}", marks[n][0]) for n in names]
    parts = []
    if files:
        parts.append(load_frame(engine, source, read(engine, source, files), 1, sum(f.bytes for f in files)))
    if not appended:
        parts.append(read_held_rows(engine, source, held))
    reason = f"{len(files)} new files" if appended else "files went or changed: all files against all rows"
    return Change(reached, reason, total(engine, source, *parts))
