"""A copy of a sorted file from which single rows can be read.

Parquet is made for scans: one row costs the decoding of its row group, column by column, and 10,000 keys that are spread
over 60 million rows cost most of the file. Beside a sorted file therefore lies its *mapped copy*: an Arrow file that is not
compressed, so that a value is at a place that can be computed. It is mapped into memory, keys are found by binary search,
and only the pages with the asked rows are ever read.

Law. `Copy.take(names, places)` is what the Parquet file holds in these columns at these places. Files never change, so the
copy is never wrong; where there is none, the Parquet file is read.

A copy ends in a trailer: the digest of the file that it copies, the checksum of each of its blocks, and a checksum of the
trailer itself. Blocks are checked when they are first touched (`checksums`). A damaged copy raises `DamagedCopyError`, and its
reader goes on with the Parquet file.

    Arrow file | sums of its blocks | facts (JSON) | length of the facts | digest of the trailer | magic

To be as small as what it copies, a copy is packed: integers, dates, times, instants and decimals are numbers above the smallest of
their column, in as few bytes as the largest needs; strings of which there are few are places in a dictionary.

>>> column = pyarrow.chunked_array([[1_000_000, None, 1_000_200]])
>>> packed, packing = pack(column)
>>> packed.type, packing.base
(DataType(uint8), 1000000)
>>> unpack(packed, packing, column.type).to_pylist()
[1000000, None, 1000200]
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.engine.spark.storage import checksums
from evercurrent.engine.spark.storage.checksums import (
    Checked,
    block_sums,
    file_digest,
    text_digest,
)
from evercurrent.engine.spark.storage.disk import DISK, DamageError, Disk
from evercurrent.engine.spark.storage.disk import UNFINISHED as DRAFT
from evercurrent.engine.spark.storage.sort_order import find_rising
from evercurrent.engine.spark.storage.wanted import expand_ranges, find_equal
from evercurrent.engine.spark.translate.arrow_columns import UNITS, view_as

SUFFIX = ".map"
UNFINISHED = SUFFIX + DRAFT
FACTS = b"evercurrent"
SAMPLE = 10_000
"""The number of strings that are looked at to see whether there are few distinct ones."""
PAGE = 4096
MAGIC = b"EVERMAP2"
OLD_MAGIC = b"ARROW1"
"""The end of copies from before there were checksums."""
TAIL = 8 + 32 + len(MAGIC)

Places = Any
"""Positions of rows, sorted, as an array."""
Numbers = Any
"""An array of integers of 64 bits."""


@dataclass(frozen=True)
class Packing:
    """What was taken from the values of a column; None if they are as they were."""

    base: int | None = None


# --- columns -----------------------------------------------------------------------------------------------


def numbers(column: pyarrow.Array) -> Numbers | None:
    """Values as integers of 64 bits that are in the same order, anything where they are NULL; None if they are no such."""
    kind = column.type
    if pyarrow.types.is_decimal128(kind):
        halves = numpy.frombuffer(column.buffers()[1], numpy.int64).reshape(-1, 2)
        low, high = halves[column.offset : column.offset + len(column)].T
        if kind.precision > 18 and bool(((low >> 63) != high).any()):
            return None
        return low
    if pyarrow.types.is_date32(kind):
        column = column.cast(pyarrow.int32())
    elif pyarrow.types.is_timestamp(kind) or pyarrow.types.is_time64(kind):
        column = column.cast(pyarrow.int64())
    elif not pyarrow.types.is_integer(kind):
        return None
    filled = column.fill_null(0) if column.null_count else column
    return filled.to_numpy(zero_copy_only=False).astype(numpy.int64, copy=False)


def pack(column: pyarrow.ChunkedArray) -> tuple[pyarrow.Array, Packing]:
    """A column in as few bytes as its range needs."""
    whole = column.combine_chunks()
    if pyarrow.types.is_string(whole.type):
        return (whole.dictionary_encode() if few(whole) else whole), Packing()
    values = numbers(whole)
    if values is None or len(whole) == whole.null_count:
        return whole, Packing()
    missing = whole.is_null().to_numpy(zero_copy_only=False) if whole.null_count else None
    known = values if missing is None else values[~missing]
    low, high = int(known.min()), int(known.max())
    width = next((t for t in NARROW if high - low <= numpy.iinfo(t).max), None)
    if width is None:
        plain = pyarrow.array(values, pyarrow.int64(), mask=missing)
        return plain, Packing(0)
    if missing is not None:
        values = numpy.where(missing, low, values)
    return pyarrow.array((values - low).astype(width), mask=missing), Packing(low)


NARROW = (numpy.uint8, numpy.uint16, numpy.uint32)


def few(strings: pyarrow.Array) -> bool:
    """Whether a column of strings has few different ones, by its first and last rows."""
    half = SAMPLE // 2
    ends = (strings.slice(0, half), strings.slice(max(0, len(strings) - half)))
    return all(4 * len(part.unique()) <= len(part) for part in ends)


def unpack(column: pyarrow.Array, packing: Packing, kind: pyarrow.DataType) -> pyarrow.Array:
    """Values as they were."""
    if packing.base is None:
        return column.cast(kind)
    values = column.cast(pyarrow.int64())
    if packing.base:
        values = pyarrow.compute.add(values, packing.base)
    if pyarrow.types.is_decimal128(kind):
        return view_as(values.cast(UNITS), kind)
    if pyarrow.types.is_date32(kind):
        return values.cast(pyarrow.int32()).cast(kind)
    return values.cast(kind)


# --- files -------------------------------------------------------------------------------------------------


class DamagedCopyError(DamageError):
    """A mapped copy is damaged; `path` is that of the file that it copies."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path}{SUFFIX} is damaged: its checksum is not the one that was written",
            hint="it is not used until `evercurrent check --warehouse DIR --repair` has rebuilt it",
        )
        self.path = path


