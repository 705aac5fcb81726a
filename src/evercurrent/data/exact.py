"""Sums of floats that are exact, so that a value that is taken out leaves no trace.

Law. For every history of additions, `value(total)` is the correctly rounded sum of what is in: `add(add(t, x), x, -1)`
is `t`. (Floating-point addition has neither property: `(1e16 + 1.0) - 1e16` is 2.0 or 0.0, never 1.0.)

A finite float is an integer times a power of two. A total is normally one Python integer, the sum times 2**120: that
covers every float whose lowest bit is at least 2**-120 (all of ordinary size). What does not fit (tiny or huge numbers,
NaN, infinities) turns the total into a tuple at the full resolution of 2**-1074, with NaN and the infinities counted
apart; it turns back as soon as they have gone. Totals are immutable, the empty sum is 0.

>>> t = add(add(add(0, 1e16), 1.0), -1e16)
>>> value(t)
1.0
>>> value(add(t, float("inf"))), value(add(add(t, float("inf")), float("inf"), -1))
(inf, 1.0)
"""

from __future__ import annotations

from fractions import Fraction

from evercurrent.data.representation import NAN

Wide = tuple[int, int, int, int]
"""The finite part times 2**1074, and how many NaN, +infinity and -infinity are in."""

Total = int | Wide

SHIFT = 120
SCALE = 2.0**SHIFT
UNIT = 1 << SHIFT
WIDE_SHIFT = 1074
WIDE_UNIT = 1 << WIDE_SHIFT
GAP = WIDE_SHIFT - SHIFT
LOW_BITS = (1 << GAP) - 1
INFINITY = float("inf")


def add(total: Total, x: float, weight: int = 1) -> Total:
    """The total with `x` in it `weight` times more (fewer, if negative)."""
    scaled = x * SCALE
    try:
        n = int(scaled)
    except (OverflowError, ValueError):  # infinite, or NaN
        return _add_wide(total, x, weight)
    if n == scaled and total.__class__ is int:
        return total + n * weight
    return _add_wide(total, x, weight)


def _add_wide(total: Total, x: float, weight: int) -> Total:
    n, nans, ups, downs = (total << GAP, 0, 0, 0) if isinstance(total, int) else total
    if x != x:
        nans += weight
    elif x == INFINITY:
        ups += weight
    elif x == -INFINITY:
        downs += weight
    else:
        numerator, denominator = x.as_integer_ratio()
        n += (numerator << (WIDE_SHIFT - denominator.bit_length() + 1)) * weight
    return _narrow((n, nans, ups, downs))


def _narrow(wide: Wide) -> Total:
    n, nans, ups, downs = wide
    if nans or ups or downs or n & LOW_BITS:
        return wide
    return n >> GAP


def join(a: Total, b: Total) -> Total:
    """The sum of two totals."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    x = (a << GAP, 0, 0, 0) if isinstance(a, int) else a
    y = (b << GAP, 0, 0, 0) if isinstance(b, int) else b
    return _narrow((x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]))


def value(total: Total) -> float:
    """The sum as a float, correctly rounded; NaN if one is in or the infinities disagree."""
    if isinstance(total, int):
        numerator, denominator = total, UNIT
    else:
        numerator, nans, ups, downs = total
        if nans or (ups and downs):
            return NAN
        if ups or downs:
            return INFINITY if ups else -INFINITY
        denominator = WIDE_UNIT
    try:
        return numerator / denominator
    except OverflowError:
        return INFINITY if numerator > 0 else -INFINITY


def fraction(total: Total) -> Fraction | None:
    """The sum as an exact number; None if NaN or an infinity is in."""
    if isinstance(total, int):
        return Fraction(total, UNIT)
    n, nans, ups, downs = total
    return None if nans or ups or downs else Fraction(n, WIDE_UNIT)
