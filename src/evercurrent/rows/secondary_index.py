"""A secondary index: the rows of a table by some of its columns, for equality of the first ones and a range of the next.

    CREATE INDEX by_place ON people (country, city)      {"DE": {"Bonn": {(1, "DE", "Bonn"): None}}, "FR": {...}}

Each level of the tree is a dictionary by the values of one column, so that a prefix of the columns is enough. NULL is a value
like others here; whoever looks for `= NULL` does not look at all. The keys of a level are sorted when a range of them is first
read; afterwards a change only notes the keys that it touches, and the next reader puts those right.

Law. As for `Patch`: applying and undoing only say what is there in the end, so both are idempotent, and each may begin wherever
the other was interrupted. A key is noted before the tree changes; so a sorted list is never wrong about keys that are not noted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evercurrent.catalog.nodes import Index
from evercurrent.data.zset import Row

Tree = dict[Any, Any]
Bound = tuple[Any, bool]
"""A limit of a range, and whether it is part of it."""

REBUILD = 64
"""Up to this number of noted keys are put into a sorted list one by one."""


class SortedKeys:
    """The keys of one level without NULL, in order, and those that may have changed since."""

    __slots__ = ("keys", "noted")

    def __init__(self, level: Tree) -> None:
        self.keys: list[Any] = sorted(key for key in level if key is not None)
        self.noted: dict[Any, None] = {}

    def refresh(self, level: Tree) -> list[Any]:
        """Returns the keys as they are now."""
        noted = list(self.noted)
        if len(noted) > REBUILD:
            self.keys = sorted(key for key in level if key is not None)
        else:
            for key in noted:
                place = bisect_left(self.keys, key)
                listed = place < len(self.keys) and self.keys[place] == key
                if listed and key not in level:
                    del self.keys[place]
                elif not listed and key in level:
                    insort(self.keys, key)
        self.noted = {}
        return self.keys


class SecondaryIndex:
    """The rows of a store by the columns of a declared index."""

    __slots__ = ("declaration", "positions", "sorted", "tree")

    def __init__(self, declaration: Index, positions: Sequence[int], rows: Iterable[Row]) -> None:
        self.declaration = declaration
        self.positions = tuple(positions)
        self.tree: Tree = {}
        self.sorted: dict[Row, SortedKeys] = {}
        for row in rows:
            self._put(self.key_of(row), row)

    @property
    def name(self) -> str:
        return self.declaration.name

    def key_of(self, row: Row) -> Row:
        return tuple([row[i] for i in self.positions])

    # --- reading -------------------------------------------------------------------------------------------

    def find(self, prefix: Row) -> Iterator[Row]:
        """The rows whose first columns have these values."""
        level = self._level(prefix)
        return iter(()) if level is None else _leaves(level, len(self.positions) - len(prefix))

    def find_range(self, prefix: Row, low: Bound | None, high: Bound | None) -> Iterator[Row]:
        """The rows whose first columns have these values and whose next one is in a range."""
        level = self._level(prefix)
        if level is None:
            return
        found = self.sorted.get(prefix)
        if found is None:
            found = self.sorted[prefix] = SortedKeys(level)
        keys = found.refresh(level)
        start = 0 if low is None else (bisect_left if low[1] else bisect_right)(keys, low[0])
        end = len(keys) if high is None else (bisect_right if high[1] else bisect_left)(keys, high[0])
        deeper = len(self.positions) - len(prefix) - 1
        for key in keys[start:end]:
            yield from _leaves(level[key], deeper)

    def _level(self, prefix: Row) -> Tree | None:
        level: Tree | None = self.tree
        for value in prefix:
            level = level.get(value) if level is not None else None
        return level

    # --- changing ------------------------------------------------------------------------------------------

    def put(self, row: Row) -> None:
        """Makes the row be there. Idempotent."""
        key = self.key_of(row)
        if self.sorted:
            self._note(key)
        self._put(key, row)

    def _put(self, key: Row, row: Row) -> None:
        level = self.tree
        for value in key:
            level = level.setdefault(value, {})
        level[row] = None

    def remove(self, row: Row) -> None:
        """Makes the row not be there. Idempotent."""
        key = self.key_of(row)
        if self.sorted:
            self._note(key)
        levels = [self.tree]
        for value in key:
            below = levels[-1].get(value)
            if below is None:
                break
            levels.append(below)
        else:
            levels[-1].pop(row, None)
        # A level that an interrupt left empty is removed by whoever undoes or repeats the change.
        for i in range(len(levels) - 1, 0, -1):
            if levels[i]:
                break
            levels[i - 1].pop(key[i - 1], None)

    def restore(self, row: Row, is_there: bool) -> None:
        """Makes the row be there, or not. Idempotent."""
        if is_there:
            self.put(row)
        else:
            self.remove(row)

    def _note(self, key: Row) -> None:
        for i, value in enumerate(key):
            found = self.sorted.get(key[:i])
            if found is not None and value is not None:
                found.noted[value] = None

    def patch(self, appearing: Iterable[Row], vanishing: Iterable[Row]) -> IndexPatch:
        """The change by rows that were not there and rows that are no longer there."""
        return IndexPatch(self, tuple(appearing), tuple(vanishing))


class IndexPatch:
    """The change of one index, to be applied and undone like a `Patch`."""

    __slots__ = ("appearing", "index", "vanishing")

    def __init__(self, index: SecondaryIndex, appearing: tuple[Row, ...], vanishing: tuple[Row, ...]) -> None:
        self.index, self.appearing, self.vanishing = index, appearing, vanishing

    def apply(self) -> None:
        for row in self.vanishing:
            self.index.remove(row)
        for row in self.appearing:
            self.index.put(row)

    def undo(self) -> None:
        for row in self.appearing:
            self.index.remove(row)
        for row in self.vanishing:
            self.index.put(row)


def _leaves(level: Tree, deeper: int) -> Iterator[Row]:
    if deeper == 0:
        yield from level
    else:
        for below in level.values():
            yield from _leaves(below, deeper - 1)
