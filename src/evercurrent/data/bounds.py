"""What numbers a type can hold.

>>> from evercurrent.data.types import INT
>>> integer_fits(INT, 2**31 - 1), integer_fits(INT, 2**31), decimal_fits(Decimal(4, 2), 9999)
(True, False, True)
"""

from __future__ import annotations

import decimal
import struct

from evercurrent.data.representation import NAN
from evercurrent.data.types import Decimal, Integer, Interval

WIDE = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
"""Enough digits for every DECIMAL and every intermediate of one operation."""


def integer_fits(t: Integer, value: int) -> bool:
    """Whether the type can hold the number."""
    return -(1 << (t.bits - 1)) <= value < 1 << (t.bits - 1)


def interval_fits(t: Interval, amount: int) -> bool:
    """Whether the type can hold so many months (32 bits) or microseconds (64 bits)."""
    bits = 31 if t.unit == "months" else 63
    return -(1 << bits) <= amount < 1 << bits


def decimal_fits(t: Decimal, scaled: int) -> bool:
    """Whether the type can hold the number that is `scaled` at its scale."""
    limit: int = 10**t.precision
    return -limit < scaled < limit


def float32(value: float) -> float:
    """The nearest FLOAT, as a Python float; too large becomes infinite.

    >>> float32(0.1), float32(1e39), float32(-1e-50)
    (0.10000000149011612, inf, 0.0)
    """
    if value != value:
        return NAN
    try:
        result: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return result + 0.0  # never -0.0