class CheckedCopy(Checked):
    """The bytes of a copy; what is damaged is named by the file that it copies."""

    def failure(self) -> DamageError:
        return DamagedCopyError(self.path)


def write(path: str, table: pyarrow.Table, order: Sequence[str], of: str, disk: Disk = DISK) -> None:
    """Write the copy of a file that holds these rows and has the digest `of`.

    The rows are in the order of these columns, unless it turns out that they are not.
    """
    columns, packings = [], {}
    for name in table.column_names:
        column, packing = pack(table.column(name))
        columns.append(column)
        packings[name] = packing.base
    kinds = pyarrow.schema([table.schema.field(n) for n in table.column_names]).remove_metadata()
    rising = find_rising(table, order)
    first = next((n for n in rising[:1] if not table.column(n).null_count), None)
    facts = {"packings": packings, "sorted": first, "order": rising}
    schema = pyarrow.schema(
        [pyarrow.field(n, c.type) for n, c in zip(table.column_names, columns, strict=True)],
        {FACTS: json.dumps(facts).encode(), b"kinds": kinds.serialize().to_pybytes()},
    )
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    arrow = sink.getvalue()
    disk.replace(path + SUFFIX, arrow, trailer(arrow, of))


def trailer(arrow: pyarrow.Buffer, of: str) -> bytes:
    """What follows on the Arrow file of a copy."""
    with pyarrow.ipc.open_file(pyarrow.BufferReader(arrow)) as reader:
        batch = reader.get_batch(0)
    spans = [extent(arrow, b) for c in batch.columns for b in buffers_of(c)]
    facts = {"size": arrow.size, "of": of, "lazy": [s for s in spans if s[1] - s[0] >= 2 * checksums.BLOCK]}
    text = json.dumps(facts, separators=(",", ":")).encode()
    content: bytes = block_sums(arrow).tobytes() + text + len(text).to_bytes(8, "little")
    return content + text_digest(content).encode() + MAGIC


def buffers_of(column: pyarrow.Array) -> list[pyarrow.Buffer]:
    """All buffers of a column, those of its dictionary too."""
    own = [b for b in column.buffers() if b is not None]
    return own + (buffers_of(column.dictionary) if pyarrow.types.is_dictionary(column.type) else [])


