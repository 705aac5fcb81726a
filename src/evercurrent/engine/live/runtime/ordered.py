"""Groups of rows in order, for windows and top-k.

Delta:   for a touched group, the output of the rows after minus the output before
State:   for each key the rows of its entries, sorted: a plain list while it is short, a SortedList when it is long
Cost:    O(log n) to move a row; O(offset + limit) to read a top-k; O(n) to read a window's group
Correct  because the order is total (ties are settled by the columns, ascending, NULLs first), so what is read depends
         on the present rows alone, not on how they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evercurrent.calculus.windows import window_values
from evercurrent.data.zset import Row
from evercurrent.delta.program import Keyed, Ranked, Windowed
from evercurrent.engine.live.layout import Storage, key_of
from evercurrent.engine.live.runtime.sorting import insert, position, remove
from evercurrent.term.emit.functions import order_function, row_function
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import SortKey, Term

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
        self._compiled: dict[Term, Callable[[Row], Any]] = {}
        self.sort = order_function(self.columns, self._order(), state.columns)
        function = relation.function
        assert isinstance(function, Windowed | Ranked)
        width = [*self.columns]
        if isinstance(function, Windowed):
            width += [column for column, _ in function.functions]
        self.out = row_function(width, function.outputs)
        self.end: int | None = None
        if isinstance(function, Ranked) and function.limit is not None:
            self.end = function.offset + function.limit

    def _order(self) -> tuple[SortKey, ...]:
        match self.relation.function:
            case Ranked(order=order):
                return order
            case Windowed(functions=functions):
                return functions[0][1].order if functions else ()
            case _:
                return ()

    def _value(self, term: Term, row: Row) -> Any:
        read = self._compiled.get(term)
        if read is None:
            read = self._compiled[term] = compile_term(term, self.columns)
        return read(row)

    # --- moving rows ---------------------------------------------------------------------------------------

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
        self.groups.clear()
        first = 0 if self.storage.layout.state.unique else 1
        dependents = len(self.storage.layout.state.dependents)
        for columns, payload in self.storage.entries():
            key = columns[self.key[0]] if len(self.key) == 1 else tuple(columns[i] for i in self.key)
            row = columns
            match self.storage.layout.payload:
                case "value":
                    row = (*columns, payload)
                case "tuple":
                    row = columns + payload
                case "cell":
                    row = columns + tuple(payload[first : first + dependents])
            self.enter(key, row)

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
        return self.end > 0 and not group[self.end - 1][0] < self.sort(row)

    def output(self, key: Any) -> Weights:
        """The rows that the function makes of a group, with their multiplicities."""
        group = self.groups.get(key)
        if not group:
            return {}
        function = self.relation.function
        result: Weights = {}
        pairs = (
            self._ranked(group, function) if isinstance(function, Ranked) else self._windowed(group, function)
        )
        for row, weight in pairs:
            out = self.out(row)
            result[out] = result.get(out, 0) + weight
        return result

    def _ranked(self, group: Any, function: Ranked) -> Iterator[tuple[Row, int]]:
        skip, left = function.offset, function.limit
        for _, row in group:
            if left == 0:
                return
            weight = self._weight(row)
            passed = min(skip, weight)
            skip -= passed
            taken = weight - passed
            if left is not None:
                taken = min(taken, left)
                left -= taken
            if taken:
                yield row, taken

    def _windowed(self, group: Any, function: Any) -> Iterator[tuple[Row, int]]:
        rows = [row for _, row in group for _ in range(self._weight(row))]
        columns = [window_values(f, rows, self._value) for _, f in function.functions]
        for i, row in enumerate(rows):
            yield (*row, *(values[i] for values in columns)), 1

    def rows(self) -> Iterator[tuple[Row, int]]:
        for key in list(self.groups):
            yield from self.output(key).items()
