"""Exact arithmetic on scaled integers, rounding half up (away from zero), as DECIMAL does.

>>> rescale(12345, 3, 1), divide_half_up(-5, 2), remainder(-7, 3), truncate_quotient(-7, 2)
(123, -3, -1, -3)
"""

from __future__ import annotations

from evercurrent.data.types import Decimal, Integer
from evercurrent.term.functions.failures import decimal_overflow, overflow

POWERS: tuple[int, ...] = tuple(10**i for i in range(120))
SIGNIFICANT = 39
"""Digits that Spark keeps in the exact product of two decimals before it is brought to the result's scale."""


def divide_half_up(a: int, b: int) -> int:
    """a / b to the nearest integer, halves away from zero."""
    if b < 0:
        a, b = -a, -b
    return (2 * a + b) // (2 * b) if a >= 0 else -((-2 * a + b) // (2 * b))


def divide_half_even(a: int, b: int) -> int:
    """a / b (b positive) to the nearest integer, halves to the even one."""
    q, r = divmod(a, b)
    return q + (2 * r > b or (2 * r == b and q % 2 == 1))


def rescale(value: int, scale: int, target: int) -> int:
    """The scaled integer at another scale."""
    if target >= scale:
        return value * POWERS[target - scale]
    return divide_half_up(value, POWERS[scale - target])


def significant(value: int, scale: int) -> tuple[int, int]:
    """Value and scale cut to the digits that Spark's decimal context keeps."""
    excess = len(str(abs(value))) - SIGNIFICANT
    if excess <= 0:
        return value, scale
    return divide_half_up(value, POWERS[excess]), scale - excess


def to_scale(value: int, scale: int, target: int) -> int:
    """Like `rescale`, also for a negative scale."""
    return rescale(value * POWERS[-scale], 0, target) if scale < 0 else rescale(value, scale, target)


def truncate_quotient(a: int, b: int) -> int:
    """The quotient without its fraction: towards zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def remainder(a: int, b: int) -> int:
    """The remainder with the sign of the dividend."""
    r = abs(a) % abs(b)
    return r if a >= 0 else -r


def check_decimal(t: Decimal, scaled: int) -> int:
    if -POWERS[t.precision] < scaled < POWERS[t.precision]:
        return scaled
    decimal_overflow()


def check_integer(t: Integer, value: int) -> int:
    if -(1 << (t.bits - 1)) <= value < 1 << (t.bits - 1):
        return value
    overflow(t)
