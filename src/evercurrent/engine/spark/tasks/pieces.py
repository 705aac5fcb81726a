"""Sorted files that one task writes, and slices of files that one task reads.

A *slice* is a run of row groups, of one file or of several small ones: what a task reads of a delta. A *piece* is a file that
a task has written for a store, in the store's order: many pieces together are what a wave of tasks adds to it, and `merging`
makes one segment of them. Until then they are segments like others: a lookup reads the entries of a key in all of them.

    slices(reader, segment, 250_000)      [Slice((("data/t/1.parquet", 0, 31),)), ...]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.engine.spark.storage.checksums import block_sums, digest, write_sums
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import DECIMALS, encodings_of, is_packed
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.lookup import Footer
from evercurrent.engine.spark.storage.sort_order import sort_rows
from evercurrent.engine.spark.storage.store_names import StoreName

PIECE_GROUP = 65_536
"""Rows in a row group of a piece."""
SAMPLES = 64
"""The number of keys of a piece that are returned to the driver, which derives ranges from them."""

Key = tuple[Any, ...]
"""The values of a row in the columns of an order."""


@dataclass(frozen=True)
class Slice:
    """Row groups of files: path, the first and the one behind the last."""

    parts: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Piece:
    """A sorted file that a task has written for a store, and some of its keys."""

    store: StoreName
    file: str
    rows: int
    bytes: int
    order: tuple[str, ...]
    sample: tuple[Key, ...] = ()

    @property
    def segment(self) -> Segment:
        return Segment((self.file,), self.rows, self.bytes, self.order)


def slices(reader: EntryReader, segments: Sequence[Segment], most: int) -> list[Slice]:
    """Returns the rows of segments, in slices of about `most` rows."""
    result: list[Slice] = []
    open_parts: list[tuple[str, int, int]] = []
    rows = 0

    def close() -> None:
        nonlocal open_parts, rows
        if open_parts:
            result.append(Slice(tuple(open_parts)))
        open_parts, rows = [], 0

    for segment in segments:
        for file in segment.files:
            metadata = reader.footer(file).metadata
            begin = 0
            for group in range(metadata.num_row_groups):
                rows += metadata.row_group(group).num_rows
                if rows >= most:
                    open_parts.append((file, begin, group + 1))
                    begin = group + 1
                    close()
            if begin < metadata.num_row_groups:
                open_parts.append((file, begin, metadata.num_row_groups))
    close()
    return result


def read_slice(reader: EntryReader, part: Slice, schema: pyarrow.Schema) -> pyarrow.Table:
    """The rows of a slice in these columns."""
    tables = [schema.empty_table()]
    for file, first, last in part.parts:
        footer = reader.footer(file)
        groups = list(range(first, last))
        footer.require(groups, schema.names)
        with footer.open_file() as opened:
            found = opened.read_row_groups(groups, columns=schema.names)
        reader.read_bytes += sum(footer.metadata.row_group(g).total_byte_size for g in groups)
        tables.append(found.select(schema.names).cast(schema))
    return pyarrow.concat_tables(tables)


def write_piece(reader: EntryReader, store: StoreName, table: pyarrow.Table) -> Piece | None:
    """Write rows of a store, in its order; None of no rows. They live as long as a transaction, so they are hardly packed."""
    if not table.num_rows:
        return None
    folder = reader.folder
    order = folder.orders.get(store, ())
    table = sort_rows(table, order)
    relative = folder.fresh(store) + ".parquet"
    path = folder.path(relative)
    sink = pyarrow.BufferOutputStream()
    own = {"row_group_size": PIECE_GROUP, **encodings_of_piece(table.schema), **DECIMALS}
    pyarrow.parquet.write_table(table, sink, store_schema=False, **own)
    data = sink.getvalue()
    sums = block_sums(data)
    folder.made.append(relative)
    folder.disk.put(path, data)
    write_sums(path, sums, data.size, folder.disk)
    folder.expect(store, relative, digest(sums, data.size))
    return Piece(store, relative, table.num_rows, data.size, order, sample_of(table, order))


def encodings_of_piece(schema: pyarrow.Schema) -> dict[str, Any]:
    """How the columns of a piece are written: integers as differences, which take half the time that lz4 takes, the others as they are.

    >>> encodings_of_piece(pyarrow.schema([("c0", pyarrow.int64()), ("c1", pyarrow.string())]))["compression"]
    {'c0': 'none', 'c1': 'lz4'}
    """
    own = encodings_of(schema)
    if not own:
        return {"compression": "lz4", "use_dictionary": False}
    plain = {f.name: "none" if is_packed(f.type) else "lz4" for f in schema}
    return {"compression": plain, "use_dictionary": False, "column_encoding": own["column_encoding"]}


def pieces_of(reader: EntryReader, store: StoreName, segment: Segment, order: tuple[str, ...]) -> list[Piece]:
    """The files of a segment as pieces; their samples are the least keys of row groups."""
    result = []
    for file in segment.files:
        footer = reader.footer(file)
        known = footer.range(order[0]) if order else []
        sample = tuple((r[0],) for r in known if r is not None and r[0] is not None)
        size = segment.bytes // len(segment.files)
        result.append(Piece(store, file, footer.metadata.num_rows, size, segment.order, sample))
    return result


def rises(table: pyarrow.Table, key: Sequence[str]) -> bool:
    """Whether no two neighbours have the same key: then, of sorted rows, no two rows at all.

    >>> rises(pyarrow.table({"a": [1, 1, 2], "b": [1, 2, 2]}), ["a", "b"]), rises(pyarrow.table({"a": [1, 1]}), ["a"])
    (True, False)
    """
    same: Any = None
    for name in key:
        column = table.column(name).combine_chunks()
        if column.null_count:
            return False
        here = pyarrow.compute.equal(column.slice(1), column.slice(0, max(0, len(column) - 1)))
        same = here if same is None else pyarrow.compute.and_(same, here)
    return same is not None and not pyarrow.compute.any(same).as_py()


def sample_of(table: pyarrow.Table, order: Sequence[str]) -> tuple[Key, ...]:
    """Keys of sorted rows, spread evenly."""
    if not order or not table.num_rows:
        return ()
    step = max(1, table.num_rows // SAMPLES)
    places = list(range(step // 2, table.num_rows, step))
    columns = [table.column(n).take(pyarrow.array(places)).to_pylist() for n in order]
    return tuple(zip(*columns, strict=True))


def below(table: pyarrow.Table, order: Sequence[str], bound: Key) -> Any:
    """For each row whether it comes before a key, or before the first values of one.

    >>> rows = pyarrow.table({"a": [1, 2, 2, None], "b": [9, 1, 5, 0]})
    >>> below(rows, ["a", "b"], (2, 5)).to_pylist(), below(rows, ["a", "b"], (2,)).to_pylist()
    ([True, True, False, False], [True, False, False, False])
    """
    result = equal = None
    for name, value in zip(order, bound, strict=False):
        here, same = compare_column(table.column(name), value)
        here = here if equal is None else pyarrow.compute.and_(equal, here)
        result = here if result is None else pyarrow.compute.or_(result, here)
        equal = same if equal is None else pyarrow.compute.and_(equal, same)
    return result


def compare_column(column: pyarrow.ChunkedArray, value: Any) -> tuple[Any, Any]:
    """For each value of a column whether it comes before a value, and whether it equals it; NULLs are last."""
    if value is None:
        return pyarrow.compute.is_valid(column), pyarrow.compute.is_null(column)
    scalar = pyarrow.scalar(value, column.type)
    below = pyarrow.compute.fill_null(pyarrow.compute.less(column, scalar), False)
    equal = pyarrow.compute.fill_null(pyarrow.compute.equal(column, scalar), False)
    return below, equal


def in_range(
    reader: EntryReader,
    segment: Segment,
    schema: pyarrow.Schema,
    order: Sequence[str],
    low: Key | None,
    high: Key | None,
) -> Iterator[pyarrow.Table]:
    """The rows of files from a key on, up to another one; of files in this order only the row groups that can hold them are read."""
    for file in segment.files:
        footer = reader.footer(file)
        groups = [g for g in range(footer.groups) if not order or meets(footer, g, order, low, high)]
        if not groups:
            continue
        footer.require(groups, schema.names)
        with footer.open_file() as opened:
            table = opened.read_row_groups(groups, columns=schema.names).select(schema.names).cast(schema)
        reader.read_bytes += sum(footer.metadata.row_group(g).total_byte_size for g in groups)
        table = cut(table, order, low, high)
        if table.num_rows:
            yield table


def cut(table: pyarrow.Table, order: Sequence[str], low: Key | None, high: Key | None) -> pyarrow.Table:
    """The rows from a key on, up to another one; where they are sorted by one column of integers, a part that is not copied.

    >>> cut(pyarrow.table({"a": [1, 2, 2, 3]}), ["a"], (2,), (3,)).to_pydict()
    {'a': [2, 2]}
    """
    bounds = [b for b in (low, high) if b is not None]
    if not bounds:
        return table
    first = table.column(order[0])
    if pyarrow.types.is_integer(first.type) and not first.null_count and all(len(b) == 1 for b in bounds):
        values = first.to_numpy()
        if bool((values[1:] >= values[:-1]).all()):
            begin, end = (
                open_end if b is None or b[0] is None else int(numpy.searchsorted(values, b[0]))
                for b, open_end in ((low, 0), (high, len(values)))
            )
            begin = len(values) if low is not None and low[0] is None else begin
            return table.slice(begin, max(0, end - begin))
    if low is not None:
        table = table.filter(pyarrow.compute.invert(below(table, order, low)))
    return table if high is None else table.filter(below(table, order, high))


def meets(footer: Footer, group: int, order: Sequence[str], low: Key | None, high: Key | None) -> bool:
    """Whether a row group can hold rows of a range, by the first column of the order."""
    found = footer.range(order[0])[group]
    if found is None or found[2] or found[0] is None:
        return True
    try:
        after = low is not None and (low[0] is None or found[1] < low[0])
        before = high is not None and high[0] is not None and found[0] > high[0]
    except TypeError:  # an instant with a zone beside one without
        return True
    return not after and not before
