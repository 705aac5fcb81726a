"""One value of a group that is not a sum: how it is kept so that it can be read after any change.

    best          the first row in some order: min, max, min_by, max_by, first, last, any_value, mode
    sequences     all rows in order: median and percentiles, collect_list, collect_set, listagg
    moments       exact power sums: variance, covariance, correlation, regression
    additions     exact sums and counts: sum, avg, count of distinct values; bits
    folds         monoids of users
    ordered_sums  sums over ranges
    here          single (a scalar subquery), DISTINCT around any of them, and a plain bag for everything else

Every kind has the same methods. `add(args, weight)` brings a row in or takes it out; `value()` reads; `mark(args)` gives
what `restore(args, mark)` needs to put back what adding such a row changes; `rebuild()` recomputes what is only kept for
speed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Protocol

from evercurrent.data.zset import Row
from evercurrent.engine.live.runtime.additions import Bits, Total, additive
from evercurrent.engine.live.runtime.best import Best, Mode, ranking
from evercurrent.engine.live.runtime.folds import Group, Tree
from evercurrent.engine.live.runtime.moments import Moments, PairMoments
from evercurrent.engine.live.runtime.ordered_sums import OrderedSums
from evercurrent.engine.live.runtime.sequences import Listed, Percentile, listing, percentiles
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import TABLE, evaluate_aggregate
from evercurrent.term.moments import MOMENTS, PAIRS
from evercurrent.term.nodes import Aggregate


class Accumulated(Protocol):
    def add(self, args: Row, weight: int) -> None: ...
    def value(self) -> Any: ...
    def mark(self, args: Row) -> Any: ...
    def restore(self, args: Row, mark: Any) -> None: ...
    def rebuild(self) -> None: ...


class Bag:
    """Rows with their multiplicities; the value is computed from all of them when it is read."""

    __slots__ = ("aggregate", "counts")

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate
        self.counts: dict[Row, int] = {}

    def add(self, args: Row, weight: int) -> None:
        count = self.counts.get(args, 0) + weight
        if count:
            self.counts[args] = count
        else:
            self.counts.pop(args, None)

    def mark(self, args: Row) -> int:
        return self.counts.get(args, 0)

    def restore(self, args: Row, mark: int) -> None:
        self.add(args, mark - self.counts.get(args, 0))

    def rebuild(self) -> None:
        """Nothing is derived."""

    def value(self) -> Any:
        n = len(self.aggregate.args)
        return evaluate_aggregate(self.aggregate, ((row[:n], row[n:], w) for row, w in self.counts.items()))


class Single(Bag):
    """The only row of a scalar subquery: NULL if there is none, an error if there are two."""

    __slots__ = ()

    def value(self) -> Any:
        if not self.counts:
            return None
        if len(self.counts) > 1 or next(iter(self.counts.values())) > 1:
            raise EvaluationError(
                "a scalar subquery has more than one row", hint="add a condition, LIMIT 1 or an aggregate"
            )
        return next(iter(self.counts))[0]


class Distinct:
    """Another kind, given each different row once."""

    __slots__ = ("counts", "inner", "width")

    def __init__(self, make: Callable[[], Accumulated], width: int) -> None:
        self.inner = make()
        self.width = width
        self.counts: dict[Row, int] = {}

    def add(self, args: Row, weight: int) -> None:
        held = self.counts.get(args, 0)
        count = held + weight
        if count:
            self.counts[args] = count
        else:
            self.counts.pop(args, None)
        if (held > 0) != (count > 0):
            self.inner.add(args, 1 if count > 0 else -1)

    def mark(self, args: Row) -> Any:
        return self.counts.get(args, 0), self.inner.mark(args)

    def restore(self, args: Row, mark: Any) -> None:
        count, inner = mark
        if count:
            self.counts[args] = count
        else:
            self.counts.pop(args, None)
        self.inner.restore(args, inner)

    def rebuild(self) -> None:
        self.inner.rebuild()

    def value(self) -> Any:
        return self.inner.value()


@lru_cache(maxsize=4096)
def factory(aggregate: Aggregate) -> Callable[[], Accumulated]:
    """A function that makes the accumulator of an empty group."""
    if aggregate.function == "single":
        return partial(Single, aggregate)
    # With sort keys, rows that are equal but for their place in the order are one to DISTINCT: the bag knows how.
    distinct = aggregate.distinct and TABLE[aggregate.function].repeats
    if distinct and aggregate.order:
        return partial(Bag, aggregate)
    make = _plain(aggregate)
    return partial(Distinct, make, len(aggregate.args)) if distinct else make


def _plain(a: Aggregate) -> Callable[[], Accumulated]:
    match a.function:
        case "min" | "max" | "min_by" | "max_by" | "first" | "last" | "any_value":
            return partial(Best, ranking(a))
        case "mode":
            return partial(Mode, ranking(a))
        case "median" | "percentile" | "percentile_cont" | "percentile_disc":
            return partial(Percentile, percentiles(a))
        case "collect_list" | "collect_set" | "listagg":
            return partial(Listed, listing(a))
        case "sum" | "avg" | "count":
            return partial(Total, additive(a))
        case "approx_count_distinct":
            return partial(Distinct, partial(Total, additive(a)), len(a.args))
        case "bit_and" | "bit_or" | "bit_xor":
            return partial(Bits, a)
        case "ordered":
            return partial(OrderedSums, len(a.args) - 1)
        case "monoid":
            return partial(Tree if a.options[0].inverse is None else Group, a)
        case name if name in MOMENTS:
            return partial(Moments, a)
        case name if name in PAIRS:
            return partial(PairMoments, a)
        case _:
            return partial(Bag, a)
