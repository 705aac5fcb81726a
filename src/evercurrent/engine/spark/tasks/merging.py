"""Pieces that many tasks have written, added up to one segment: a task for each range of keys.

Law. The segment is the sum of the pieces, each row once, none of them zero; its files are sorted and do not overlap. Every
piece is sorted, so the rows of a range lie together in each of them, and one task reads them from all: no exchange of rows.

    pieces   [1 3 5 7]  [2 3 6]  [1 4 8]      ranges   .. 4   4 ..      files   [1 2 3]  [4 5 6 7 8]

The ranges are cut by samples of keys that came with the pieces. Few rows are merged in this process, as one range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import pyarrow
import pyarrow.compute
from pyspark.sql.types import StructType

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.entry_reader import EntryReader, consolidate_tables, plain_keys
from evercurrent.engine.spark.storage.file_schema import is_added
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.sort_order import sort_rows
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import join_segments
from evercurrent.engine.spark.tasks.access import Access
from evercurrent.engine.spark.tasks.pieces import Key, Piece, in_range, rises
from evercurrent.engine.spark.tasks.runner import Runner
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows, rows_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema

HERE_ROWS = 300_000
"""Pieces are merged in this process if they have at most this number of rows,"""
HERE_BYTES = 64 << 20
"""and at most this number of bytes."""
RANGE_ROWS = 1_000_000
"""The number of rows that one task merges, roughly."""


@dataclass(frozen=True)
class Target:
    """What is merged: a store, its columns, and the types of those that identify a row.

    `distinct`: no row stands in two pieces.
    """

    store: StoreName
    schema: StructType
    types: tuple[Type, ...]
    distinct: bool = False


@dataclass(frozen=True)
class Range:
    low: Key | None
    high: Key | None


def merge(runner: Runner, target: Target, pieces: Sequence[Piece], here_rows: int = HERE_ROWS) -> Segment:
    """One segment of the store of which these pieces are the sum. At most `here_rows` rows are merged in this process."""
    if not pieces:
        return EMPTY
    order = runner.reader.folder.orders.get(target.store, ())
    rows, size = sum(p.rows for p in pieces), sum(p.bytes for p in pieces)
    segments = [p.segment for p in pieces]
    function = partial(merge_range, target, segments, order)
    if (rows <= here_rows and size <= HERE_BYTES) or not order:
        found = runner.run_here(function, [Range(None, None)])
    else:
        access = Access.to(runner.reader.folder, segments, [target.store])
        found = runner.run(function, ranges(pieces, max(runner.cores, ceil(rows / RANGE_ROWS))), access)
    return join_segments(found, order)


def ranges(pieces: Sequence[Piece], number: int) -> list[Range]:
    """Returns about `number` ranges, with about as many rows in each.

    >>> pieces = [Piece("s", "a", 10, 1, ("k",), ((1,), (4,), (7,))), Piece("s", "b", 10, 1, ("k",), ((2,), (4,)))]
    >>> [(r.low, r.high) for r in ranges(pieces, 2)]
    [(None, (4,)), ((4,), None)]
    """
    sampled = [(key, p.rows / len(p.sample)) for p in pieces for key in p.sample]
    weighted = sorted(sampled, key=lambda x: rank(x[0]))
    total = sum(w for _, w in weighted)
    bounds: list[Key] = []
    seen = 0.0
    for key, weight in weighted:
        if seen >= total * (len(bounds) + 1) / number and (not bounds or bounds[-1] != key):
            bounds.append(key)
        seen += weight
    return [Range(a, b) for a, b in zip([None, *bounds], [*bounds, None], strict=True)]


def rank(key: Key) -> tuple[tuple[bool, object], ...]:
    """NULLs last."""
    return tuple((v is None, 0 if v is None else v) for v in key)


def merge_range(
    target: Target, pieces: Sequence[Segment], order: Sequence[str], reader: EntryReader, wanted: Range
) -> Segment:
    """Writes what the pieces hold in a range."""
    arrow = arrow_schema(target.schema)
    tables = [t for p in pieces for t in in_range(reader, p, arrow, order, wanted.low, wanted.high)]
    if not tables:
        return EMPTY
    if target.distinct or not order or not plain_keys(target.schema):
        return reader.folder.write(target.store, add_up(target, tables))
    table = sort_rows(pyarrow.concat_tables(tables), order)
    return reader.folder.write(
        target.store, without_zeros(table) if rises(table, order) else add_up(target, [table])
    )


def add_up(target: Target, tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Each row once, and none that is zero."""
    if target.distinct:
        return pyarrow.concat_tables(tables)
    if plain_keys(target.schema) and any(not is_added(n) for n in target.schema.names):
        return consolidate_tables(tables, target.schema)
    return add_up_rows(target, tables)


def add_up_rows(target: Target, tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """The same for rows that Arrow does not tell apart as we do: floats, nested values, or no columns at all."""
    whole = pyarrow.concat_tables(tables)
    names = target.schema.names
    totals = [n for n in names if is_added(n)]
    places: dict[Row, int] = {}
    at = [places.setdefault(row, len(places)) for row, _ in arrow_to_rows(target.types, whole, totals[0])]
    numbered = whole.select(totals).append_column("place", pyarrow.array(at, pyarrow.int64()))
    sums = numbered.group_by("place").aggregate([(n, "sum") for n in totals]).sort_by("place")
    arrow = arrow_schema(target.schema)
    rows = list(places)
    keys = rows_to_arrow(target.types, names[: len(target.types)], [(r, 1) for r in rows], "place")
    columns = [sums.column(f"{n}_sum") if is_added(n) else keys.column(n) for n in names]
    return without_zeros(pyarrow.Table.from_arrays(columns, names=names).cast(arrow))


def without_zeros(table: pyarrow.Table) -> pyarrow.Table:
    """The rows of which some total is not zero."""
    zero = None
    for name in table.column_names:
        if is_added(name):
            column = table.column(name)
            here = pyarrow.compute.equal(column, pyarrow.scalar(0, column.type))
            zero = here if zero is None else pyarrow.compute.and_(zero, here)
    return table.filter(pyarrow.compute.invert(zero))
