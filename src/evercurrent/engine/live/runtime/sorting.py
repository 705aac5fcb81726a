"""Sorted sequences: a plain list while it is short, a SortedList when it is long.

Moving the tail of a short list costs less than keeping a tree, and a list takes a fraction of the memory. Both are
indexed and iterated in the same way; `insert` returns the sequence to keep from then on.

>>> items = insert([1, 3], 2)
>>> items, position(items, 3), position(items, 4)
([1, 2, 3], 2, None)
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

from sortedcontainers import SortedList

LONG = 2000

Sequence = Any
"""list or SortedList, of items that compare."""


def insert(sequence: Sequence, item: Any) -> Sequence:
    """The sequence with one more item."""
    if type(sequence) is not list:
        sequence.add(item)
        return sequence
    if len(sequence) < LONG:
        insort(sequence, item)
        return sequence
    longer = SortedList(sequence)
    longer.add(item)
    return longer


def build_sequence(items: list[Any]) -> Sequence:
    """The sequence of items that are sorted already."""
    return items if len(items) <= LONG else SortedList(items)


def position(sequence: Sequence, item: Any) -> int | None:
    """Where an item equal to this one stands, if there is one."""
    i = bisect_left(sequence, item) if type(sequence) is list else sequence.bisect_left(item)
    return i if i < len(sequence) and sequence[i] == item else None


def remove(sequence: Sequence, item: Any) -> None:
    """Take one item equal to this one out, if there is one."""
    i = position(sequence, item)
    if i is not None:
        del sequence[i]
