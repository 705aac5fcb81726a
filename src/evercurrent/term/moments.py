"""Variance and its kin, exactly.

All of them are readings of power sums: with n the number of values and s1, s2, ... the exact sums of their powers,

    m2 = s2 - s1**2 / n                                          the sum of squared deviations
    var_pop = m2 / n      var_samp = m2 / (n - 1)      covar_pop = (sxy - sx * sy / n) / n

computed in rationals and rounded once, so the result does not depend on the order in which values were inserted and
deleted. One NaN or infinity among the values makes every reading NaN, but for pairs with a constant column (`read_pair_of_odd`).

>>> moment("var_pop", [1.0, 2.0, 3.0, 4.0])
1.25
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from evercurrent.data.representation import NAN

MOMENTS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis")
PAIRS = (
    "covar_pop",
    "covar_samp",
    "corr",
    "regr_count",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "regr_slope",
    "regr_intercept",
    "regr_r2",
)


def nearest(x: Fraction) -> float:
    """The float nearest to a rational; infinite if it is beyond all of them."""
    try:
        return float(x) + 0.0
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def root(square: Fraction, sign: Fraction) -> float:
    """The square root, with the sign of a number; for quotients whose divisor alone is beyond floats, or below."""
    return math.copysign(math.sqrt(nearest(square)), 1 if sign > 0 else -1) + 0.0


def power_sums(values: Iterable[float], highest: int) -> tuple[Fraction, ...]:
    """The sums of the powers 1 to `highest`."""
    totals = [Fraction(0)] * highest
    for x in values:
        power = exact = Fraction(x)
        for i in range(highest):
            totals[i] += power
            power *= exact
    return tuple(totals)


def moment(name: str, values: Sequence[float]) -> float | None:
    """var_pop, var_samp, stddev_pop, stddev_samp, skewness or kurtosis of a bag of floats."""
    n = len(values)
    if n == 0 or (n == 1 and name.endswith("_samp")):
        return None
    if not all(map(math.isfinite, values)):
        return NAN
    return read_moment(name, n, power_sums(values, {"skewness": 3, "kurtosis": 4}.get(name, 2)))


def read_moment(name: str, n: int, sums: tuple[Fraction, ...]) -> float | None:
    """The reading of power sums of n > 0 finite values."""
    m2 = deviations(n, sums)
    match name:
        case "var_pop":
            return nearest(m2 / n)
        case "stddev_pop":
            return math.sqrt(nearest(m2 / n))
        case "var_samp":
            return nearest(m2 / (n - 1)) if n > 1 else None
        case "stddev_samp":
            return math.sqrt(nearest(m2 / (n - 1))) if n > 1 else None
    if m2 == 0:
        return None
    mean = sums[0] / n
    if name == "skewness":
        m3 = sums[2] - 3 * mean * sums[1] + 2 * n * mean**3
        cubed = math.sqrt(nearest(m2)) ** 3
        return (
            math.sqrt(n) * nearest(m3) / cubed + 0.0 if 0 < cubed < math.inf else root(n * m3**2 / m2**3, m3)
        )
    m4 = sums[3] - 4 * mean * sums[2] + 6 * mean**2 * sums[1] - 3 * n * mean**4
    return nearest(n * m4 / m2**2 - 3)


def pair_moment(name: str, pairs: Sequence[tuple[float, float]]) -> float | int | None:
    """A reading of pairs (for regr_*: the dependent value comes first)."""
    n = len(pairs)
    if name == "regr_count":
        return n
    if n == 0 or (n == 1 and name in ("covar_samp", "corr")):
        return None
    pairs = {"regr_sxx": [(b, b) for _, b in pairs], "regr_syy": [(a, a) for a, _ in pairs]}.get(name, pairs)
    sums = [power_sums(c, 2) if all(map(math.isfinite, c)) else None for c in zip(*pairs, strict=True)]
    first, second = sums
    if first is None or second is None:
        return read_pair_of_odd(name, *(s if s is None else deviations(n, s) for s in sums))
    product = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    return read_pair(name, n, first, second, product)


def deviations(n: int, sums: tuple[Fraction, ...]) -> Fraction:
    """The sum of squared deviations; zero if all values are equal."""
    return sums[1] - sums[0] ** 2 / n


def read_pair_of_odd(name: str, syy: Fraction | None, sxx: Fraction | None) -> float | None:
    """The reading where a value is NaN or infinite: a column with one has None as its deviations.

    NaN, unless a constant column decides alone.

    >>> read_pair_of_odd("corr", None, Fraction(0)), read_pair_of_odd("corr", None, Fraction(2))
    (None, nan)
    """
    match name:
        case "corr" if sxx == 0 or syy == 0:
            return None
        case "regr_slope" | "regr_intercept" | "regr_r2" if sxx == 0:
            return None
        case "regr_r2" if syy == 0:
            return 1.0
    return NAN


def read_pair(
    name: str, n: int, first: tuple[Fraction, ...], second: tuple[Fraction, ...], product: Fraction
) -> float | None:
    """The reading of power sums of both values and of the sum of their products."""
    syy, sxx = deviations(n, first), deviations(n, second)
    sxy = product - first[0] * second[0] / n
    match name:
        case "covar_pop":
            return nearest(sxy / n)
        case "covar_samp":
            return nearest(sxy / (n - 1))
        case "corr":
            if not sxx or not syy:
                return None
            both = math.sqrt(nearest(sxx * syy))
            return nearest(sxy) / both + 0.0 if 0 < both < math.inf else root(sxy**2 / (sxx * syy), sxy)
        case "regr_sxx":
            return nearest(sxx)
        case "regr_syy":
            return nearest(syy)
        case "regr_sxy":
            return nearest(sxy)
        case "regr_slope":
            return nearest(sxy / sxx) if sxx else None
        case "regr_intercept":
            return nearest((first[0] - sxy / sxx * second[0]) / n) if sxx else None
        case _:
            if not sxx:
                return None
            return nearest(sxy**2 / (sxx * syy)) if syy else 1.0
