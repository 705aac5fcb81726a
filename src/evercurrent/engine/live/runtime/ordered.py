"""Groups of rows in order, for top-k.

Delta:   for a touched group, the output of the rows after minus the output before
State:   for each key the rows of its entries, sorted: a plain list while it is short, a SortedList when it is long
Cost:    O(log n) to insert or delete a row; O(offset + limit) to read a top-k
Correct  because the order is total (ties are settled by the columns, ascending, NULLs first), so what is read depends
         on the present rows alone, not on their history.

    the first 2 of 10, 20, 30, 40      10 deleted: -(10), +(30)
                                       40 deleted: no delta, and the output is not even read (`matters`)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evercurrent.calculus.windows import choose_first
from evercurrent.data.zset import Row
from evercurrent.delta.program import Keyed, Ranked
from evercurrent.engine.live.runtime.deltas import difference
from evercurrent.engine.live.runtime.sorting import build_sequence, insert, position, remove
from evercurrent.engine.live.storages import Storage, key_of
from evercurrent.term.emit.functions import order_function, row_function

Weights = dict[Row, int]


class Groups:
    """The sorted groups of a state under the key of one keyed relation."""

    def __init__(self, relation: Keyed, storage: Storage) -> None:
        state = storage.layout.state
        self.relation = relation
        self.storage = storage
        self.key = tuple(storage.layout.position(name) for name in relation.key)
        self.columns = [*state.columns, *state.dependents]
        self.groups: dict[Any, Any] = {}
        function = relation.function
        assert isinstance(function, Ranked)
        self.function = function
        self.sort = order_function(self.columns, function.order, state.columns)
        self.out = row_function(self.columns, function.outputs)
        self.end = None if function.limit is None else function.offset + function.limit
        self.width = len(function.order)

    # --- inserting and deleting rows -------------------------------------------------------------------------

    def enter(self, key: Any, row: Row) -> None:
        """Put the row of an entry in; a row that is in stays in."""
        item = (self.sort(row), row)
        group = self.groups.get(key)
        if group is None:
            self.groups[key] = [item]
        elif position(group, item) is None:
            self.groups[key] = insert(group, item)

    def leave(self, key: Any, row: Row) -> None:
        """Take the row of an entry out; a row that is not in is no matter."""
        group = self.groups.get(key)
        if group is not None:
            remove(group, (self.sort(row), row))
            if not group:
                del self.groups[key]

    def refill(self) -> None:
        """Rebuilds all groups from the state."""
        gathered: dict[Any, list[Any]] = {}
        sort = self.sort
        for key, row, _ in self.storage.whole_rows(self.key):
            gathered.setdefault(key, []).append((sort(row), row))
        for key, items in gathered.items():
            items.sort()
            gathered[key] = build_sequence(items)
        self.groups.clear()
        self.groups.update(gathered)

    def _weight(self, row: Row) -> int:
        if self.storage.layout.state.unique:
            return 1
        return self.storage.weight(self.storage.paths[0][key_of(self.storage.layout.home, row)])

    # --- reading -------------------------------------------------------------------------------------------

    def matters(self, key: Any, row: Row) -> bool:
        """Whether the output may change if a row is inserted or deleted: one after the last that is shown does not count."""
        if self.end is None:
            return True
        group = self.groups.get(key)
        if group is None or len(group) <= self.end:
            return True
        # Every entry in front is there at least once, so the last that is shown is not behind this place.
        if self.function.ties == "rows":
            return self.end > 0 and not group[self.end - 1][0] < self.sort(row)
        if (
            self.function.ties == "dense_rank"
        ):  # as many different values are in front only if so many rows are
            last = self._last_of_ranks(group)
            return last is None or not last < self.sort(row)[: self.width]
        return self.end > 0 and not group[self.end - 1][0][: self.width] < self.sort(row)[: self.width]

    def _last_of_ranks(self, group: Any) -> Any:
        """What the rows of the last dense rank that is shown are compared by; None if fewer are there."""
        left, last = self.end or 0, None
        for sort, _ in group:
            if last is None or sort[: self.width] != last:
                if left == 0:
                    return last
                left, last = left - 1, sort[: self.width]
        return last if left == 0 else None

    def output(self, key: Any) -> Weights:
        """The rows that the function makes of a group, with their multiplicities."""
        group = self.groups.get(key)
        if not group:
            return {}
        result: Weights = {}
        for row, weight in self._rank(group):
            out = self.out(row)
            result[out] = result.get(out, 0) + weight
        return result

    def change(self, key: Any, old: Weights, delta: Weights) -> None:
        """Adds to the delta the output of a group minus its old output."""
        difference(self.output(key), old, delta)

    def _rank(self, group: Any) -> Iterator[tuple[Row, int]]:
        f = self.function
        if f.ties == "rows":
            rows = ((row, self._weight(row)) for _, row in group)
            yield from choose_first(rows, f.limit, f.offset, f.ties, id)
            return
        items = ((item, self._weight(item[1])) for item in group)
        for item, weight in choose_first(items, f.limit, f.offset, f.ties, lambda i: i[0][: self.width]):
            yield item[1], weight

    def rows(self) -> Iterator[tuple[Row, int]]:
        for key in list(self.groups):
            yield from self.output(key).items()
