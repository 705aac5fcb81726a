"""Where each name is found in an entry, by position.

A reader of a state's entries gets rows: the members (columns, then dependents); where totals are asked for, also the
weight, the sums, and those aggregates that were asked for. Names are resolved here, once, and not entry by entry.

    state orders by customer: (customer) -> sum(total)
    reading(shape, ["customer"])                          rows (customer); customer is at 0
    reading(shape, ["customer", "sum(total)"])            rows (customer, weight, sum(total)); they are at 0 and 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from evercurrent.data.zset import Row
from evercurrent.delta.program import WEIGHT
from evercurrent.engine.spark.storage.file_schema import Shape


@dataclass(frozen=True, slots=True)
class Reading:
    """`positions`: where each name that was asked for is found in a row; `width`: how long rows are.

    `totals`: whether rows have more than members; `aggregates`: the accumulators that are read of bags, in their order.
    """

    positions: dict[str, int]
    width: int
    totals: bool
    aggregates: tuple[int, ...]


def reading(shape: Shape, names: Iterable[str]) -> Reading:
    """How these names are read of entries of a state."""
    s = shape.state
    asked = dict.fromkeys(names)
    members = [c.name for c in (*s.columns, *s.dependents)]
    sums = [s.accumulators[i].name for i in shape.sums]
    aggregates = tuple(i for i in shape.bags if s.accumulators[i].name in asked)
    totals = any(n not in members for n in asked)
    layout = [*members]
    if totals:
        layout += [WEIGHT, *sums, *(s.accumulators[i].name for i in aggregates)]
    return Reading({n: layout.index(n) for n in asked}, len(layout), totals, aggregates)


def picker(positions: Sequence[int]) -> Callable[[Row], Row]:
    """A function that takes the values at these positions out of a row.

    >>> picker([2, 0])((1, 2, 3)), picker([1])((1, 2, 3)), picker([])((1, 2, 3))
    ((3, 1), (2,), ())
    """
    if len(positions) > 1:
        return itemgetter(*positions)
    start = positions[0] if positions else 0
    return itemgetter(slice(start, start + len(positions)))