def extent(whole: pyarrow.Buffer, part: pyarrow.Buffer) -> tuple[int, int]:
    """Where a part of a buffer begins and ends in it."""
    begin = part.address - whole.address
    return begin, begin + part.size


def copy(path: str, names: Sequence[str] | None, order: Sequence[str], of: str | None = None) -> None:
    """Write the copy of a Parquet file that lies there, with these columns of it or all."""
    data = DISK.map(path)
    with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)) as file:
        rows = file.read(columns=None if names is None else list(names))
    write(path, rows, order, file_digest(data) if of is None else of)


def open_copy(path: str, of: str | None, disk: Disk) -> tuple[Checked, list[tuple[int, int]]]:
    """The Arrow file of a copy, and where its large buffers lie, which are checked when they are read.

    Raises DamagedCopyError for one that is not the copy of the file with the digest `of`.
    """
    data = disk.map(path + SUFFIX)
    end = memoryview(data)[-TAIL:].tobytes()
    if of is None and end.endswith(OLD_MAGIC):
        return CheckedCopy(path, data, None), []
    length = int.from_bytes(end[:8], "little")
    if len(end) < TAIL or not end.endswith(MAGIC) or length > data.size:
        raise DamagedCopyError(path)
    text = memoryview(data)[data.size - TAIL - length : data.size - TAIL].tobytes()
    try:
        facts = json.loads(text)
        size = int(facts["size"])
    except (ValueError, KeyError, TypeError) as problem:
        raise DamagedCopyError(path) from problem
    content = memoryview(data)[size : data.size - TAIL + 8].tobytes()
    if text_digest(content).encode() != end[8:40] or of not in (None, facts["of"]):
        raise DamagedCopyError(path)
    sums = numpy.frombuffer(content[: -length - 8], "<u8")
    return CheckedCopy(path, data.slice(0, size), sums), [(b, e) for b, e in facts["lazy"]]


