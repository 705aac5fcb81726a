"""The first row of a group in some order: min, max, min_by, max_by, first, last, any_value; and the mode.

State:   the multiplicity of each row; the first row; a heap of candidates, made when a first row is deleted for the first time
Cost:    O(1) while rows are only inserted; O(log n) a row afterwards, whichever is deleted
Correct  because the heap holds every row of the group (and some deleted ones, which are dropped when they come up).

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.aggregates import aggregate
>>> from evercurrent.term.nodes import Column
>>> least = Best(ranking(aggregate("min", [Column("n", INT)])))
>>> least.add((3,), 1); least.add((1,), 1); least.add((1,), -1)
>>> least.value()
3
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from evercurrent.data.order import Backwards, order_key, sort_key
from evercurrent.data.types import Decimal, Integer, Interval
from evercurrent.data.zset import Row
from evercurrent.term.aggregates import TABLE
from evercurrent.term.nodes import Aggregate

NONE: Any = object()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which rows count, in which order they stand, and what is read of the first."""

    counts: Callable[[Row], bool]
    rank: Callable[[Row], Any]


def ranking(a: Aggregate) -> Ranking:
    """The order in which the aggregate's value is that of the first row."""
    n = len(a.args)
    skips = TABLE[a.function].skips
    ignores = bool(a.options and a.options[0])
    keys = [sort_key(k.term.type, k.descending, k.nulls_first) for k in a.order]
    match a.function:
        case "min" | "max":
            t = a.args[0].type
            plain = order_key(t) is None
            if plain and a.function == "min":
                return Ranking(_is_known, lambda row: row[0])
            if plain and isinstance(t, Integer | Decimal | Interval):
                return Ranking(_is_known, lambda row: -row[0])
            key = sort_key(t, a.function == "max")
            return Ranking(_is_known, lambda row: key(row[0]))
        case "min_by" | "max_by":
            value = sort_key(a.args[0].type, nulls_first=False)
            measure = sort_key(a.args[1].type, a.function == "max_by")
            return Ranking(lambda row: row[1] is not None, lambda row: (measure(row[1]), value(row[0])))
        case "mode":
            by_value = sort_key(a.args[0].type)
            return Ranking(_is_known, lambda row: by_value(row[0]))
    last = a.function == "last"
    own = sort_key(a.args[0].type, nulls_first=last)

    def order(row: Row) -> Any:
        place = ([k(x) for k, x in zip(keys, row[n:], strict=True)], own(row[0]))
        return Backwards(place) if last else place

    return Ranking(_is_known if ignores or skips else _always, order)


def _is_known(row: Row) -> bool:
    return row[0] is not None


def _always(row: Row) -> bool:
    return True


class Best:
    """The first row under a ranking."""

    __slots__ = ("counts", "first", "heap", "rank", "ranking")

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self.counts: dict[Row, int] = {}
        self.first: Any = NONE
        self.rank: Any = None
        self.heap: list[tuple[Any, Row]] | None = None

    def add(self, args: Row, weight: int) -> None:
        if not self.ranking.counts(args):
            return
        held = self.counts.get(args, 0)
        count = held + weight
        if count:
            self.counts[args] = count
            if not held:
                self._enter(args)
        else:
            self.counts.pop(args, None)
            if args == self.first:
                self.first = NONE

    def _enter(self, args: Row) -> None:
        rank = self.ranking.rank(args)
        if self.heap is not None:
            heappush(self.heap, (rank, args))
            if len(self.heap) > 2 * len(self.counts) + 64:
                self.heap = None
        if self.first is NONE:
            if len(self.counts) == 1:
                self.first, self.rank = args, rank
        elif rank < self.rank:
            self.first, self.rank = args, rank

    def value(self) -> Any:
        if not self.counts:
            return None
        if self.first is NONE:
            self._search()
        return self.first[0]

    def _search(self) -> None:
        rank = self.ranking.rank
        if self.heap is None:
            self.heap = [(rank(args), args) for args in self.counts]
            heapify(self.heap)
        while self.heap[0][1] not in self.counts:
            heappop(self.heap)
        self.rank, self.first = self.heap[0]

    def mark(self, args: Row) -> int:
        return self.counts.get(args, 0)

    def restore(self, args: Row, mark: int) -> None:
        self.add(args, mark - self.counts.get(args, 0))

    def rebuild(self) -> None:
        self.first, self.heap = NONE, None


class Mode:
    """The value that is in most often; the smallest of several."""

    __slots__ = ("counts", "heap", "ranking")

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self.counts: dict[Row, int] = {}
        self.heap: list[tuple[int, Any, Row]] | None = None

    def add(self, args: Row, weight: int) -> None:
        if args[0] is None:
            return
        count = self.counts.get(args, 0) + weight
        if not count:
            self.counts.pop(args, None)
            return
        self.counts[args] = count
        if self.heap is not None:
            heappush(self.heap, (-count, self.ranking.rank(args), args))
            if len(self.heap) > 2 * len(self.counts) + 64:
                self.heap = None

    def value(self) -> Any:
        if not self.counts:
            return None
        if self.heap is None:
            rank = self.ranking.rank
            self.heap = [(-count, rank(args), args) for args, count in self.counts.items()]
            heapify(self.heap)
        # An item is stale if the count has changed since: there is another item for the present count.
        while -self.heap[0][0] != self.counts.get(self.heap[0][2], 0):
            heappop(self.heap)
        return self.heap[0][2][0]

    def mark(self, args: Row) -> int:
        return self.counts.get(args, 0)

    def restore(self, args: Row, mark: int) -> None:
        self.add(args, mark - self.counts.get(args, 0))

    def rebuild(self) -> None:
        self.heap = None
