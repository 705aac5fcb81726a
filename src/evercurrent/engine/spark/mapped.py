"""A copy of a sorted file from which single rows can be read.

Parquet is made for scans: one row costs the decoding of its row group, column by column, and 10,000 keys that are spread
over 60 million rows cost most of the file. Beside a sorted file therefore lies its *mapped copy*: an Arrow file that is not
compressed, so that a value is at a place that can be computed. It is mapped into memory, keys are found by binary search,
and only the pages with the asked rows are ever read.

Law. `Copy.take(names, places)` is what the Parquet file holds in these columns at these places. Files never change, so the
copy is never wrong; where there is none, the Parquet file is read.

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
import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.engine.spark.columns import UNITS, viewed

SUFFIX = ".map"
UNFINISHED = ".map.tmp"
FACTS = b"evercurrent"
SAMPLE = 10_000
"""Of so many strings it is seen whether there are few."""
PAGE = 4096

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
        return viewed(values.cast(UNITS), kind)
    if pyarrow.types.is_date32(kind):
        return values.cast(pyarrow.int32()).cast(kind)
    return values.cast(kind)


# --- files -------------------------------------------------------------------------------------------------


def write(path: str, table: pyarrow.Table, order: str) -> None:
    """Write the copy of a file that holds these rows, in the order of a column unless it turns out that they are not."""
    columns, packings = [], {}
    for name in table.column_names:
        column, packing = pack(table.column(name))
        columns.append(column)
        packings[name] = packing.base
    kinds = pyarrow.schema([table.schema.field(n) for n in table.column_names]).remove_metadata()
    facts = {"packings": packings, "sorted": order if rises(table.column(order)) else None}
    schema = pyarrow.schema(
        [pyarrow.field(n, c.type) for n, c in zip(table.column_names, columns, strict=True)],
        {FACTS: json.dumps(facts).encode(), b"kinds": kinds.serialize().to_pybytes()},
    )
    temporary = path + UNFINISHED
    with pyarrow.OSFile(temporary, "wb") as sink, pyarrow.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    os.replace(temporary, path + SUFFIX)


def copy(path: str, names: Sequence[str] | None, order: str) -> None:
    """Write the copy of a Parquet file that lies there, with these columns of it or all."""
    with pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
        write(path, file.read(columns=None if names is None else list(names)), order)


def rises(column: pyarrow.ChunkedArray) -> bool:
    """Whether no value is smaller than the one before, and none is NULL."""
    if column.null_count or pyarrow.types.is_nested(column.type) or pyarrow.types.is_floating(column.type):
        return False
    whole = column.combine_chunks()
    least = pyarrow.compute.less(whole.slice(1), whole.slice(0, max(0, len(whole) - 1)))
    return not pyarrow.compute.any(least, min_count=0).as_py()


class Copy:
    """A mapped copy that is open."""

    def __init__(self, path: str) -> None:
        with pyarrow.memory_map(path + SUFFIX) as source, pyarrow.ipc.open_file(source) as reader:
            self.batch = reader.get_batch(0)
        facts = json.loads(self.batch.schema.metadata[FACTS])
        self.kinds = pyarrow.ipc.read_schema(pyarrow.py_buffer(self.batch.schema.metadata[b"kinds"]))
        self.packings = {name: Packing(base) for name, base in facts["packings"].items()}
        self.sorted: str | None = facts["sorted"]
        self.names = frozenset(self.batch.schema.names)

    @property
    def rows(self) -> int:
        return int(self.batch.num_rows)

    def take(self, name: str, places: Places | None) -> pyarrow.Array:
        """A column at some places, or at all."""
        column = self.batch.column(name)
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
        wanted = values.cast(kind).unique().sort()
        column, packing = self.batch.column(self.sorted), self.packings[self.sorted]
        if packing.base is None:
            if not (pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind)):
                return None
            keys = wanted.to_pylist()
            seen = Seen(column, packing)
            starts = [bisect_left(seen, k) for k in keys]
            ends = [bisect_right(seen, k, b) for k, b in zip(keys, starts, strict=True)]
            return spread(numpy.array(starts, numpy.int64), numpy.array(ends, numpy.int64))
        stored = column.to_numpy(zero_copy_only=True)
        asked = numbers(wanted)
        if asked is None:
            return None
        if stored.dtype != numpy.int64:
            most = 2 ** (8 * stored.dtype.itemsize) - 1
            asked = asked[(asked >= packing.base) & (asked <= packing.base + most)] - packing.base
        asked = asked.astype(stored.dtype)
        return spread(numpy.searchsorted(stored, asked, "left"), numpy.searchsorted(stored, asked, "right"))

    def reaching(self, value: Any, descending: bool) -> range:
        """The places of rows that are not smaller than a value in the column by which they are sorted, or not larger."""
        assert self.sorted is not None
        packing = self.packings[self.sorted]
        if packing.base is not None:
            asked = numbers(pyarrow.array([value], self.kinds.field(self.sorted).type))
            assert asked is not None
            value = int(asked[0])
        seen = Seen(self.batch.column(self.sorted), packing)
        return range(bisect_left(seen, value), self.rows) if descending else range(bisect_right(seen, value))


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


def spread(begin: Places, end: Places) -> Places:
    """All places of ranges.

    >>> spread(numpy.array([2, 7, 9]), numpy.array([4, 7, 10])).tolist()
    [2, 3, 9]
    """
    count = end - begin
    there = count > 0
    begin, count = begin[there], count[there]
    before = numpy.cumsum(count) - count
    return numpy.repeat(begin - before, count) + numpy.arange(int(count.sum()))
