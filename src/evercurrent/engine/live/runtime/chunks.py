"""A sorted sequence of rows with weights, cut into chunks that each know the sums over their rows.

Delta:   a row is placed with a weight, or removed with weight 0; placing it twice does no harm
State:   rows sorted by their sort keys, in chunks of at most 512; for each chunk a summary, made when it is asked for
Cost:    O(log n + 512) to place a row; O(n / 256 + 512) for the sums before a row
Correct  because a summary is dropped whenever its chunk changes.

A *bound* is a sort key or a prefix of one: a prefix stands before all rows that begin with it, a prefix with `TOP` behind it stands
after them.

    >>> rows = Chunks(count_rows)
    >>> for n in (30, 10, 20):
    ...     rows.place((n,), (n,), 1)
    >>> list(rows.between((10,), (20,))), rows.before((30,)).weight
    ([((10,), (10,)), ((20,), (20,))], 2)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from evercurrent.data.zset import Row

MOST = 512

Sort = tuple[Any, ...]
Bound = Sort | None
"""None is the beginning or the end."""


class Bottom:
    """Less than every value."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return True


class Top:
    """Greater than every value; also than a value in the opposite order, which compares by `key`."""

    __slots__ = ()
    key = Bottom()

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "TOP"


TOP = Top()


class Summary(NamedTuple):
    """The sums over some rows: their number, the number of different order keys, and totals of aggregates."""

    weight: int = 0
    peers: int = 0
    totals: tuple[Any, ...] = ()


Item = tuple[Sort, Row, int]
"""A row with its sort key and its weight."""

sort_of = itemgetter(0)


class Chunk:
    """Some neighbours. What is known of them is forgotten before they change."""

    __slots__ = ("_weight", "items", "summary")

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.summary: Summary | None = None
        self._weight: int | None = None

    @property
    def weight(self) -> int:
        if self._weight is None:
            self._weight = sum(weight for _, _, weight in self.items)
        return self._weight

    def forget(self) -> None:
        self._weight = self.summary = None


def last_sort(chunk: Chunk) -> Sort:
    return chunk.items[-1][0]


Measure = Callable[[Sequence[Item]], Summary]
Join = Callable[[Summary, Sort | None, Summary, Sort], Summary]


def count_rows(items: Sequence[Item]) -> Summary:
    """Measures rows by their number alone."""
    return Summary(sum(weight for _, _, weight in items))


def add_counts(left: Summary, last: Sort | None, right: Summary, first: Sort) -> Summary:
    """Adds the numbers of rows alone."""
    return Summary(left.weight + right.weight)


class Chunks:
    """The rows of one group in order.

    `measure` sums up some rows; `join` adds two summaries, given the last sort key of the left part and the first of the right part.
    """

    __slots__ = ("chunks", "join", "measure")

    def __init__(self, measure: Measure, join: Join = add_counts) -> None:
        self.measure, self.join = measure, join
        self.chunks: list[Chunk] = []

    def __bool__(self) -> bool:
        return bool(self.chunks)

    @property
    def size(self) -> int:
        """The number of rows, with their weights."""
        return sum(chunk.weight for chunk in self.chunks)

    def _find(self, bound: Sort) -> int:
        """Returns the first chunk that has something at or behind the bound."""
        return bisect_left(self.chunks, bound, key=last_sort)

    # --- placing rows --------------------------------------------------------------------------------------

    def place(self, sort: Sort, row: Row, weight: int) -> None:
        """Sets the weight of a row; 0 removes it. Each branch changes one list once, so an interrupt leaves it whole."""
        if not self.chunks:
            if weight:
                self.chunks.append(Chunk([(sort, row, weight)]))
            return
        c = min(self._find(sort), len(self.chunks) - 1)
        chunk = self.chunks[c]
        items = chunk.items
        i = bisect_left(items, sort, key=sort_of)
        chunk.forget()
        if i < len(items) and items[i][0] == sort:
            if weight:
                items[i] = (sort, row, weight)
            elif items[i][1] == row:
                if len(items) > 1:
                    del items[i]
                else:
                    del self.chunks[c]
        elif weight:
            items.insert(i, (sort, row, weight))
            if len(items) > MOST:
                half = len(items) // 2
                self.chunks[c : c + 1] = [Chunk(items[:half]), Chunk(items[half:])]

    # --- reading -------------------------------------------------------------------------------------------

    def weight(self, sort: Sort, row: Row) -> int:
        """Returns how often exactly this row is there."""
        c = self._find(sort)
        if c == len(self.chunks):
            return 0
        items = self.chunks[c].items
        there, held, weight = items[bisect_left(items, sort, key=sort_of)]
        return weight if there == sort and held == row else 0

    def between(self, low: Bound, high: Bound) -> Iterator[tuple[Sort, Row]]:
        """Yields the rows from one bound to another, both included, each as often as its weight."""
        for c in range(0 if low is None else self._find(low), len(self.chunks)):
            items = self.chunks[c].items
            first = 0 if low is None else bisect_left(items, low, key=sort_of)
            end = len(items) if high is None else bisect_right(items, high, key=sort_of)
            for i in range(first, end):
                sort, row, weight = items[i]
                yield sort, row
                for _ in range(weight - 1):
                    yield sort, row
            if end < len(items):
                return

    def before(self, bound: Bound) -> Summary:
        """Returns the sums over all rows before a bound; None: over all rows (for their number alone, see `size`)."""
        total, last = Summary(), None
        for chunk in self.chunks:
            items = chunk.items
            if bound is not None and not items[-1][0] < bound:
                i = bisect_left(items, bound, key=sort_of)
                return self.join(total, last, self.measure(items[:i]), items[0][0]) if i else total
            if chunk.summary is None:
                chunk.summary = self.measure(items)
            total = self.join(total, last, chunk.summary, items[0][0])
            last = items[-1][0]
        return total

    def back(self, bound: Bound, steps: int) -> Bound:
        """Returns the sort key of the row `steps` rows before the first one at or behind the bound; None if there are fewer."""
        if bound is None:
            return None
        c = self._find(bound)
        i = bisect_left(self.chunks[c].items, bound, key=sort_of) if c < len(self.chunks) else 0
        at = bound
        while steps > 0:
            if i == 0:
                if c == 0:
                    return None
                c -= 1
                i = len(self.chunks[c].items)
            i -= 1
            at, _, weight = self.chunks[c].items[i]
            steps -= weight
        return at

    def forward(self, bound: Bound, steps: int) -> Bound:
        """Returns the sort key of the row `steps` rows behind the last one at or before the bound; None if there are fewer."""
        if bound is None:
            return None
        c = bisect_right(self.chunks, bound, key=last_sort)
        i = bisect_right(self.chunks[c].items, bound, key=sort_of) if c < len(self.chunks) else 0
        at = bound
        while steps > 0:
            if c == len(self.chunks):
                return None
            at, _, weight = self.chunks[c].items[i]
            steps -= weight
            i += 1
            if i == len(self.chunks[c].items):
                c, i = c + 1, 0
        return at

    def edge(self, last: bool = False) -> tuple[Sort, Row] | None:
        """Returns the first row, or the last one."""
        if not self.chunks:
            return None
        sort, row, _ = self.chunks[-1].items[-1] if last else self.chunks[0].items[0]
        return sort, row
