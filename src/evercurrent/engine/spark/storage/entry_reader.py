"""Entries of stores, by key, read by the driver without a job.

A lookup of few keys needs no cluster: segments are read with pyarrow, row groups whose statistics exclude every key are
left out, and only the entries of the asked keys become Python values. Segments are immutable, so small files that were
read once stay in memory (up to `CACHE_BYTES`, oldest out first).

    segments  {7: 9.50, 8: 1.00}, {7: +3.00}       asked {7}       entries {7: 12.50}
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial, wraps
from operator import itemgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow
import pyarrow.compute
from pyspark.sql.types import StructType

from evercurrent.data.types import Array, Decimal, Float, Integer, Map, Struct, Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.digests import H, digests
from evercurrent.engine.spark.storage.file_schema import W, is_added, row_schema
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.lookup import Footer, among, find, find_in, only
from evercurrent.engine.spark.storage.mapped_copy import Copy, DamagedCopyError
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_values
from evercurrent.engine.spark.translate.types import arrow_schema, plain

CACHE_BYTES = 256 * 1024 * 1024
CACHE_ROWS = 300_000
BATCH_BYTES = 512 * 1024 * 1024
"""The most bytes of entries, in Arrow's form, that may become Python values in one transaction; those take about four times as much."""
FOOTERS = 5_000
STRAYS = 5_000
"""More rows than this that come along with the asked ones are left out before they become Python values."""


P = ParamSpec("P")
T = TypeVar("T")


class TooLarge(Exception):
    """This is more than the driver should hold: the cluster is to do it."""


def past_damaged_copies(
    read: Callable[Concatenate[EntryReader, P], T],
) -> Callable[Concatenate[EntryReader, P], T]:
    """Read again without a mapped copy that turns out to be damaged."""

    @wraps(read)
    def retry(reader: EntryReader, /, *args: P.args, **options: P.kwargs) -> T:
        while True:
            try:
                return read(reader, *args, **options)
            except DamagedCopyError as problem:
                reader.drop_copy(problem)

    return retry


