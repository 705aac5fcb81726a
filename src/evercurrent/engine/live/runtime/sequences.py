"""All rows of a group in order: median and percentiles, collect_list, collect_set, listagg.

State:   the rows, sorted, each as often as it is in
Cost:    O(log n) a row; a percentile reads two places, a list reads all
Correct  because equal rows are interchangeable, and the order of the others is total.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.aggregates import aggregate
>>> from evercurrent.term.nodes import Column
>>> median = Percentile(percentiles(aggregate("median", [Column("n", INT)])))
>>> median.add((5,), 1); median.add((1,), 1); median.add((2,), 1)
>>> median.value()
2.0
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from typing import Any, overload

from evercurrent.data.order import sort_key
from evercurrent.data.types import Decimal, Interval, Type
from evercurrent.data.values import canonical_float
from evercurrent.data.zset import Row
from evercurrent.engine.live.runtime.sorting import Sequence, insert, remove
from evercurrent.term.aggregates import TABLE
from evercurrent.term.functions.exact import POWERS
from evercurrent.term.nodes import Aggregate
from evercurrent.term.percentiles import continuous, discrete


class Sorted:
    """Rows with their multiplicities, and a sorted sequence of them."""

    __slots__ = ("counts", "items", "rank")

    def __init__(self, rank: Callable[[Row], Any]) -> None:
        self.rank = rank
        self.counts: dict[Row, int] = {}
        self.items: Sequence = []

    def add(self, args: Row, weight: int) -> None:
        if args[0] is None:
            return
        count = self.counts.get(args, 0) + weight
        if count:
            self.counts[args] = count
        else:
            self.counts.pop(args, None)
        item = (self.rank(args), args)
        for _ in range(weight):
            self.items = insert(self.items, item)
        for _ in range(-weight):
            remove(self.items, item)

    def mark(self, args: Row) -> int:
        return self.counts.get(args, 0)

    def restore(self, args: Row, mark: int) -> None:
        self.add(args, mark - self.counts.get(args, 0))

    def rebuild(self) -> None:
        self.items = []
        for args, count in self.counts.items():
            item = (self.rank(args), args)
            for _ in range(count):
                self.items = insert(self.items, item)


# --- percentiles -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fractions:
    fractions: tuple[float, ...]
    several: bool
    disc: bool
    type: Type
    rank: Callable[[Row], Any]


def percentiles(a: Aggregate) -> Fractions:
    given = a.options[0] if a.options else 0.5
    several = isinstance(given, tuple)
    descending = len(a.options) > 1 and bool(a.options[1])
    key = sort_key(a.args[0].type, descending)
    fractions = given if isinstance(given, tuple) else (given,)
    disc = a.function == "percentile_disc"
    return Fractions(fractions, several, disc, a.args[0].type, lambda row: key(row[0]))


class _Numbers(AnySequence[Any]):
    """The sorted values as numbers, read one at a time."""

    def __init__(self, items: Sequence, divisor: int) -> None:
        self.items, self.divisor = items, divisor

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> Any: ...
    def __getitem__(self, i: int | slice) -> Any:
        value = self.items[i][1][0]
        return value if self.divisor == 1 else value / self.divisor


class Percentile(Sorted):
    __slots__ = ("fractions",)

    def __init__(self, fractions: Fractions) -> None:
        super().__init__(fractions.rank)
        self.fractions = fractions

    def value(self) -> Any:
        if not self.items:
            return None
        results = tuple(self._at(p) for p in self.fractions.fractions)
        return results if self.fractions.several else results[0]

    def _at(self, p: float) -> Any:
        t = self.fractions.type
        numbers = _Numbers(self.items, POWERS[t.scale] if isinstance(t, Decimal) else 1)
        if self.fractions.disc:
            found = discrete(numbers, p)
            return found if isinstance(t, Interval) else canonical_float(float(found))
        result = continuous(numbers, p)
        if isinstance(t, Interval):
            return round(result)
        return canonical_float(result)


# --- lists -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listing:
    aggregate: Aggregate
    rank: Callable[[Row], Any]


def listing(a: Aggregate) -> Listing:
    n = len(a.args)
    keys = [sort_key(k.term.type, k.descending, k.nulls_first) for k in a.order]
    own = [sort_key(t.type) for t in a.args]

    def rank(row: Row) -> Any:
        first = [k(x) for k, x in zip(keys, row[n:], strict=True)]
        return first, [k(x) for k, x in zip(own, row, strict=False)]

    return Listing(a, rank)


class Listed(Sorted):
    __slots__ = ("aggregate",)

    def __init__(self, listing: Listing) -> None:
        super().__init__(listing.rank)
        self.aggregate = listing.aggregate

    def value(self) -> Any:
        n = len(self.aggregate.args)
        return TABLE[self.aggregate.function].read(self.aggregate, [args[:n] for _, args in self.items])