class Copy:
    """A mapped copy that is open. With `of`, it is that of a file with this digest."""

    def __init__(self, path: str, of: str | None = None, disk: Disk = DISK) -> None:
        self.checked, lazy = open_copy(path, of, disk)
        at = 0
        for begin, end in sorted(lazy):  # all but the large buffers
            self.checked.require(at, begin)
            at = end
        self.checked.require(at, self.checked.size)
        with pyarrow.ipc.open_file(pyarrow.BufferReader(self.checked.data)) as reader:
            self.batch = reader.get_batch(0)
        facts = json.loads(self.batch.schema.metadata[FACTS])
        self.kinds = pyarrow.ipc.read_schema(pyarrow.py_buffer(self.batch.schema.metadata[b"kinds"]))
        self.packings = {name: Packing(base) for name, base in facts["packings"].items()}
        self.sorted: str | None = facts["sorted"]
        self.order = tuple(facts.get("order", ()))  # see `find_rising`
        self.names = frozenset(self.batch.schema.names)

    def require(self, name: str, places: Places | None) -> pyarrow.Array:
        """A column, of which the values at these places, or all, are checked."""
        column = self.batch.column(name)
        if self.checked.sums is None or (places is not None and not len(places)):
            return column
        kind = column.type
        spans = [None if b is None else extent(self.checked.data, b) for b in column.buffers()]
        plain = pyarrow.types.is_primitive(kind) or pyarrow.types.is_decimal(kind)
        text = pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind)
        if pyarrow.types.is_dictionary(kind):
            for b in buffers_of(column.dictionary):
                self.checked.require(*extent(self.checked.data, b))
            plain, kind = True, kind.index_type
        if places is None or column.offset or not (plain or text):
            for span in spans:
                if span is not None:
                    self.checked.require(*span)
            return column
        places = numpy.asarray(places, numpy.int64)
        missing, values = spans[0], spans[1]
        if missing is not None:
            self.checked.require_at(missing[0], places // 8, 1)
        if values is None:
            return column
        if plain:
            bits = kind.bit_width
            self.checked.require_at(values[0], places // 8 if bits == 1 else places, max(1, bits // 8))
            return column
        self.checked.require_at(values[0], places, 4)
        self.checked.require_at(values[0], places + 1, 4)
        if spans[2] is not None:
            offsets = numpy.frombuffer(column.buffers()[1], numpy.int32)
            begin, end = offsets[places].astype(numpy.int64), offsets[places + 1].astype(numpy.int64)
            self.checked.require_spans(spans[2][0] + begin, spans[2][0] + end)
        return column

    def require_around(self, name: str, *found: Places) -> None:
        """Check the values between which a search has ended.

        A search for k in a rising column ends at p with column[p - 1] < k <= column[p]. If these two are as they were written,
        p is right, whatever the search has seen on the way.
        """
        for places in found:  # each of them sorted
            self.require(name, places[places > 0] - 1)
            self.require(name, places[places < self.rows])

    @property
    def rows(self) -> int:
        return int(self.batch.num_rows)

    def take(self, name: str, places: Places | None) -> pyarrow.Array:
        """A column at some places, or at all."""
        column = self.require(name, places)
        chosen = column if places is None else column.take(pyarrow.array(places))
        return unpack(chosen, self.packings[name], self.kinds.field(name).type)

    def bytes(self, name: str, places: Places) -> int:
        """How much is read of the file for these rows of a column, in pages."""
        column = self.batch.column(name)
        pages = 1 + int(column.nbytes) // PAGE
        return PAGE * min(len(places), pages)

    def places(self, values: pyarrow.Array) -> Places | None:
        """Where the values are in the column by which the rows are sorted; None if that is not known by searching."""
        assert self.sorted is not None
        kind = self.kinds.field(self.sorted).type
        wanted = sort_distinct(values.cast(kind))
        column, packing = self.batch.column(self.sorted), self.packings[self.sorted]
        if packing.base is None:
            if not (pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind)):
                return None
            keys = wanted.to_pylist()
            seen = Seen(self.require(self.sorted, None), packing)
            starts = [bisect_left(seen, k) for k in keys]
            ends = [bisect_right(seen, k, b) for k, b in zip(keys, starts, strict=True)]
            return expand_ranges(numpy.array(starts, numpy.int64), numpy.array(ends, numpy.int64))
        stored = column.to_numpy(zero_copy_only=True)
        asked = numbers(wanted)
        if asked is None:
            return None
        if stored.dtype != numpy.int64:
            most = 2 ** (8 * stored.dtype.itemsize) - 1
            asked = asked[(asked >= packing.base) & (asked <= packing.base + most)] - packing.base
        asked = asked.astype(stored.dtype)
        left, right = find_equal(stored, asked)
        self.require_around(self.sorted, left, right)
        return expand_ranges(left, right)

    def find_reaching(self, value: Any, descending: bool) -> range:
        """The places of rows that are not smaller than a value in the column by which they are sorted, or not larger."""
        assert self.sorted is not None
        packing = self.packings[self.sorted]
        if packing.base is not None:
            asked = numbers(pyarrow.array([value], self.kinds.field(self.sorted).type))
            assert asked is not None
            value = int(asked[0])
        plain = packing.base is not None
        seen = Seen(
            self.batch.column(self.sorted) if plain else self.require(self.sorted, None),
            packing,
        )
        found = bisect_left(seen, value) if descending else bisect_right(seen, value)
        if plain:
            self.require_around(self.sorted, numpy.array([found]))
        return range(found, self.rows) if descending else range(found)


class Seen:
    """A column as a sequence of Python values, or of the numbers that stand for them."""

    def __init__(self, column: pyarrow.Array, packing: Packing) -> None:
        self.column = column
        self.base = packing.base

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, place: int) -> Any:
        value = self.column[place].as_py()
        return value if self.base is None else value + self.base


def sort_distinct(values: pyarrow.Array) -> pyarrow.Array:
    """Returns each value once, sorted; values that are so already as they are."""
    found = None if values.null_count else numbers(values)
    if found is not None and bool((found[1:] > found[:-1]).all()):
        return values
    return values.unique().sort()
