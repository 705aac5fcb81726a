"""The smallest or largest values of bags, read from the edges of their groups.

Files of a bag are sorted by the columns of its entries and then by the value, so the largest values of a group stand at its end.
Where a file has a mapped copy, a binary search finds the group, and a few rows of its edge are read, however many it has.

    max(cents) by day       day 3 in a file: 7, 8, 9, 12         read 9, 12       the rest is not larger than 9: the cut
    added                   -12, +10                             10 and 9 are left; 10 is beyond the cut: the answer
    added                   -12, -9                              nothing is left beyond the cut: more of the edge is read

State            the values that were read of each group, with their weights, and the cut
Cost             a search and a few rows for each group and file; more where the extreme values are deleted
Correct because  all that is stored of a value beyond the cut was read, from every file: so its weight is known
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy
import pyarrow
import pyarrow.compute

from evercurrent.data.order import sort_key
from evercurrent.data.types import Date, Decimal, Integer, String, Timestamp, Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.entry_reader import EntryReader, past_damaged_copies
from evercurrent.engine.spark.storage.file_schema import Shape, W
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.mapped_copy import Copy, Places
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import expand_ranges
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_values, values_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema

DEPTHS = (4, 32, 256, 2048, 16384)
"""How many rows of the edge of a group are read at first, then if these do not suffice; at last the whole group is."""
VALUE = "a0"
ORDERED = (Integer, Decimal, Date, Timestamp, String)
"""The types whose values Python and Arrow order alike."""

Bag = Mapping[Row, int]
"""Values, each in a row of its own, and what is added to their weights."""


@dataclass
class Edge:
    """What was read of one group: values and weights. Of values that are not beyond the `cut` there may be more."""

    values: dict[Row, int] = field(default_factory=dict)
    cut: Any = None
    blind: bool = False  # nothing is known of any value


class Extremes:
    """The stored part of one bag of `min` or `max`."""

    def __init__(self, reader: EntryReader, shape: Shape, i: int, store: Store) -> None:
        aggregate = shape.state.accumulators[i].aggregate
        assert aggregate is not None
        self.reader, self.store = reader, store
        self.largest = aggregate.function == "max"
        self.type: Type = aggregate.args[0].type
        self.schema = shape.bag_schema(i)
        self.columns = shape.columns
        self.key_types: list[Type] = [c.type for c in shape.state.columns]
        self.edges: dict[Row, Edge] = {}

    def fetch(self, keys: Collection[Row], added: Mapping[Row, Bag]) -> None:
        """Reads so much of these groups that `find` knows their extremes after something is added to them."""
        missing = [k for k in keys if not self.is_known(k, added.get(k, {}))]
        for depth in (*DEPTHS, None):
            if not missing:
                return
            self.read(missing, depth)
            missing = [k for k in missing if not self.is_known(k, added.get(k, {}))]

    def is_known(self, key: Row, added: Bag) -> bool:
        edge = self.edges.get(key)
        if edge is None or edge.blind:
            return False
        return edge.cut is None or self.find(key, added) is not None

    def find(self, key: Row, added: Bag) -> Any:
        """The extreme of a group that was fetched; None if it has no values."""
        edge = self.edges[key]
        values = [v[0] for v, w in edge.values.items() if v[0] is not None and w + added.get(v, 0) > 0]
        values += [v[0] for v, w in added.items() if v[0] is not None and w > 0 and v not in edge.values]
        if edge.cut is not None:
            values = [v for v in values if (v > edge.cut if self.largest else v < edge.cut)]
        if not values:
            return None
        pick = max if self.largest else min
        if isinstance(self.type, ORDERED):
            return pick(values)
        return pick(values, key=sort_key(self.type))

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, keys: list[Row], depth: int | None) -> None:
        """Reads the groups again, `depth` rows of each file; None: all of them."""
        read_past_damage(self.reader, self, keys, depth)

    def read_files(self, keys: list[Row], depth: int | None) -> None:
        self.edges |= {k: Edge() for k in keys}
        wanted = set(keys)
        for segment in self.list_files(keys):
            copy = None if depth is None or segment.small else self.find_copy(segment)
            if copy is None or depth is None:
                self.read_whole(segment, wanted)
            else:
                self.read_edges(copy, keys, depth)

    def list_files(self, keys: Collection[Row]) -> Iterator[Segment]:
        """The files that can hold these keys, each as a segment of its own, and what lies elsewhere."""
        arrow = arrow_schema(self.schema)
        at = range(len(self.key_types))
        columns = self.reader.list_wanted(arrow, self.key_types, at, keys)
        for segment in self.store.segments:
            number = max(1, len(segment.files))
            ranges = dict(zip(segment.files, segment.ranges, strict=True)) if segment.ranges else {}
            own = replace(segment, rows=segment.rows // number, bytes=segment.bytes // number, origins=())
            for file in segment.find_holding(columns):
                yield replace(own, files=(file,), ranges=(ranges.get(file),))
            if segment.origins:
                yield replace(segment, files=(), ranges=())

    def find_copy(self, segment: Segment) -> Copy | None:
        """The mapped copy of a file, if its rows are known to rise by the columns of the entries and then by the value."""
        order = (*self.columns, VALUE)
        known = segment.files and isinstance(self.type, ORDERED)
        copy = self.reader.copy(segment.files[0]) if known else None
        return copy if copy is not None and copy.order[: len(order)] == order else None

    def read_whole(self, segment: Segment, wanted: set[Row]) -> None:
        width = len(self.key_types)
        types = [*self.key_types, self.type]
        asked = wanted if width else None
        for row in self.reader.rows(Store((segment,)), self.schema, types, range(width), asked):
            edge = self.edges[row[:width]] if row[:width] in wanted else None
            if edge is not None:
                value = row[width:-1]
                edge.values[value] = edge.values.get(value, 0) + row[-1]

    def read_edges(self, copy: Copy, keys: list[Row], depth: int) -> None:
        keys = [k for k in keys if None not in k]  # such a copy has no NULL in the columns of entries
        asked = {
            name: values_to_arrow(t, [k[j] for k in keys]).cast(copy.kinds.field(name).type)
            for j, (name, t) in enumerate(zip(self.columns, self.key_types, strict=True))
        }
        begin, end = find_ranges(copy, asked, len(keys))
        low = numpy.maximum(begin, end - depth) if self.largest else begin
        high = end if self.largest else numpy.minimum(end, begin + depth)
        places = expand_ranges(low, high)
        column, weights = copy.take(VALUE, places), copy.take(W, places)
        self.reader.spend(len(places), column.nbytes + weights.nbytes)
        self.reader.read_bytes += copy.bytes(VALUE, places) + copy.bytes(W, places)
        values, counts = arrow_to_values(self.type, column), weights.to_pylist()
        partial = (end - begin > depth).tolist()
        at = 0
        for key, number, cut in zip(keys, (high - low).tolist(), partial, strict=True):
            edge = self.edges[key]
            for j in range(at, at + number):
                value = (values[j],)
                edge.values[value] = edge.values.get(value, 0) + counts[j]
            if cut:
                self.cut(edge, values[at if self.largest else at + number - 1])
            at += number

    def cut(self, edge: Edge, worst: Any) -> None:
        """There is more of a group beyond the worst value that was read. NULLs are larger than all values."""
        if worst is None:  # the smallest values are all there, if a NULL was reached; of the largest, none
            edge.blind = edge.blind or self.largest
        elif edge.cut is None:
            edge.cut = worst
        else:
            edge.cut = max(edge.cut, worst) if self.largest else min(edge.cut, worst)


@past_damaged_copies
def read_past_damage(reader: EntryReader, extremes: Extremes, keys: list[Row], depth: int | None) -> None:
    extremes.read_files(keys, depth)


def find_ranges(copy: Copy, keys: Mapping[str, pyarrow.Array], number: int) -> tuple[Places, Places]:
    """Where the rows of each of `number` keys begin and end; the rows of the copy rise by these columns together."""
    begin = numpy.zeros(number, numpy.int64)
    end = numpy.full(number, copy.rows, numpy.int64)
    for name, asked in keys.items():
        first = search(copy, name, asked, begin, end, pyarrow.compute.less)
        end = search(copy, name, asked, first, end, pyarrow.compute.less_equal)
        begin = first
    return begin, end


def search(
    copy: Copy, name: str, asked: pyarrow.Array, begin: Places, end: Places, below: Callable[..., Any]
) -> Places:
    """The first place of each range whose value is not below the asked one, by binary search in all ranges at once."""
    low, high = begin.copy(), end.copy()
    while True:
        open_ranges = numpy.flatnonzero(low < high)
        if not len(open_ranges):
            return low
        middle = (low[open_ranges] + high[open_ranges]) // 2
        found = below(copy.take(name, middle), asked.take(pyarrow.array(open_ranges)))
        is_below = found.to_numpy(zero_copy_only=False).astype(bool)
        low[open_ranges[is_below]] = middle[is_below] + 1
        high[open_ranges[~is_below]] = middle[~is_below]
