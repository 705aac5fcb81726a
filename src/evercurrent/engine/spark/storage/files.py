"""The folder of a warehouse: what lies where, and how a file is written as a whole or not at all.

    _log/00000000000000000007.json    the commits, see `log`
    _log/snapshots/                   what each commit points to
    _log/heads/                       the newest commit once more, so that its loss is noticed
    _log/checkpoints/                 whole snapshots, from which others are differences, see `manifests`
    _log/archive/                     entries of old versions
    _log/batches/                     which batch became which version, see `batch_index`
    data/<store>/<id>.parquet         segments
    data/<store>/<id>.parquet.sums    checksums of the blocks of a large segment, see `checksums`
    data/<store>/<id>.parquet.map     copies for lookups, see `mapped`
    views/<name>/                     views as Delta tables
    quarantine/                       input rows that were set aside

A file is written under a name that nobody knows and becomes known only by a commit; so whatever a crash leaves behind is
not part of any version and can be removed.

Every version says the digest of each file that it mentions. Whoever reads a file through `Folder` reads what was written, or
gets a `StorageError` that names the file and the way out.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow
import pyarrow.parquet

from evercurrent.data.types import Type
from evercurrent.engine.spark.storage import checksums, mapped_copy, sort_order
from evercurrent.engine.spark.storage.checksums import Checked, block_sums, digest, write_sums
from evercurrent.engine.spark.storage.digests import H, digests
from evercurrent.engine.spark.storage.disk import DISK, UNFINISHED, Disk, MissingFileError
from evercurrent.engine.spark.storage.file_schema import DECIMALS, compressions_of, encodings_of
from evercurrent.engine.spark.storage.lookup import Footer, Origins, may_hold
from evercurrent.engine.spark.storage.places import locate
from evercurrent.engine.spark.storage.sort_order import KeyRange, footer_range, range_of, ranges_of_json
from evercurrent.engine.spark.storage.store_names import StoreName, parts_of, table_of
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.errors import StorageError

ROW_GROUP = 8_192
"""Rows in a row group: what is read at least to find one entry without a mapped copy."""
SCANNED_GROUP = 32_768
"""The same in files that executors write. Those are large and are scanned: a scan of row groups of 8,192 takes twice as long."""
SMALL_FILE = 1024 * 1024
"""A file of at most this number of bytes is read whole, once, and stays in memory; a larger one that is sorted has a mapped copy,"""
SMALL_FILE_ROWS = 65_536
"""as has one of more rows than this: keys that follow on each other take hardly any bytes, and time all the same."""

DATA_FILE = re.compile(r"data/[A-Za-z0-9_-]+(/[A-Za-z0-9_.=-]+)+")
"""Names of the files of segments, relative to the warehouse."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Weighted rows in Parquet files; paths are relative to the warehouse. Or rows that lie elsewhere: `origins` say where.

    With an `order` the rows of each file are sorted by these columns (see `layout`), and no two files overlap in them.
    `net`: each row is there once. A segment that is not net stands for the sum of its rows; no version mentions one.
    `ranges`: what is known of the keys of each file, if anything.
    """

    files: tuple[str, ...]
    rows: int
    bytes: int
    order: tuple[str, ...] = ()
    net: bool = True
    ranges: tuple[KeyRange | None, ...] = ()
    origins: tuple[str, ...] = ()  # versions of sources, see `sources.references`

    @property
    def small(self) -> bool:
        """Whether its files, as a rule, are kept in memory rather than mapped."""
        number = max(1, len(self.files))
        return self.bytes // number <= SMALL_FILE and self.rows // number <= SMALL_FILE_ROWS

    def to_json(self) -> dict[str, Any]:
        value: dict[str, Any] = {"files": list(self.files), "rows": self.rows, "bytes": self.bytes}
        if any(self.ranges):
            value["ranges"] = [None if r is None else r.to_json() for r in self.ranges]
        value |= {"origins": list(self.origins)} if self.origins else {}
        return {**value, "order": list(self.order)} if self.order else value

    def find_holding(self, wanted: Sequence[Wanted]) -> Sequence[str]:
        """The files that can hold one of the keys, by what is known of them before they are opened."""
        asked = [w for w in wanted if self.order and w.column == self.order[0]]
        if not asked or not self.ranges:
            return self.files
        found = zip(self.files, self.ranges, strict=True)
        return [f for f, r in found if r is None or may_hold((r.low, r.high, r.nulls), asked[0])]

    @staticmethod
    def of_json(value: dict[str, Any]) -> Segment:
        """A segment as a version mentions it; its files lie in the folder of the data, whatever the version says."""
        try:
            given = {"order": (), "origins": (), **value}
            files, order, origins = (tuple(given[n]) for n in ("files", "order", "origins"))
            rows, size = value["rows"], value["bytes"]
        except (TypeError, KeyError, AttributeError) as problem:
            raise StorageError(f"a version mentions {str(value)[:80]!r}, which is no segment") from problem
        for file in files:
            if not isinstance(file, str) or not DATA_FILE.fullmatch(file) or ".." in file:
                raise StorageError(
                    f"a version mentions the file {str(file)[:80]!r}, which is none of this warehouse"
                )
        if not all(type(n) is int and 0 <= n < 2**63 for n in (rows, size)):
            told = f"{str(rows)[:40]} rows and {str(size)[:40]} bytes"
            raise StorageError(f"a version says that a segment has {told}")
        if not all(isinstance(name, str) for name in (*order, *origins)):
            raise StorageError(f"a version says that a segment is sorted by {str(order)[:80]}")
        ranges = ranges_of_json(value.get("ranges"), len(files))
        return Segment(files, rows, size, order, not origins, ranges, origins)


EMPTY = Segment((), 0, 0)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a version says of a file: the store that it belongs to, and its digest, which older versions lack."""

    store: StoreName
    digest: str | None


