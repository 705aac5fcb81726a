"""Folders of Parquet files, on any file system that the session reads.

    files came, none went           the rows of the new files
    files went or were rewritten    all rows now minus all rows that we hold

A file is known by its size, its time of change and, on a local disk, its inode, so that one that is rewritten in place is
seen. The folder's columns are those of all its files together, as Spark merges them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from evercurrent.data.types import Member
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import difference
from evercurrent.engine.spark.sources.nodes import Change, Cursor, File, Source
from evercurrent.engine.spark.storage.places import SCHEMES
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import EvercurrentError, StorageError, UnsupportedError

Marks = dict[str, list[int]]
"""Size, time of change and perhaps inode, by the path relative to the folder."""


def is_local(path: str) -> bool:
    """Whether a path is one of the driver's own file system."""
    return not re.match(r"^[a-zA-Z][a-zA-Z0-9+.-]+:", path)


def parquet_files(engine: Engine, path: str) -> Marks:
    return list_marks(engine, path, ".parquet")


def list_marks(engine: Engine, path: str, ending: str) -> Marks:
    """The files of a folder whose names end so."""
    return local_files(path, ending) if is_local(path) else distant_files(engine, path, ending)


def is_data(relative: str, ending: str) -> bool:
    """Whether a file is one of the data: names that begin with _ or . are those of writers at work."""
    return relative.endswith(ending) and not any(p.startswith(("_", ".")) for p in relative.split("/"))


def local_files(path: str, ending: str) -> Marks:
    root = Path(path)
    if not root.is_dir():
        raise StorageError(f"there is no folder {path}")
    found = {}
    for p in sorted(root.rglob(f"*{ending}")):
        relative = p.relative_to(root).as_posix()
        if is_data(relative, ending) and p.is_file():
            status = p.stat()
            found[relative] = [status.st_size, status.st_mtime_ns, status.st_ino]
    return found


def distant_files(engine: Engine, path: str, ending: str) -> Marks:
    """The files of a folder on a file system that Hadoop's clients know: hdfs, s3a, abfss, viewfs, ..."""
    try:
        found = door_of(engine.session).list_files(path)
        return {name: found[name] for name in sorted(found) if is_data(name, ending)}
    except Exception as problem:
        said = next(
            (line for line in str(problem).splitlines() if "Exception" in line), type(problem).__name__
        )
        raise StorageError(
            f"the folder {path} cannot be listed: {said.strip(': ')}",
            hint="the session needs the connector of this file system (spark.jars.packages) and its credentials",
        ) from problem


def list_files(path: str, marks: Marks, names: Sequence[str]) -> list[File]:
    return [File(f"{path.rstrip('/')}/{name}", marks[name][0]) for name in names]


def merge_columns(engine: Engine, path: str, files: Sequence[File]) -> tuple[Member, ...]:
    """The columns of files together."""
    if not files:
        raise StorageError(f"there are no Parquet files in {path}")
    reader = engine.session.read.option("basePath", path).option("mergeSchema", "true")
    try:
        schema = reader.option("__globPaths__", "false").parquet(*(f.path for f in files)).schema
        return tuple(Member(f.name, type_of(f.dataType)) for f in schema.fields)
    except EvercurrentError:
        raise
    except Exception as problem:
        raise StorageError(
            f"the files of {path} do not agree on their columns: {str(problem).splitlines()[0]}"
        ) from problem


def parquet_columns(engine: Engine, path: str, cursor: Cursor) -> tuple[tuple[Member, ...], bool]:
    """The columns of the files that we have not seen (all files if some were rewritten or have gone), and whether
    these are all files."""
    marks = parquet_files(engine, path)
    known: Marks = cursor.get("files", {})
    if marks == known:
        return (), False
    kept = bool(known) and all(marks.get(n) == m for n, m in known.items())
    names = [n for n in marks if not kept or n not in known]
    if not names and known:
        return (), False
    return merge_columns(engine, path, list_files(path, marks, names)), not kept


def parquet_change(engine: Engine, source: Source, cursor: Cursor, held: Store, full: bool) -> Change:
    marks = parquet_files(engine, source.place)
    known: Marks = cursor.get("files", {})
    reached = {"files": marks}
    if marks == known and not full:
        return Change(reached, "nothing new")
    kept = all(marks.get(name) == mark for name, mark in known.items())
    names = [n for n in marks if not kept or full or n not in known]
    files = list_files(source.place, marks, names)
    if kept and not full:
        return Change(reached, f"{len(files)} new files", difference(engine, source, source.place, files))
    return Change(
        reached,
        "files went or changed: all files against all rows" if not full else "all files against all rows",
        difference(engine, source, source.place, files, held=held),
    )


def require_place(path: str, format: str) -> str:
    """A path in the form in which it is kept; refuses what cannot be served."""
    text = os.fspath(path)
    if text.startswith("file:"):
        text = "/" + text.removeprefix("file:").lstrip("/")
    if is_local(text):
        return os.path.abspath(text)
    scheme = text.split(":")[0].lower()
    if format == "delta" and scheme in SCHEMES:
        return f"{SCHEMES[scheme]}:{text.split(':', 1)[1].rstrip('/')}"
    if format == "iceberg":
        raise UnsupportedError(
            f"an Iceberg table at {scheme}: is not read by its path",
            hint="name it as a table of the session's catalog: db.source(name, table=...)",
        )
    return text.rstrip("/")
