"""The entries of one state, held by the driver: what was read of the store, and what the transaction adds.

An entry is identified by the state's columns and dependents together: while what a key determines changes, the old and the new
entry exist side by side, and the weight of one of them becomes zero.

    read  (7, Ann): 2       added  (7, Ann): -2, (7, Anna): +2       now  (7, Anna): 2
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import add
from typing import Any

import pyarrow

from evercurrent.data.types import Decimal, Type
from evercurrent.data.zset import Row
from evercurrent.delta.program import Accumulator, Ranked
from evercurrent.engine.spark.kernel.entry_columns import Reading, picker
from evercurrent.engine.spark.kernel.extremes import Extremes
from evercurrent.engine.spark.kernel.first_rows import head_of, read_head
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import values_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import evaluate_aggregate, exact_sum

Totals = list[int]
"""The weight, then the sums of integers and decimals, in the order of the shape."""


class Entries:
    """One state. `old` are entries that were read, `new` what is added to them; bags likewise, by entry and value."""

    def __init__(self, shape: Shape, reader: EntryReader, stores: Mapping[StoreName, Store]) -> None:
        self.shape = shape
        self.reader = reader
        s = shape.state
        self.store = stores.get(shape.store, Store())
        kept = {i: stores.get(shape.bag_store(i), Store()) for i in shape.bags}
        self.extremes = {
            i: Extremes(reader, shape, i, store) for i, store in kept.items() if is_extreme(s.accumulators[i])
        }
        self.bag_stores = {i: store for i, store in kept.items() if i not in self.extremes}
        self.width = len(s.columns)
        self.members = [c.name for c in (*s.columns, *s.dependents)]
        self.types: list[Type] = [c.type for c in (*s.columns, *s.dependents)]
        self.scales = {i: _scale(s.accumulators[i].type) for i in shape.sums}
        self.zero: Totals = [0] * (1 + len(shape.sums))
        self.old: dict[Row, Totals] = {}
        self.new: dict[Row, Totals] = {}
        self.bags_new: dict[int, dict[Row, dict[Row, int]]] = {i: {} for i in shape.bags}
        self.bags_old: dict[int, dict[Row, dict[Row, int]]] = {i: {} for i in shape.bags}
        self.read_keys: dict[tuple[str, ...], set[Row]] = {}
        self.old_index: dict[tuple[str, ...], dict[Row, list[Row]]] = {}
        self.new_index: dict[tuple[str, ...], tuple[int, dict[Row, list[Row]]]] = {}
        self.read_bags: set[Row] = set()

    # --- adding --------------------------------------------------------------------------------------------

    def seed(
        self,
        seeds: Mapping[StoreName, Store],
        by: tuple[str, ...] = (),
        keys: Collection[Row] | None = None,
    ) -> None:
        """Count as added what is in these stores; what has cancelled out is not. With `keys`: only what is under them.

        `by` names columns of the state.
        """
        store = seeds.get(self.shape.store, Store())
        at = [self.members.index(name) for name in by]
        pick = picker(at)
        rows = self.reader.rows(store, self.shape.schema, self.types, at, keys if by else None)
        if keys is not None:
            rows = [row for row in rows if pick(row) in keys]
        self.new = {entry: totals for entry, totals in self.add_up(rows).items() if any(totals)}
        for i in self.shape.bags:
            types = [*self.types[: self.width], *self.shape.bag_types(i)]
            counts: dict[Row, int] = {}
            for row in self.reader.rows(
                seeds.get(self.shape.bag_store(i), Store()),
                self.shape.bag_schema(i),
                types,
                at,
                keys if by else None,
            ):
                if keys is None or pick(row) in keys:
                    counts[row[:-1]] = counts.get(row[:-1], 0) + row[-1]
            for row, w in counts.items():
                if w:
                    self.bags_new[i].setdefault(row[: self.width], {})[row[self.width :]] = w
        # Entries of which only a bag has changed are touched too.
        moved = {key for bags in self.bags_new.values() for key in bags} - {e[: self.width] for e in self.new}
        if moved:
            for entries in self.fetch(tuple(self.members[: self.width]), moved).values():
                self.new |= {entry: self.zero.copy() for entry in entries}

    def list_added(self) -> Iterator[tuple[StoreName, pyarrow.Table]]:
        """What is to be written: for the state's store, and for the store of each bag."""
        rows = [(key, totals) for key, totals in self.new.items() if any(totals)]
        if rows:
            yield self.shape.store, self.table(rows)
        for i, bags in self.bags_new.items():
            entries = [((*key, *value), w) for key, bag in bags.items() for value, w in bag.items() if w]
            if entries:
                yield self.shape.bag_store(i), self.bag_table(i, entries)

    def table(self, rows: Sequence[tuple[Row, Totals]]) -> pyarrow.Table:
        schema = arrow_schema(self.shape.schema)
        members = zip(*(key for key, _ in rows), strict=True)
        arrays = [values_to_arrow(t, column) for t, column in zip(self.types, members, strict=True)]
        weights, *sums = zip(*(totals for _, totals in rows), strict=True)
        arrays.append(pyarrow.array(weights, pyarrow.int64()))
        for j, (scale, column) in enumerate(zip(self.scales.values(), sums, strict=True), 1):
            field = schema.field(len(self.types) + j)
            arrays.append(values_to_arrow(Decimal(38, scale), column).cast(field.type))
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    def bag_table(self, i: int, entries: Sequence[tuple[Row, int]]) -> pyarrow.Table:
        schema = arrow_schema(self.shape.bag_schema(i))
        types = [*self.types[: self.width], *self.shape.bag_types(i)]
        members = zip(*(row for row, _ in entries), strict=True)
        arrays = [values_to_arrow(t, column) for t, column in zip(types, members, strict=True)]
        arrays.append(pyarrow.array([w for _, w in entries], pyarrow.int64()))
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    # --- reading -------------------------------------------------------------------------------------------

    def fetch(self, by: tuple[str, ...], keys: Collection[Row]) -> dict[Row, list[Row]]:
        """The stored entries under these keys; each key is read once."""
        known = self.read_keys.setdefault(by, set())
        index = self.old_index.setdefault(by, {})
        missing = {k for k in keys if k not in known}
        if not missing or not self.store.segments:
            return index
        known |= missing
        at = [self.members.index(name) for name in by]
        pick = picker(at)
        rows = self.reader.rows(self.store, self.shape.schema, self.types, at, missing if by else None)
        asked = [row for under, row in zip(map(pick, rows), rows, strict=True) if under in missing]
        for entry, totals in self.add_up(asked).items():
            if totals[0]:
                index.setdefault(pick(entry), []).append(entry)
                self.old[entry] = totals
        return index

    def add_up(self, rows: Iterable[Row]) -> dict[Row, Totals]:
        """Rows of segments, added up: an entry may be in several."""
        width = len(self.types)
        found: dict[Row, Totals] = {}
        for row in rows:
            entry, more = row[:width], row[width:]
            totals = found.get(entry)
            found[entry] = list(more) if totals is None else list(map(add, totals, more))
        return found

    def fresh(self, by: tuple[str, ...]) -> dict[Row, list[Row]]:
        """What the transaction adds to, by key; entries that were added since this was last asked for are put in."""
        seen, index = self.new_index.get(by, (0, {}))
        if seen < len(self.new):
            pick = picker([self.members.index(name) for name in by])
            for entry in islice(self.new, seen, None):
                index.setdefault(pick(entry), []).append(entry)
            self.new_index[by] = (len(self.new), index)
        return index

    def index(self, by: tuple[str, ...], keys: Collection[Row], read: Reading) -> dict[Row, list[Row]]:
        """The entries of weight other than zero under each of these keys, as the state is now and as they are read."""
        stored, fresh = self.fetch(by, keys), self.fresh(by)
        old, new = self.old, self.new
        result: dict[Row, list[Row]] = {}
        for key in keys:
            kept, moved = stored.get(key), fresh.get(key)
            if moved is not None:
                came = [e for e in moved if e not in old and new[e][0]]
                if kept is not None:
                    came += [e for e in kept if e not in new or old[e][0] + new[e][0]]
                kept = came
            if kept:
                result[key] = kept
        if not read.totals:
            return result
        # Every one of these entries has a weight, and so gives a row.
        rows = iter(self.rows([e for entries in result.values() for e in entries], read, new=True))
        return {key: list(islice(rows, len(entries))) for key, entries in result.items()}

    def rows(self, entries: Collection[Row], read: Reading, *, new: bool, every: bool = False) -> list[Row]:
        """Entries as rows; with `every` also those of weight zero."""
        old, more, zero = self.old, self.new if new else {}, self.zero
        present: list[tuple[Row, Totals]] = []
        for e in entries:
            totals, moved = old.get(e, zero), more.get(e)
            if moved is not None:
                totals = list(map(add, totals, moved))
            if totals[0] or every:
                present.append((e, totals))
        if not read.aggregates:
            return [(*e, *totals) for e, totals in present]
        width = self.width
        keys = {e[:width] for e, _ in present}
        self.fetch_bags(keys)
        for i in self.extremes.keys() & set(read.aggregates):
            self.extremes[i].fetch(keys, self.bags_new[i] if new else {})
        return [
            (*e, *totals, *(self.compute_aggregate(i, e[:width], new) for i in read.aggregates))
            for e, totals in present
        ]

    def totals(self, entry: Row, new: bool) -> Totals:
        old = self.old.get(entry, self.zero)
        more = self.new.get(entry) if new else None
        return old if more is None else list(map(add, old, more))

    def compute_aggregate(self, i: int, key: Row, new: bool) -> Any:
        """The value of an aggregate, or an exact sum, over the bag of an entry, which was fetched."""
        if i in self.extremes:
            return self.extremes[i].find(key, self.bags_new[i].get(key, {}) if new else {})
        a = self.shape.state.accumulators[i]
        bag = self.bag(i, key, new)
        if a.aggregate is None:
            return exact_sum(x for (x,), w in bag.items() for _ in range(w))
        if a.aggregate.function == "single":
            if sum(bag.values()) > 1:
                raise EvaluationError(
                    "a scalar subquery has more than one row", hint="add a condition, LIMIT 1 or an aggregate"
                )
            return next(iter(bag))[0] if bag else None
        n = len(a.aggregate.args)
        return evaluate_aggregate(a.aggregate, [(x[:n], x[n:], w) for x, w in bag.items()])

    def bag(self, i: int, key: Row, new: bool) -> dict[Row, int]:
        result = dict(self.bags_old[i].get(key, {}))
        if new:
            for value, w in self.bags_new[i].get(key, {}).items():
                total = result.get(value, 0) + w
                if total:
                    result[value] = total
                else:
                    result.pop(value, None)
        return {v: w for v, w in result.items() if w}

    def fetch_bags(self, keys: Collection[Row]) -> None:
        missing = {k for k in keys if k not in self.read_bags}
        if not missing:
            return
        self.read_bags |= missing
        at = list(range(self.width))
        for i, store in self.bag_stores.items():
            if not store.segments:
                continue
            types = [*self.types[: self.width], *self.shape.bag_types(i)]
            wanted = missing if self.width else None
            for row in self.reader.rows(store, self.shape.bag_schema(i), types, at, wanted):
                key = row[: self.width]
                if key in missing:
                    bag = self.bags_old[i].setdefault(key, {})
                    value = row[self.width : -1]
                    bag[value] = bag.get(value, 0) + row[-1]

    def head(self, function: Ranked) -> Group | None:
        """What can be among the first rows, without the rest of the state; None if all of it is to be read."""
        lost = sum(-t[0] for t in self.new.values() if t[0] < 0)
        head = head_of(self.reader, self.store, self.shape.state, function, lost)
        if head is None or self.shape.bags:
            return None
        tables = read_head(self.reader, self.store, arrow_schema(self.shape.schema), head)
        found = self.add_up(self.reader.decode(tables, self.types))
        present = {entry: totals for entry, totals in found.items() if totals[0]}
        self.old |= present
        members = set(present)
        if self.new:
            values = values_to_arrow(self.types[head.position], [e[head.position] for e in self.new])
            near = head.mask(values).to_pylist()
            members |= {entry for entry, kept in zip(self.new, near, strict=True) if kept}
        return Group(self, members)

    # --- groups --------------------------------------------------------------------------------------------

    def find_touched(self, key: tuple[str, ...], always: bool) -> Collection[Row]:
        """The entries that the transaction has touched; what is stored of their groups under the key is in memory then."""
        touched = self.new if self.new or not always else {(): self.zero}
        if touched:
            self.fetch(key, set(map(picker([self.members.index(name) for name in key]), touched)))
        return touched

    def groups(self, key: tuple[str, ...]) -> Iterator[Group]:
        """The groups that the transaction has touched."""
        touched = self.fresh(key)
        if not touched:
            return
        stored = self.fetch(key, touched)
        for value, entries in touched.items():
            yield Group(self, {*entries, *stored.get(value, ())})


class Group:
    """The entries of one group, before the transaction and after."""

    def __init__(self, state: Entries, members: set[Row]) -> None:
        self.state = state
        self.members = members

    def copies(self, new: bool) -> list[Row]:
        width = self.state.width
        return [e[:width] for e in self.members for _ in range(self.state.totals(e, new)[0])]


def is_extreme(a: Accumulator) -> bool:
    """Whether an accumulator is read as the smallest or largest value of its bag."""
    return a.aggregate is not None and a.aggregate.function in ("min", "max")


def _scale(t: Type) -> int:
    return t.scale if isinstance(t, Decimal) else 0