class DamageWarning(UserWarning):
    """Something is damaged that is not needed: the answers are right, and slower."""


def way_out(store: StoreName) -> str:
    """What to do about a damaged file of a store."""
    name = table_of(store)
    if name is not None:
        return (
            f"rows of table {name} cannot be computed from anything else: put the file back from a copy of the "
            f"warehouse, read an earlier version (db.table({name!r}).dataframe(version=...)), or drop the table and load it "
            "again from its source"
        )
    return "it can be rebuilt from the tables: evercurrent check --warehouse DIR --repair"


def slug(name: str) -> str:
    """A folder's name for any name: a few letters to read, a digest to tell apart."""
    letters = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40] or "x"
    return f"{letters}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


class Folder:
    """A warehouse's folder, on a file system that driver and executors share or in an object store."""

    disk: Disk = DISK
    origins: Origins  # reads rows that lie in sources

    def __init__(
        self, path: str | os.PathLike[str], options: Mapping[str, str] | None = None, session: Any = None
    ) -> None:
        self.root, disk = locate(path, options or {}, session)
        if disk is not None:
            self.disk = disk
        self.orders: dict[StoreName, tuple[str, ...]] = {}  # by which columns files are sorted (`sort_order`)
        self.digested: dict[StoreName, tuple[Type, ...]] = {}  # the types of rows that have digests, by store
        # The columns of mapped copies, by store, if not all.
        self.looked_at: dict[StoreName, tuple[str, ...]] = {}
        self.shared_work = True  # whether executors have this package, and can write mapped copies
        self.expected: dict[str, Expected] = {}  # what is known of files
        self.verified: dict[str, tuple[int, int]] = {}  # files that were checked whole, by their marks
        self.made: list[str] = []  # files since the last commit, to be removed if nothing mentions them

    def make(self) -> None:
        for name in ("_log/snapshots", "_log/heads", "data", "views"):
            self.disk.make_folder(self.root / name)

    def path(self, relative: str) -> str:
        return str(self.root / relative)

    def fresh(self, store: StoreName) -> str:
        """A new relative path in a store's folder."""
        self.disk.make_folder(self.root / "data" / slug(store))
        return f"data/{slug(store)}/{uuid.uuid4().hex}"

    def write(self, store: StoreName, table: pyarrow.Table) -> Segment:
        """Writes rows that are on the driver, in the order of their store."""
        return self.put(store, self.arrange(store, table))

    def arrange(self, store: StoreName, table: pyarrow.Table) -> pyarrow.Table:
        """Rows as the files of a store have them: sorted, with digests."""
        table = sort_order.sort_rows(table, self.orders.get(store, ()))
        types = self.digested.get(store)
        if types is not None and H not in table.column_names:
            table = table.append_column(H, digests(types, table))
        return table

    def put(self, store: StoreName, table: pyarrow.Table) -> Segment:
        """Write rows that are arranged."""
        if table.num_rows == 0:
            return EMPTY
        order = self.orders.get(store, ())
        relative = self.fresh(store) + ".parquet"
        path, sink = self.path(relative), pyarrow.BufferOutputStream()
        own = encodings_of(table.schema) if table.num_rows > SMALL_FILE_ROWS else {}
        own |= {"row_group_size": ROW_GROUP, "compression": compressions_of(table.schema), **DECIMALS}
        pyarrow.parquet.write_table(table, sink, store_schema=False, **own)
        data = sink.getvalue()
        sums = block_sums(data)
        self.made.append(relative)
        self.disk.put(path, data)
        write_sums(path, sums, data.size, self.disk)
        known = self.expect(store, relative, digest(sums, data.size))
        keys = (range_of(table.column(order[0])) if order else None,)
        segment = Segment((relative,), table.num_rows, data.size, order, ranges=keys)
        if self.to_map(segment):
            columns = self.looked_at.get(store, table.column_names)
            mapped_copy.write(path, table.select(columns), order, known, self.disk)
        return segment

    def find_written(self, relative: str, order: tuple[str, ...] = ()) -> Segment:
        """The segment that executors have written into a folder."""
        names = sorted(n for n in self.disk.names(self.root / relative) if n.endswith(".parquet"))
        files, rows, size, ranges = [], 0, 0, []
        for name in names:
            data = self.disk.map(self.root / relative / name)
            metadata = pyarrow.parquet.read_metadata(pyarrow.BufferReader(data))
            if metadata.num_rows:
                files.append(f"{relative}/{name}")
                self.made.append(f"{relative}/{name}")
                rows += metadata.num_rows
                size += data.size
                ranges.append(footer_range(metadata, order[0]) if order else None)
        return Segment(tuple(files), rows, size, order, ranges=tuple(ranges))

    # --- what is known of files ----------------------------------------------------------------------------

    def expect(self, store: StoreName, file: str, own: str) -> str:
        """Note the digest of a file."""
        self.expected[file] = Expected(store, own)
        return own

    def learn(self, store: StoreName, value: dict[str, Any]) -> Segment:
        """A segment as a version mentions it; what the version says of its files is noted."""
        segment = Segment.of_json(value)
        sums: Sequence[str | None] = value.get("sums") or (None,) * len(segment.files)
        for file, own in zip(segment.files, sums, strict=True):
            known = self.expected.get(file)
            if known is None or (own is not None and parts_of(known.store)[0] != "table"):
                self.expected[file] = Expected(store, own)
        return segment

    def segment_document(self, segment: Segment) -> dict[str, Any]:
        """Returns a segment as a version mentions it, with the digests of its files."""
        value = segment.to_json()
        sums = [self.digest_of(f) for f in segment.files]
        return {**value, "sums": sums} if any(sums) else value

    def digest_of(self, file: str) -> str | None:
        known = self.expected.get(file)
        return None if known is None else known.digest

    def way_out(self, file: str) -> str | None:
        known = self.expected.get(file)
        return None if known is None else way_out(known.store)

    # --- reading -------------------------------------------------------------------------------------------

    def open(self, file: str) -> Checked:
        """A file, whose bytes are checked before they are used."""
        try:
            return Checked.open(self.path(file), self.digest_of(file), self.disk, self.way_out(file))
        except MissingFileError as problem:
            problem.hint = self.way_out(file) or problem.hint
            raise

    def parquet(self, file: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
        """The rows of a file, or these columns of them."""
        footer = Footer.read(self.open(file))
        names = footer.columns if columns is None else list(columns)
        footer.require(range(footer.groups), names)
        with footer.open_file() as opened:
            return opened.read(columns=names, use_threads=footer.file.size > SMALL_FILE)

    def find_unverified(self, segments: Iterable[Segment]) -> list[str]:
        """The files of segments that have not been checked whole, as they are now."""
        found = []
        for file in dict.fromkeys(f for s in segments for f in s.files):
            if self.digest_of(file) is None:
                continue
            marks = self.disk.marks(self.path(file))
            if marks is None or self.verified.get(file) != marks:
                found.append(file)
        return found

    def verify(self, segments: Iterable[Segment]) -> None:
        """Check whole files that others are about to read, once for as long as they do not change."""
        for file in self.find_unverified(segments):
            marks = self.disk.marks(self.path(file))
            self.open(file).require_all()
            if marks is not None:
                self.verified[file] = marks

    def to_map(self, segment: Segment) -> list[str]:
        """The paths of a segment's files that are to have mapped copies."""
        wanted = segment.order and not segment.small and not self.disk.remote
        return [self.path(f) for f in segment.files] if wanted else []

    def note_verified(self, digests: Mapping[str, str]) -> None:
        """Files that the executors have checked, by the digests that they have found."""
        for file, found in digests.items():
            marks = self.disk.marks(self.path(file))
            if found == self.digest_of(file) and marks is not None:
                self.verified[file] = marks

    def copy(self, file: str) -> mapped_copy.Copy | None:
        """The mapped copy of a file, if it has one that is not damaged; files in object stores have none."""
        if self.disk.remote:
            return None
        try:
            return mapped_copy.Copy(self.path(file), self.digest_of(file), self.disk)
        except MissingFileError:
            return None
        except mapped_copy.DamagedCopyError as problem:
            self.warn(problem)
            return None

    def warn(self, problem: mapped_copy.DamagedCopyError) -> None:
        warnings.warn(f"{problem.message}; {problem.hint}", DamageWarning, stacklevel=2)

    def table(self, segment: Segment, schema: pyarrow.Schema) -> pyarrow.Table:
        """Returns the rows of a segment, on the driver."""
        parts = [schema.empty_table(), *(self.parquet(f, schema.names) for f in segment.files)]
        parts += [self.origins.table(o, schema, (), sys.maxsize) for o in segment.origins]
        return pyarrow.concat_tables([p.select(schema.names).cast(schema) for p in parts])

    def read_bounded(self, segment: Segment, names: Sequence[str], most_bytes: int) -> pyarrow.Table | None:
        """These columns of a segment, read a row group at a time; None as soon as they take more bytes than that."""
        parts, taken = [], 0
        for file in segment.files:
            footer = Footer.read(self.open(file))
            for group in range(footer.groups):
                footer.require([group], names)
                with footer.open_file() as opened:
                    parts.append(opened.read_row_group(group, columns=list(names)).select(list(names)))
                taken += parts[-1].nbytes
                if taken > most_bytes:
                    return None
        return pyarrow.concat_tables(parts) if parts else None

    # --- removing ------------------------------------------------------------------------------------------

    def tidy(self, mentioned: set[str]) -> None:
        """Remove what was made since the last time and is mentioned by nothing; what cannot be removed is left to vacuum."""
        made = [f for f in self.made if f not in mentioned]
        self.made.clear()
        for file in made:
            with suppress(StorageError):
                self.remove([file])

    def remove(self, files: Iterable[str]) -> int:
        """Remove files that no version mentions; returns how many bytes they took."""
        freed = 0
        for file in files:
            freed += sum(self.disk.delete(path) for path in self.around(file))
            self.expected.pop(file, None)
            self.verified.pop(file, None)
        return freed

    def around(self, file: str) -> list[str]:
        """All that may lie beside a file, and the file itself, which is last, since by it the rest is found."""
        if self.disk.remote:
            return [self.path(file + checksums.SUFFIX), self.path(file)]
        beside = [self.path(file + suffix) for suffix in (mapped_copy.SUFFIX, checksums.SUFFIX)]
        return [*(b + UNFINISHED for b in beside), *beside, self.path(file)]

    def traces(self, file: str) -> list[str]:
        """What lies beside a file, and the file itself."""
        *beside, own = self.around(file)
        return [*(path for path in beside if self.disk.exists(path)), own]

    def data_files(self) -> list[str]:
        """All segment files that lie there, mentioned or not."""
        return [f"data/{f.path}" for f in self.disk.tree(self.root / "data") if f.path.endswith(".parquet")]

    def is_older(self, file: str, since: float) -> bool:
        """Whether a file was written before a time, in seconds."""
        marks = self.disk.marks(self.path(file))
        return marks is not None and marks[1] < since * 1e9

    def clear_empty(self, since: float) -> None:
        """Remove folders with nothing but markers of finished jobs, in which nothing was written since then."""
        self.disk.prune(self.root / "data", since)
