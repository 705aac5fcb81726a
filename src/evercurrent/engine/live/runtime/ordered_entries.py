"""Entries of a state in the order of a value, to be read by ranges: rows that a condition like `volume > threshold` lets through.

>>> index = OrderedEntries(itemgetter(1))
>>> for row in ((1, 30), (2, 10), (3, 20)):
...     index.put((), row[1], row[0], True)
>>> list(index.between((), ((10, 1), None)))
[(3, True), (1, True)]
>>> list(index.difference((), ((10, 1), None), ((25, 1), None)))
[(3, True)]

Delta            an entry is put under its value, or dropped
State            for each key: the different values in order, and under each value its entries
Cost             a logarithm of the number of values for each change and each bound, and the entries that are read
Correct because  a range is what lies between two places in the order; where a range takes the place of another, an entry that
                 lies in both or in neither is as good as not read

A *cut* is a place in the order: (value, 0) is before the value, (value, 1) behind it; None is the beginning or the end. A range is two
cuts, or None if a bound is NULL: nothing lies in it. Nothing compares with NULL, so an entry without a value is not kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from evercurrent.engine.live.runtime import index
from evercurrent.engine.live.runtime.journal import Entry
from evercurrent.engine.live.runtime.ordered_sums import TOP
from evercurrent.engine.live.runtime.sorting import build_sequence, insert, remove
from evercurrent.term.emit.functions import row_function
from evercurrent.term.nodes import Column, Term

Cut = tuple[Any, int] | None
Range = tuple[Cut, Cut] | None
Found = tuple[Any, Any]
"""What an entry has besides its key, and its payload."""


class Ordered:
    """The entries under one key."""

    __slots__ = ("held", "values")

    def __init__(self) -> None:
        self.values: Any = []
        self.held: dict[Any, Any] = {}

    def places(self, span: Range) -> tuple[int, int]:
        """The places of the first value in the range and of the first one behind it."""
        if span is None:
            return 0, 0
        low, high = span
        first = 0 if low is None else self.place(low)
        return first, len(self.values) if high is None else self.place(high)

    def place(self, cut: tuple[Any, int]) -> int:
        value, behind = cut
        if value != value:
            value = TOP
        if type(self.values) is list:
            return (bisect_right if behind else bisect_left)(self.values, value)
        found: int = self.values.bisect_right(value) if behind else self.values.bisect_left(value)
        return found

    def read(self, first: int, last: int) -> Iterator[Found]:
        """The entries whose values stand from one place to another."""
        values = self.values
        part = values[first:last] if type(values) is list else values.islice(first, last)
        for value in part:
            held = self.held[value]
            if type(held) is dict:
                yield from held.items()
            else:
                yield held

    def bytes(self) -> int:
        """About how much memory the order takes."""
        return len(self.held) * 160


class OrderedEntries(dict[Any, Ordered]):
    """The entries of a state by key, each key's in order. `value_of` returns the value of an entry's fields."""

    __slots__ = ("value_of",)

    def __init__(self, value_of: Callable[[Sequence[Any]], Any]) -> None:
        super().__init__()
        self.value_of = value_of

    # --- changes -------------------------------------------------------------------------------------------

    def put(self, key: Any, value: Any, rest: Any, payload: Any, journal: list[Entry] | None = None) -> None:
        """Adds an entry, or replaces its payload."""
        if value is None:
            return
        if journal is not None:
            journal.append((self, (key, value, rest), self.find(key, value, rest)))
        if value != value:
            value = TOP
        group = self.get(key)
        if group is None:
            group = self[key] = Ordered()
        if value not in group.held:
            group.values = insert(group.values, value)
        index.put(group.held, value, rest, payload)

    def drop(self, key: Any, value: Any, rest: Any, journal: list[Entry] | None = None) -> None:
        """Takes an entry out; one that is not in is no matter."""
        group = self.get(key)
        if group is None or value is None:
            return
        if journal is not None:
            journal.append((self, (key, value, rest), self.find(key, value, rest)))
        if value != value:
            value = TOP
        index.drop(group.held, value, rest)
        if value not in group.held:
            remove(group.values, value)
            if not group.held:
                del self[key]

    def find(self, key: Any, value: Any, rest: Any) -> Any:
        """The payload of an entry, if it is in."""
        group = self.get(key)
        held = None if group is None else group.held.get(TOP if value != value else value)
        if type(held) is dict:
            return held.get(rest)
        return held[1] if held is not None and (held[0],) == (rest,) else None

    def __call__(self, entry: tuple[Any, Any, Any], payload: Any) -> None:
        """Puts back what was there before a change (see `journal`)."""
        if payload is None:
            self.drop(*entry)
        else:
            self.put(*entry, payload)

    def load(self, entries: Iterable[tuple[Any, Any, Any, Any]]) -> None:
        """Makes these the only entries: key, value, rest and payload of each."""
        self.clear()
        groups: dict[Any, Ordered] = {}
        for key, value, rest, payload in entries:
            if value is not None:
                held = groups.setdefault(key, Ordered()).held
                index.put(held, TOP if value != value else value, rest, payload)
        for group in groups.values():
            group.values = build_sequence(sorted(group.held))
        self.update(groups)

    # --- reading -------------------------------------------------------------------------------------------

    def between(self, key: Any, span: Range) -> Iterable[Found]:
        """The entries of a range."""
        group = self.get(key)
        return () if group is None else group.read(*group.places(span))

    def difference(self, key: Any, old: Range, new: Range) -> Iterator[Found]:
        """The entries that lie in one of two ranges alone."""
        group = self.get(key)
        if group is None:
            return
        (a, b), (c, d) = group.places(old), group.places(new)
        if a >= b or c >= d or b <= c or d <= a:
            yield from group.read(a, b)
            yield from group.read(c, d)
        else:
            yield from group.read(min(a, c), max(a, c))
            yield from group.read(min(b, d), max(b, d))


def entries_in_order(fields: tuple[Column, ...], order: Term) -> OrderedEntries:
    """No entries, of these fields, in the order of a term over them."""
    return OrderedEntries(_value_function(fields, order))


@lru_cache(maxsize=1024)
def _value_function(fields: tuple[Column, ...], order: Term) -> Callable[[Sequence[Any]], Any]:
    if isinstance(order, Column):
        return itemgetter([f.name for f in fields].index(order.name))
    values = row_function(fields, (order,))
    return lambda row: values(tuple(row))[0]
