"""Which segments of a store are merged, and when.

A store is a base and recent segments, one more with each batch. Merging all of them after every few batches would write
the base again and again; never merging would make every lookup open hundreds of files. As in other log-structured stores:

    eight neighbouring recent segments of one size become one of the next size (a size is a power of eight rows)
    recent segments that together hold a quarter of the base's rows become part of it

So a row is rewritten as often as its store has sizes, a lookup opens at most seven recent files of each size, and the
store is at most a quarter larger than its entries, however many batches there were.

>>> steady = Store((Segment(("b",), 10_000, 0),), tuple(Segment((str(i),), 100, 0) for i in range(8)))
>>> len(due(steady))
8
>>> due(Store(steady.base, steady.recent[:7]))
()
"""

from __future__ import annotations

from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store

FAN = 8
SHARE = 4


def due(store: Store) -> tuple[Segment, ...]:
    """The newest recent segments that are to become one; none if there is nothing to do yet."""
    sizes = [size(s) for s in store.recent]
    for limit in sorted(set(sizes)):
        run = 0
        while run < len(sizes) and sizes[-1 - run] <= limit:
            run += 1
        if sizes[len(sizes) - run :].count(limit) >= FAN:  # smaller ones after them come along
            return store.recent[-run:]
    return ()


def is_outgrown(store: Store) -> bool:
    """Whether the recent segments are so large, beside the base, that it is time to rewrite it."""
    return SHARE * sum(s.rows for s in store.recent) >= sum(s.rows for s in store.base)


def size(segment: Segment) -> int:
    """The exponent of the power of eight that a segment's rows reach."""
    return max(segment.rows.bit_length() - 1, 0) // 3
