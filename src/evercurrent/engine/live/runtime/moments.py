"""Variance and its kin from exact power sums.

State:   the number of values, how many of them are NaN or infinite, and the sums of the powers of the others, as integers
         times a power of two
Cost:    O(1) a row
Correct  because the sums are exact, so a deleted row subtracts exactly what it has added; they are read in rationals.

>>> from evercurrent.data.types import DOUBLE
>>> from evercurrent.term.aggregates import aggregate
>>> from evercurrent.term.nodes import Column
>>> moments = Moments(aggregate("var_pop", [Column("x", DOUBLE)]))
>>> for x in (1.0, 2.0, 3.0, 4.0):
...     moments.add((x,), 1)
>>> moments.value()
1.25
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

from evercurrent.data.exact import SCALE, SHIFT, WIDE_SHIFT
from evercurrent.data.values import NAN
from evercurrent.data.zset import Row
from evercurrent.term.moments import deviations, read_moment, read_pair, read_pair_of_odd
from evercurrent.term.nodes import Aggregate

POWERS_NEEDED = {"skewness": 3, "kurtosis": 4}


def scale_float(x: float, shift: int) -> int | None:
    """The float times 2**shift, if that is an integer."""
    if shift == SHIFT:
        y = x * SCALE
        if isfinite(y) and y == int(y):
            return int(y)
        return None
    numerator, denominator = x.as_integer_ratio()
    return numerator << (shift - denominator.bit_length() + 1)


class _Sums:
    """Sums of products of scaled values; `degrees[i]` is the degree of the i-th."""

    __slots__ = ("aggregate", "degrees", "n", "odd", "shift", "sums")

    def __init__(self, aggregate: Aggregate, degrees: tuple[int, ...]) -> None:
        self.aggregate = aggregate
        self.degrees = degrees
        self.n = 0
        self.odd = 0
        self.shift = SHIFT
        self.sums: tuple[int, ...] = (0,) * len(degrees)

    def _widen(self) -> None:
        """A tiny or huge value has come: from now on at the full resolution of floats."""
        more = WIDE_SHIFT - self.shift
        self.sums = tuple(s << (more * d) for s, d in zip(self.sums, self.degrees, strict=True))
        self.shift = WIDE_SHIFT

    def _add(self, amounts: tuple[int, ...], weight: int) -> None:
        self.sums = tuple(s + weight * a for s, a in zip(self.sums, amounts, strict=True))

    def _settle(self) -> None:
        if self.n == self.odd:
            self.shift = SHIFT  # nothing is in: the sums are zero at any scale

    def fractions(self) -> tuple[Fraction, ...]:
        pairs = zip(self.sums, self.degrees, strict=True)
        return tuple(Fraction(s, 1 << (self.shift * d)) for s, d in pairs)

    def mark(self, args: Row) -> Any:
        return self.n, self.odd, self.shift, self.sums

    def restore(self, args: Row, mark: Any) -> None:
        self.n, self.odd, self.shift, self.sums = mark

    def rebuild(self) -> None:
        """Nothing is derived."""


class Moments(_Sums):
    """Functions of one value."""

    __slots__ = ()

    def __init__(self, aggregate: Aggregate) -> None:
        super().__init__(aggregate, tuple(range(1, POWERS_NEEDED.get(aggregate.function, 2) + 1)))

    def add(self, args: Row, weight: int) -> None:
        x = args[0]
        if x is None:
            return
        self.n += weight
        if not isfinite(x):
            self.odd += weight
            return
        i = scale_float(x, self.shift)
        if i is None:
            self._widen()
            i = scale_float(x, self.shift)
            assert i is not None
        powers = [i]
        for _ in self.degrees[1:]:
            powers.append(powers[-1] * i)
        self._add(tuple(powers), weight)
        self._settle()

    def value(self) -> float | None:
        name = self.aggregate.function
        if self.n == 0 or (self.n == 1 and name.endswith("_samp")):
            return None
        return NAN if self.odd else read_moment(name, self.n, self.fractions())


class PairMoments(_Sums):
    """Functions of two values: sums of x, x², y, y², xy.

    A value that is not finite adds nothing to the sums and is counted. Its partner adds its powers all the same: whether the partner's
    column is constant decides between NULL and NaN.
    """

    __slots__ = ("odd_partners",)

    def __init__(self, aggregate: Aggregate) -> None:
        super().__init__(aggregate, (1, 2, 1, 2, 2))
        self.odd_partners = 0

    def add(self, args: Row, weight: int) -> None:
        x, y = args[0], args[1]
        if x is None or y is None:
            return
        match self.aggregate.function:  # what only the other value is, is no matter to these
            case "regr_sxx":
                x = y
            case "regr_syy":
                y = x
        self.n += weight
        if not isfinite(x):
            self.odd += weight
            x = 0.0
        if not isfinite(y):
            self.odd_partners += weight
            y = 0.0
        i, j = scale_float(x, self.shift), scale_float(y, self.shift)
        if i is None or j is None:
            self._widen()
            i, j = scale_float(x, self.shift), scale_float(y, self.shift)
            assert i is not None and j is not None
        self._add((i, i * i, j, j * j, i * j), weight)
        self._settle()

    def _settle(self) -> None:
        if self.n == 0:
            self.shift = SHIFT

    def mark(self, args: Row) -> Any:
        return super().mark(args), self.odd_partners

    def restore(self, args: Row, mark: Any) -> None:
        super().restore(args, mark[0])
        self.odd_partners = mark[1]

    def value(self) -> float | int | None:
        name = self.aggregate.function
        if name == "regr_count":
            return self.n
        if self.n == 0 or (self.n == 1 and name in ("covar_samp", "corr")):
            return None
        sums = self.fractions()
        if self.odd or self.odd_partners:
            syy = None if self.odd else deviations(self.n, sums[0:2])
            sxx = None if self.odd_partners else deviations(self.n, sums[2:4])
            return read_pair_of_odd(name, syy, sxx)
        return read_pair(name, self.n, sums[0:2], sums[2:4], sums[4])
