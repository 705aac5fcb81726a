"""The folder of a warehouse: what lies where, and how a file comes to lie there whole.

    _log/00000000000000000007.json    the commits, see `log`
    _log/snapshots/                   what each commit points to
    data/<store>/<id>.parquet         segments
    data/<store>/<id>.parquet.map     copies for lookups, see `mapped`
    views/<name>/                     views as Delta tables
    quarantine/                       input rows that were set aside

A file is written under a name that nobody knows and becomes known only by a commit; so whatever a crash leaves behind is
not part of any version and can be removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from evercurrent.data.types import Type
from evercurrent.engine.spark import mapped
from evercurrent.engine.spark.digests import H, digests
from evercurrent.errors import StorageError, UnsupportedError

ROW_GROUP = 8_192
"""Rows in a row group: what is read at least to find one entry without a mapped copy."""
SCANNED_GROUP = 32_768
"""The same in files that executors write. Those are large and are scanned: a scan of row groups of 8,192 takes twice as long."""
SMALL_FILE = 1024 * 1024
"""A file of at most so many bytes is read whole, once, and stays in memory; a larger one that is sorted has a mapped copy,"""
SMALL_FILE_ROWS = 65_536
"""as has one of more rows than this: keys that follow on each other take hardly any bytes, and time all the same."""


DATA_FILE = re.compile(r"data/[A-Za-z0-9_-]+(/[A-Za-z0-9_.=-]+)+")
"""Names of the files of segments, relative to the warehouse."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Weighted rows in Parquet files; paths are relative to the warehouse.

    With an `order` the rows of each file are sorted by these columns (see `layout`), and no two files overlap in them.
    `net`: each row is there once. A segment that is not net stands for the sum of its rows; no version mentions one.
    """

    files: tuple[str, ...]
    rows: int
    bytes: int
    order: tuple[str, ...] = ()
    net: bool = True

    @property
    def small(self) -> bool:
        """Whether its files, as a rule, are kept in memory rather than mapped."""
        number = max(1, len(self.files))
        return self.bytes // number <= SMALL_FILE and self.rows // number <= SMALL_FILE_ROWS

    def to_json(self) -> dict[str, Any]:
        value: dict[str, Any] = {"files": list(self.files), "rows": self.rows, "bytes": self.bytes}
        return {**value, "order": list(self.order)} if self.order else value

    @staticmethod
    def of_json(value: dict[str, Any]) -> Segment:
        """A segment as a version mentions it; its files lie in the folder of the data, whatever the version says."""
        try:
            files, order = tuple(value["files"]), tuple(value.get("order", ()))
            rows, size = value["rows"], value["bytes"]
        except (TypeError, KeyError, AttributeError) as problem:
            raise StorageError(f"a version mentions {str(value)[:80]!r}, which is no segment") from problem
        for file in files:
            if not isinstance(file, str) or not DATA_FILE.fullmatch(file) or ".." in file:
                raise StorageError(
                    f"a version mentions the file {str(file)[:80]!r}, which is none of this warehouse"
                )
        if not all(type(n) is int and 0 <= n < 2**63 for n in (rows, size)):
            raise StorageError(
                f"a version says that a segment has {str(rows)[:40]} rows and {str(size)[:40]} bytes"
            )
        if not all(isinstance(name, str) for name in order):
            raise StorageError(f"a version says that a segment is sorted by {str(order)[:80]}")
        return Segment(files, rows, size, order)


EMPTY = Segment((), 0, 0)


def slug(name: str) -> str:
    """A folder's name for any name: a few letters to read, a digest to tell apart."""
    letters = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "x"
    return f"{letters}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


