"""The head of a state: what can be among the first rows of an order.

Law. Let the base hold at least n rows whose value v of the first sort key is not worse than a cut. Then the first k rows,
before a transaction and after it, all have a v that is not worse than the cut, if n is at least k plus the number of rows that
later segments and the transaction can have deleted. Row groups say their worst v, so a cut is found in the footers: take the
groups with the best worst v until they hold n rows; the worst of those is the cut. Sorted by v (see `sort_order`), only those
groups are read, whatever the size of the state. Where files have mapped copies, their n best v are read themselves, and
no more than the head is read.

>>> Head(position=0, cut=5, descending=True, nulls=False).mask(pyarrow.chunked_array([[9, 5, 4, None]])).to_pylist()
[True, True, False, False]

Entries are identified by their whole row, v included: those not worse than the cut are complete in what is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.data.types import Date, Decimal, Integer, String, Type
from evercurrent.delta.program import Ranked, State
from evercurrent.engine.spark.storage.entry_reader import EntryReader, past_damaged_copies
from evercurrent.engine.spark.storage.mapped_copy import Copy
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.term.nodes import Column

MOST_SEEN = 200_000
"""The most values of copies that are read to find a cut."""


@dataclass(frozen=True)
class Head:
    """The entries whose column at `position` is not worse than the cut."""

    position: int
    cut: Any
    descending: bool
    nulls: bool  # whether NULL is better than anything

    def mask(self, column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
        compare = pyarrow.compute.greater_equal if self.descending else pyarrow.compute.less_equal
        kept = pyarrow.compute.fill_null(compare(column, pyarrow.scalar(self.cut, column.type)), False)
        return pyarrow.compute.or_(kept, pyarrow.compute.is_null(column)) if self.nulls else kept

    def may_hold(self, best: Any, nulls: bool) -> bool:
        if nulls and self.nulls:
            return True
        return best is not None and bool(best >= self.cut if self.descending else best <= self.cut)


@past_damaged_copies
def head_of(reader: EntryReader, store: Store, state: State, function: Ranked, lost: int) -> Head | None:
    """The head that the first rows lie in, if `lost` rows are taken away; None if the whole state is to be read."""
    if function.limit is None or function.ties != "rows" or not function.order or not store.base:
        return None
    first = function.order[0]
    position = next(
        (
            i
            for i, c in enumerate(state.columns)
            if isinstance(first.term, Column) and c.name == first.term.name
        ),
        None,
    )
    if position is None or not orders_alike(first.term.type):
        return None
    need = function.offset + function.limit + lost + sum(s.rows for s in store.recent)
    if 2 * need >= sum(s.rows for s in store.base):
        return None
    name = f"c{position}"
    files = [f for s in store.base for f in s.files]
    copies = [reader.copy(f) for f in files]
    if need * len(files) <= MOST_SEEN and all(c is not None and c.sorted == name for c in copies):
        best = [v for c in copies if c is not None for v in edge(c, name, need, first.descending)]
        best.sort(reverse=first.descending)
        return Head(position, best[need - 1], first.descending, first.nulls_first)
    groups = []
    for file in files:
        footer = reader.footer(file)
        for i, found in enumerate(footer.range(name)):
            if found is None or found[0] is None or found[2]:
                return None  # NULLs, or a file that does not say
            worst = found[0] if first.descending else found[1]
            groups.append((worst, footer.metadata.row_group(i).num_rows))
    groups.sort(key=lambda g: g[0], reverse=first.descending)
    for worst, rows in groups:
        need -= rows
        if need <= 0:
            return Head(position, worst, first.descending, first.nulls_first)
    return None


def edge(copy: Copy, name: str, count: int, descending: bool) -> list[Any]:
    """The best values of a file that is sorted by a column."""
    count = min(count, copy.rows)
    begin = copy.rows - count if descending else 0
    return list(copy.take(name, numpy.arange(begin, begin + count)).to_pylist())


def orders_alike(t: Type) -> bool:
    """Whether statistics, Arrow and we order values alike."""
    return isinstance(t, Integer | Decimal | Date | String)


@past_damaged_copies
def read_head(
    reader: EntryReader, store: Store, schema: pyarrow.Schema, head: Head
) -> Sequence[pyarrow.Table]:
    """The rows of all segments in the head."""
    name = schema.field(head.position).name
    tables = []
    for segment in store.segments:
        for file in segment.files:
            copy = reader.copy(file)
            if copy is not None and copy.sorted == name and copy.names.issuperset(schema.names):
                places = numpy.array(copy.find_reaching(head.cut, head.descending), numpy.int64)
                columns = [copy.take(n, places) for n in schema.names]
                tables.append(pyarrow.table(columns, schema.names).cast(schema))
                reader.read_bytes += sum(copy.bytes(n, places) for n in schema.names)
                continue
            footer = reader.footer(file)
            groups = []
            for i, found in enumerate(footer.range(name)):
                best = None if found is None else found[1] if head.descending else found[0]
                if found is None or head.may_hold(best, found[2]):
                    groups.append(i)
            if groups:
                footer.require(groups, schema.names)
                with footer.open_file() as opened:
                    table = opened.read_row_groups(groups, columns=schema.names)
                table = table.select(schema.names).cast(schema)
                tables.append(table.filter(head.mask(table.column(name))))
                reader.read_bytes += segment.bytes * len(groups) // (footer.groups * len(segment.files))
    return tables