class EntryReader:
    """Reads stores of one warehouse. `budget` and `byte_budget`: how many entries may become Python values in one transaction,
    and how many bytes these may take as Arrow has them."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.cache: OrderedDict[str, pyarrow.Table] = OrderedDict()
        self.cached = 0
        self.decoded: OrderedDict[str, list[tuple[Any, ...]]] = OrderedDict()
        self.decoded_rows = 0
        self.footers: OrderedDict[str, Footer] = OrderedDict()
        self.copies: OrderedDict[str, Copy | None] = OrderedDict()
        self.read_bytes = 0
        self.marked = 0  # how much had been read when a change began
        self.budget = 0
        self.byte_budget = BATCH_BYTES

    def allow(self, entries: int, most_bytes: int = BATCH_BYTES) -> None:
        """Set how many entries, and how many bytes of them, may become Python values from here on."""
        self.budget, self.byte_budget = entries, most_bytes

    def table(self, file: str, schema: pyarrow.Schema) -> pyarrow.Table:
        """The columns of a file, of which those that were asked for before are in memory."""
        found = self.cache.get(file)
        if found is not None and set(schema.names) <= set(found.column_names):
            self.cache.move_to_end(file)
            return found.select(schema.names)
        more = [] if found is None else [f for f in found.schema if f.name not in schema.names]
        table = self.load(file, pyarrow.schema([*schema, *more]))
        self._cache(file, table)
        return table.select(schema.names)

    def _cache(self, file: str, table: pyarrow.Table) -> None:
        old = self.cache.pop(file, None)
        self.cached -= 0 if old is None else old.nbytes
        self.cache[file] = table
        self.cached += table.nbytes
        while self.cached > CACHE_BYTES and len(self.cache) > 1:
            _, old = self.cache.popitem(last=False)
            self.cached -= old.nbytes

    def load(self, file: str, schema: pyarrow.Schema) -> pyarrow.Table:
        table = self.folder.parquet(file, schema.names).select(schema.names).cast(schema)
        marks = self.folder.disk.marks(self.folder.path(file))
        self.read_bytes += 0 if marks is None else marks[0]
        return table

    def rows(
        self,
        store: Store,
        schema: StructType,
        types: Sequence[Type],
        key: Sequence[int] = (),
        wanted: Collection[Row] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Rows of all segments as tuples in the order of the schema, internal values by `types`, then totals: integers of units.

        With `wanted`, at least those whose columns at `key` are among these tuples; other rows may come along.
        """
        arrow = arrow_schema(schema)
        columns: list[Wanted] = []
        if wanted is not None:
            try:
                columns = self.list_wanted(arrow, types, key, wanted)
            except (pyarrow.ArrowInvalid, OverflowError):
                wanted = [k for k in wanted if fits(k, [types[i] for i in key])]
                columns = self.list_wanted(arrow, types, key, wanted)
        result: list[tuple[Any, ...]] = []
        for segment in store.segments:
            for file in segment.find_holding(columns):
                if columns:
                    found = self.choose_rows(file, segment, arrow, columns)
                    if wanted is not None and len(columns) > 1 and found.num_rows > STRAYS + 2 * len(wanted):
                        found = among(found, together(key, wanted, types, arrow))
                    result += self._decode(found, types)
                else:
                    result += self._whole(file, arrow, types)
            for origin in segment.origins:
                result += self._decode(self.elsewhere(origin, arrow, columns, self.budget), types)
        return result

    def list_wanted(
        self, schema: pyarrow.Schema, types: Sequence[Type], key: Sequence[int], wanted: Collection[Row]
    ) -> list[Wanted]:
        """The values that are asked for in each column of a key, as far as Arrow can tell them apart."""
        columns = []
        for position, i in enumerate(key):
            if filterable(types[i]):
                values = [plain(types[i], v) for v in {k[position] for k in wanted}]
                columns.append(Wanted.of(schema.field(i).name, values, schema.field(i).type))
        return columns

    def elsewhere(
        self, origin: str, schema: pyarrow.Schema, wanted: Sequence[Wanted] = (), most: int = sys.maxsize
    ) -> pyarrow.Table:
        """Rows that lie in a source; `TooLarge` if they are more than `most`."""
        table = self.folder.origins.table(origin, schema, wanted, most)
        self.read_bytes += table.nbytes
        return table

    def parts(self, segment: Segment, schema: pyarrow.Schema) -> Iterator[pyarrow.Table]:
        """All rows of a segment, file by file."""
        for file in segment.files:
            yield self.whole(file, segment, schema)
        for origin in segment.origins:
            yield self.elsewhere(origin, schema)

    def pick_columns(
        self, segment: Segment, schema: StructType, types: Sequence[Type], kept: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """The rows of a segment, of their columns only those at the positions in `kept`, and their weights."""
        arrow = arrow_schema(schema)
        narrow = pyarrow.schema([*(arrow.field(i) for i in kept), arrow.field(W)])
        result: list[tuple[Any, ...]] = []
        for file in segment.files:
            known = self.decoded.get(file)
            if known is None:
                table = self.whole(file, segment, narrow)
                result += self._decode(table, [types[i] for i in kept])
            else:
                self.spend(len(known))
                result += map(itemgetter(*kept, -1), known) if kept else ((row[-1],) for row in known)
        for origin in segment.origins:
            result += self._decode(self.elsewhere(origin, narrow, (), self.budget), [types[i] for i in kept])
        return result

    def mark(self) -> None:
        """A change begins: what is read from here on is read for it."""
        self.marked = self.read_bytes

    def columns(
        self,
        store: Store,
        types: Sequence[Type],
        key: Sequence[str],
        keys: pyarrow.Table,
        names: Sequence[str],
    ) -> pyarrow.Table:
        """These columns, among them digests, of rows under at least the keys, as Arrow has them; not consolidated.

        `key` names columns of the rows and of `keys`. Files from before there were digests are read whole.
        """
        whole = arrow_schema(row_schema(types)).append(pyarrow.field(H, pyarrow.int64()))
        narrow = pyarrow.schema([whole.field(n) for n in names])
        if not keys.num_rows:
            return narrow.empty_table()
        wanted = [Wanted.among(n, keys.column(n)) for n in key]
        parts = [narrow.empty_table()]
        for segment in store.segments:
            for file in segment.find_holding(wanted):
                if H not in names or self.has(file, H):
                    parts.append(self.choose_rows(file, segment, narrow, wanted))
                else:
                    rows = self.choose_rows(file, segment, whole.remove(len(whole) - 1), wanted)
                    parts.append(rows.append_column(H, digests(types, rows)).select(names))
            for origin in segment.origins:
                rows = self.elsewhere(origin, whole.remove(len(whole) - 1) if H in names else narrow, wanted)
                parts.append(
                    rows.append_column(H, digests(types, rows)).select(names) if H in names else rows
                )
        return pyarrow.concat_tables(parts)

    def _whole(self, file: str, schema: pyarrow.Schema, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        """All rows of a file; those that were decoded once are kept, up to `CACHE_ROWS`."""
        found = self.decoded.get(file)
        if found is not None:
            self.decoded.move_to_end(file)
            self.spend(len(found))
            return found
        rows = self._decode(self.table(file, schema), types)
        self._keep(file, rows)
        return rows

    def remember(self, segment: Segment, entries: Sequence[tuple[Row, int]]) -> None:
        """Keep rows that were just written: they are about to be read."""
        (file,) = segment.files
        self._keep(file, [(*row, w) for row, w in entries])

    def remember_table(self, segment: Segment, table: pyarrow.Table) -> None:
        """The same for rows that are columns still."""
        (file,) = segment.files
        if table.nbytes <= CACHE_BYTES // 2:
            self._cache(file, table)

    def _keep(self, file: str, rows: list[tuple[Any, ...]]) -> None:
        self.decoded[file] = rows
        self.decoded_rows += len(rows)
        while self.decoded_rows > CACHE_ROWS and self.decoded:
            _, old = self.decoded.popitem(last=False)
            self.decoded_rows -= len(old)

    def decode(self, tables: Sequence[pyarrow.Table], types: Sequence[Type]) -> list[tuple[Any, ...]]:
        """Rows of tables in the order of a store's schema, as `rows` returns them."""
        return [row for table in tables for row in self._decode(table, types)]

    def spend(self, rows: int, size: int = 0) -> None:
        self.budget -= rows
        self.byte_budget -= size
        if self.budget < 0 or self.byte_budget < 0:
            raise TooLarge

    def describe_excess(self, allowed: int) -> str:
        """What was more than the budget, in words."""
        return f"{BATCH_BYTES >> 20} MB of entries" if self.byte_budget < 0 else f"{allowed} entries"

    @past_damaged_copies
    def choose_rows(
        self, file: str, segment: Segment, schema: pyarrow.Schema, wanted: Sequence[Wanted]
    ) -> pyarrow.Table:
        """The rows of a file under the keys: of a small one that stays in memory, or of the row groups that can hold them."""
        if segment.small:
            return only(self.table(file, schema), wanted)
        copy = self.copy(file)
        found = None if copy is None else find_in(copy, partial(self.footer, file), schema, wanted)
        if found is None:
            table, share = find(self.footer(file), schema, wanted, segment.order)
            found = table, int(segment.bytes // len(segment.files) * share)
        self.read_bytes += found[1]
        return found[0]

    def whole(self, file: str, segment: Segment, schema: pyarrow.Schema) -> pyarrow.Table:
        """All rows of a file; only a small one stays in memory."""
        if segment.small:
            return self.table(file, schema)
        return self.load(file, schema)

    def footer(self, file: str) -> Footer:
        found = self.footers.get(file)
        if found is None:
            found = self.footers[file] = Footer.read(self.folder.open(file))
            if len(self.footers) > FOOTERS:
                self.footers.popitem(last=False)
        return found

    def has(self, file: str, column: str) -> bool:
        """Whether a file has a column; footers are read only where there is no copy that says so."""
        copy = self.copy(file)
        return (copy is not None and column in copy.names) or self.footer(file).place(column) is not None

    def copy(self, file: str) -> Copy | None:
        """The mapped copy of a file, if it has one."""
        if file not in self.copies:
            self.copies[file] = self.folder.copy(file)
            if len(self.copies) > FOOTERS:
                self.copies.popitem(last=False)
        return self.copies[file]

    def forget_others(self, kept: Collection[str]) -> None:
        """Closes what is open of all files but these: the disk keeps a removed file for as long as it is mapped."""
        opened: tuple[OrderedDict[str, Any], ...] = (self.footers, self.copies)
        for known in opened:
            for file in known.keys() - kept:
                del known[file]
        for file in self.cache.keys() - kept:
            self.cached -= self.cache.pop(file).nbytes

    def drop_copy(self, problem: DamagedCopyError) -> None:
        """Read a file without its mapped copy from now on."""
        self.folder.warn(problem)
        for file, copy in self.copies.items():
            if copy is not None and copy.checked.path == problem.path:
                self.copies[file] = None

    def _decode(self, table: pyarrow.Table, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        self.spend(table.num_rows, table.nbytes)
        if not table.num_rows:
            return []
        columns = []
        for i, column in enumerate(table.columns):
            if i < len(types):
                columns.append(arrow_to_values(types[i], column))
            elif pyarrow.types.is_decimal(column.type):
                columns.append(arrow_to_values(Decimal(38, column.type.scale), column))
            else:
                columns.append(column.to_pylist())
        return list(zip(*columns, strict=True))


def filterable(t: Type) -> bool:
    """Whether Arrow's equality of values is ours."""
    return not isinstance(t, Float | Array | Map | Struct)


def together(
    key: Sequence[int], wanted: Collection[Row], types: Sequence[Type], schema: pyarrow.Schema
) -> pyarrow.Table:
    """The asked keys as a table, without the columns in which NULL is asked for: Arrow's joins never find it."""
    columns = {}
    for position, i in enumerate(key):
        values = [k[position] for k in wanted]
        if filterable(types[i]) and None not in values:
            field = schema.field(i)
            columns[field.name] = pyarrow.array([plain(types[i], v) for v in values], field.type)
    return pyarrow.table(columns)


def fits(key: Row, types: Sequence[Type]) -> bool:
    """Whether a key can be one of columns of these types: an integer that is compared with them may be too wide.

    >>> fits((2**40, None), [Integer(64), Integer(32)]), fits((2**40,), [Integer(32)])
    (True, False)
    """
    return all(
        v is None or not isinstance(t, Integer) or -1 << (t.bits - 1) <= v < 1 << (t.bits - 1)
        for v, t in zip(key, types, strict=True)
    )


def plain_keys(schema: StructType) -> bool:
    """Whether Arrow can tell entries apart as Spark does: no floats, nothing nested."""
    keys = [arrow_schema(schema).field(n).type for n in schema.names if not is_added(n)]
    return not any(pyarrow.types.is_floating(t) or pyarrow.types.is_nested(t) for t in keys)


def consolidate_store(reader: EntryReader, store: Store, schema: StructType) -> pyarrow.Table:
    """All segments of a store, consolidated by Arrow."""
    arrow = arrow_schema(schema)
    return consolidate_tables([table for s in store.segments for table in reader.parts(s, arrow)], schema)


def consolidate_tables(tables: Sequence[pyarrow.Table], schema: StructType) -> pyarrow.Table:
    """Tables of entries as one, in which each stands once and none is zero."""
    arrow = arrow_schema(schema)
    keys = [n for n in schema.names if not is_added(n)]
    totals = [n for n in schema.names if is_added(n)]
    grouped = pyarrow.concat_tables(tables).group_by(keys).aggregate([(n, "sum") for n in totals])
    columns = [grouped.column(n if n in keys else f"{n}_sum") for n in schema.names]
    result = pyarrow.Table.from_arrays(columns, names=schema.names).cast(arrow)
    zero = None
    for n in totals:
        here = pyarrow.compute.equal(result.column(n), pyarrow.scalar(0, arrow.field(n).type))
        zero = here if zero is None else pyarrow.compute.and_(zero, here)
    return result.filter(pyarrow.compute.invert(zero))