class Folder:
    """A warehouse's folder on a file system that driver and executors share."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        text = os.fspath(path)
        if re.match(r"^[a-z0-9]{2,}:", text) and not text.startswith("file:"):
            raise UnsupportedError(
                f"a warehouse at {text.split(':')[0]}: is not built yet",
                hint="give a path on a file system that the driver and all executors share",
            )
        self.orders: dict[
            str, tuple[str, ...]
        ] = {}  # by which columns the files of a store are sorted, see `layout`
        self.digested: dict[str, tuple[Type, ...]] = {}  # the types of rows that have digests, by store
        self.looked_at: dict[str, tuple[str, ...]] = {}  # the columns of mapped copies, by store, if not all
        self.shared_work = True  # whether executors have this package, and can write mapped copies
        self.made: list[str] = []  # files since the last commit, to be removed if nothing mentions them
        self.root = Path(text.removeprefix("file://").removeprefix("file:")).absolute()

    def make(self) -> None:
        try:
            for name in ("_log/snapshots", "data", "views"):
                (self.root / name).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StorageError(f"the warehouse {self.root} cannot be made: {problem}") from problem

    def path(self, relative: str) -> str:
        return str(self.root / relative)

    def fresh(self, store: str) -> str:
        """A new relative path in a store's folder."""
        (self.root / "data" / slug(store)).mkdir(parents=True, exist_ok=True)
        return f"data/{slug(store)}/{uuid.uuid4().hex}"

    def write(self, store: str, table: pyarrow.Table) -> Segment:
        """Write rows that are in the driver's hands, in the order of their store."""
        return self.put(store, self.arranged(store, table))

    def arranged(self, store: str, table: pyarrow.Table) -> pyarrow.Table:
        """Rows as the files of a store have them: sorted, with digests."""
        order = self.orders.get(store, ())
        if order:
            table = table.sort_by([(name, "ascending") for name in order])
        types = self.digested.get(store)
        if types is not None and H not in table.column_names:
            table = table.append_column(H, digests(types, table))
        return table

    def put(self, store: str, table: pyarrow.Table) -> Segment:
        """Write rows that are arranged."""
        if table.num_rows == 0:
            return EMPTY
        order = self.orders.get(store, ())
        relative = self.fresh(store) + ".parquet"
        pyarrow.parquet.write_table(
            table, self.path(relative), row_group_size=ROW_GROUP, compression="zstd", store_schema=False
        )
        self.made.append(relative)
        segment = Segment((relative,), table.num_rows, os.path.getsize(self.path(relative)), order)
        if order and not segment.small:
            mapped.write(
                self.path(relative), table.select(self.looked_at.get(store, table.column_names)), order[0]
            )
        return segment

    def written(self, relative: str, order: tuple[str, ...] = ()) -> Segment:
        """The segment that executors have written into a folder."""
        parts = sorted(p for p in (self.root / relative).iterdir() if p.name.endswith(".parquet"))
        files, rows, size = [], 0, 0
        for part in parts:
            count = pyarrow.parquet.read_metadata(part).num_rows
            if count:
                files.append(f"{relative}/{part.name}")
                self.made.append(f"{relative}/{part.name}")
                rows += count
                size += part.stat().st_size
        return Segment(tuple(files), rows, size, order)

    def to_map(self, segment: Segment) -> list[str]:
        """The paths of a segment's files that are to have mapped copies."""
        return [self.path(f) for f in segment.files] if segment.order and not segment.small else []

    def copy(self, file: str) -> mapped.Copy | None:
        """The mapped copy of a file, if it has one."""
        try:
            return mapped.Copy(self.path(file))
        except FileNotFoundError:
            return None

    def table(self, segment: Segment, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows of a segment in the driver's hands."""
        if not segment.files:
            return schema.empty_table()
        parts = [pyarrow.parquet.ParquetFile(self.path(f)).read(schema.names) for f in segment.files]
        return pyarrow.concat_tables([p.select(schema.names).cast(schema) for p in parts])

    def tidy(self, mentioned: set[str]) -> None:
        """Remove what was made since the last time and is mentioned by nothing."""
        self.remove(f for f in self.made if f not in mentioned)
        self.made.clear()

    def remove(self, files: Iterable[str]) -> int:
        """Remove files that no version mentions; gives how many bytes they took."""
        freed = 0
        for relative in files:
            for path in self.traces(relative):
                if path.exists():
                    freed += path.stat().st_size
                    path.unlink()
        return freed

    def traces(self, file: str) -> list[Path]:
        """What lies beside a file, and the file itself, which is last, since by it the rest is found."""
        beside = [self.root / (file + suffix) for suffix in (mapped.UNFINISHED, mapped.SUFFIX)]
        return [*(path for path in beside if path.exists()), self.root / file]

    def data_files(self) -> list[str]:
        """All segment files that lie there, mentioned or not."""
        return [str(p.relative_to(self.root)) for p in (self.root / "data").rglob("*.parquet")]

    def clear_empty(self) -> None:
        """Remove folders in which nothing but markers of finished jobs is left."""
        for folder in (self.root / "data").glob("*/*"):
            if folder.is_dir() and not list(folder.glob("*.parquet")):
                shutil.rmtree(folder, ignore_errors=True)
