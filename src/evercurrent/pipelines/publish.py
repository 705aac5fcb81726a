"""Rows of the warehouse's views into the tables of the session's catalog.

Whoever reads the tables sees what Spark's own runner would have written. A table follows its view by the view's delta: a file that
holds deleted rows is written again without them, inserted rows are a new file, other files stay. What we last wrote is noted in
`pipeline/tables.json` in the warehouse; if the table's files are not those, or the note says that a write was interrupted, all
rows are written.

    noted: version 4, files a, b        view at version 6, files a, b        the changes of 5 and 6 are written
    noted: version 4, files a, b        view at version 6, files a, c        all rows are written
"""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from evercurrent.catalog.nodes import View
from evercurrent.data.types import Member
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.declarative.definitions import Name, show
from evercurrent.engine.spark.declarative.tables import StoredTable, overwrite, refresh_listing
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.storage.delta_tables import (
    Target,
    may_hold,
    read_file,
    table_of,
    without,
)
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.stored_state import Store, sum_of
from evercurrent.engine.spark.translate.delta_types import find_published_schema
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.changes_listed import changes_since

ROWS_PER_FILE = 250_000
FEW_ROWS = 50_000
"""So many rows the driver writes by itself, one by one."""
ARROW_BYTES = 1_000_000_000
"""Views of at most this number of stored bytes are written by the driver, file by file, if each row is stored once."""


class Notes:
    """What was last written to each table: the version, the location and the files."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tables.json"
        self.notes: dict[str, dict[str, Any]] = (
            json.loads(self.path.read_text()) if self.path.is_file() else {}
        )

    @property
    def made(self) -> list[tuple[str, str]]:
        """The views and sources that earlier runs have defined: kinds and names."""
        return [(kind, name) for kind, name in self.notes.get("", {}).get("made", ())]

    def put_made(self, made: Sequence[tuple[str, str]]) -> None:
        if self.made != list(made):
            self.put((), {"made": made})

    def of(self, name: Name) -> dict[str, Any]:
        return self.notes.get(show(name), {})

    def put(self, name: Name, note: Mapping[str, Any]) -> None:
        self.notes[show(name)] = dict(note)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w") as file:
            json.dump(self.notes, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)


def listing(folder: Path) -> dict[str, list[int]]:
    """The data files of a table: size and time of change."""
    found = {}
    for p in sorted(folder.glob("*")):
        if p.is_file() and not p.name.startswith(("_", ".")):
            status = p.stat()
            found[p.name] = [status.st_size, status.st_mtime_ns]
    return found


def publish(core: Core, spark: Any, notes: Notes, view: View, table: StoredTable, full: bool) -> int | None:
    """Brings a table to the present version of its view; returns how many rows changed, None if all were written."""
    note = notes.of(table.name)
    at = note.get("version")
    folder = table.folder
    whole = full or at is None or note.get("writing") or note.get("location") != table.location
    if not whole and folder is not None:
        whole = note.get("files") != listing(folder)
    since = None if whole or at is None else changes_since(core, view.name, int(at))
    types = [f.type for f in view.fields]
    if since is not None and sum(s.rows for s in since) <= DRIVER_ENTRIES:
        change = ZSet((row, w) for s in since for row, w in core.engine.rows(Store((s,)), types))
        if not change:
            if at != core.version:
                notes.put(table.name, {**note, "version": core.version})
            return 0
        if folder is not None:
            notes.put(table.name, {**note, "writing": True})
            write_change(folder, view, list(change.items()))
            finish(core, spark, notes, table)
            return sum(abs(w) for _, w in change.items())
    notes.put(table.name, {**note, "location": table.location, "writing": True})
    write_all(core, spark, view, table)
    finish(core, spark, notes, table)
    return None


def write_all(core: Core, spark: Any, view: View, table: StoredTable) -> None:
    """Writes all rows of a view: file by file, if each row is stored once; row by row, if they are few; otherwise by a job."""
    store, folder, types = core.present.view_rows(view.name), table.folder, [f.type for f in view.fields]
    whole = sum_of(store)
    if folder is not None and whole.net and store.bytes <= ARROW_BYTES:
        schema = arrow_schema(row_schema(types))
        parts = (
            repeat_rows(part, view.fields)
            for segment in store.segments
            for part in core.engine.reader.parts(segment, schema)
        )
        replace_files(folder, list(listing(folder)), parts)
    elif folder is not None and store.rows <= FEW_ROWS:
        rows = [row for row, w in core.engine.rows(store, types) for _ in range(w)]
        replace_files(folder, list(listing(folder)), [table_of(view.fields, rows)])
    else:
        from evercurrent.engine.spark.storage.user_frames import user_frame

        frame = user_frame(core.engine.session, core.engine.frame(store, types), view.fields)
        overwrite(spark, table.name, frame)


def repeat_rows(stored: pyarrow.Table, fields: Sequence[Member]) -> pyarrow.Table:
    """Stored rows, with their weights, as rows of a table: each as often as its weight says."""
    weights = stored.column(W).to_numpy()
    if (weights != 1).any():
        stored = stored.take(pyarrow.array(numpy.repeat(numpy.arange(len(weights)), weights)))
    rows = stored.drop_columns([W]).rename_columns([f.name for f in fields])
    return rows.cast(find_published_schema(fields))


def is_current(core: Core, notes: Notes, view: str, table: StoredTable) -> bool:
    """Whether a table has the rows of its view."""
    note = notes.of(table.name)
    if note.get("version") is None or note.get("writing"):
        return False
    since = changes_since(core, view, int(note["version"]))
    return since is not None and not any(s.rows for s in since)


def finish(core: Core, spark: Any, notes: Notes, table: StoredTable) -> None:
    refresh_listing(spark, table.name)
    files = {} if table.folder is None else listing(table.folder)
    notes.put(table.name, {"version": core.version, "location": table.location, "files": files})


def write_change(folder: Path, view: View, change: Sequence[tuple[Row, int]]) -> None:
    """Applies a delta to the files of a table."""
    gone: Counter[Row] = Counter({row: -w for row, w in change if w < 0})
    removed, kept = [], []
    small = [f for f, mark in listing(folder).items() if mark[0] < 100_000]
    merge = set(small) if len(small) > 20 else set()
    for file in listing(folder):
        if not gone and file not in merge:
            continue
        place = Target(folder)
        held = gone and may_hold(place, file, view.fields, gone)
        left = without(place, file, view.fields, gone) if held else None
        if left is None and file in merge:
            left = read_file(place, file, view.fields)
        if left is not None:
            removed.append(file)
            kept.append(left)
    inserted = [row for row, w in change for _ in range(w)]
    replace_files(folder, removed, [pyarrow.concat_tables([*kept, table_of(view.fields, inserted)])])


def replace_files(folder: Path, removed: Sequence[str], tables: Iterable[pyarrow.Table]) -> None:
    """Writes rows as new files, at least one for each table, and then removes the old ones."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for rows in tables:
        for begin in range(0, rows.num_rows, ROWS_PER_FILE):
            name = f"part-{uuid.uuid4().hex}.zstd.parquet"
            part = rows.slice(begin, ROWS_PER_FILE)
            pyarrow.parquet.write_table(part, folder / f"_{name}", compression="zstd")
            written.append(name)
    for name in written:
        (folder / f"_{name}").rename(folder / name)
    for name in removed:
        (folder / name).unlink(missing_ok=True)
        (folder / f".{name}.crc").unlink(missing_ok=True)
