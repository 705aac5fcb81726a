"""Sums of floats over groups, exact: totals of `data.exact` in an array of Python integers.

A float of ordinary size is split into two integers, its multiples of 2**-16 and the rest in units of 2**-59. Both are added
up as arrays, and each touched total is changed once. Floats that do not split so are added one by one.

>>> totals = numpy.zeros(2, object)
>>> add_floats(totals, numpy.array([0, 1]), numpy.array([0, 0, 1]), FloatAmounts(numpy.array([0.1, 0.2, 1e300]), numpy.array([1, 1, 1])))
>>> [exact.value(t) for t in totals]
[0.30000000000000004, 1e+300]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from evercurrent.data import exact
from evercurrent.engine.columnar.arithmetic import largest
from evercurrent.engine.columnar.vectors import Ints, Values, canonical

HIGH, LOW = 16, 43
SPLIT, REST = 2.0**HIGH, 2.0**LOW
MOST = 1 << 19
"""So many rests of 43 bits fit into 64 bits."""


@dataclass(slots=True)
class FloatAmounts:
    """Values, and how often each is added."""

    values: Values
    weights: Ints

    def __getitem__(self, places: Any) -> FloatAmounts:
        return FloatAmounts(self.values[places], self.weights[places])

    def __len__(self) -> int:
        return len(self.values)


def add_floats(totals: Values, touched: Ints, groups: Ints, amounts: FloatAmounts) -> None:
    """Adds amounts to totals: the group of each is a place in `touched`, which says where its total is."""
    x, weights = amounts.values, amounts.weights
    with numpy.errstate(invalid="ignore", over="ignore"):
        scaled = x * SPLIT
        high = numpy.floor(scaled)
        rest = (scaled - high) * REST
    few = max(1, MOST // max(1, largest(weights)))
    if not (numpy.abs(scaled) < 2.0**42).all() or (rest != numpy.floor(rest)).any() or few < 64:
        for place, value, weight in zip(touched[groups].tolist(), x.tolist(), weights.tolist(), strict=True):
            if weight:
                totals[place] = exact.add(totals[place], value, weight)
        return
    for start in range(0, len(x), few):
        part = slice(start, start + few)
        sums = numpy.zeros((2, len(touched)), numpy.int64)
        numpy.add.at(sums[0], groups[part], high[part].astype(numpy.int64) * weights[part])
        numpy.add.at(sums[1], groups[part], rest[part].astype(numpy.int64) * weights[part])
        changed = numpy.flatnonzero(sums.any(axis=0))
        places = touched[changed].tolist()
        for place, a, b in zip(places, sums[0, changed].tolist(), sums[1, changed].tolist(), strict=True):
            amount = (a << (exact.SHIFT - HIGH)) + (b << (exact.SHIFT - HIGH - LOW))
            totals[place] = exact.join(totals[place], amount)


def values_of(totals: Values) -> Values:
    """The totals as floats."""
    return canonical(numpy.array([exact.value(t) for t in totals.tolist()], numpy.float64))


def objects_of(totals: Sequence[Any]) -> Values:
    """Totals as an array; some of them are tuples, which numpy would take apart."""
    result = numpy.empty(len(totals), object)
    for i, total in enumerate(totals):
        result[i] = total
    return result
