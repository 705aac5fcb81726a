"""Checks that let a sum of products be kept as a product of sums.

A product of integers fails where it overflows, and a product of floats is rounded. Where neither can happen for any pair
of rows, the sum over a join can be computed from the sums of both sides (`delta.factor`). These two functions check what
is needed of one side alone, and return its value as a number of the ring:

    bounded(x, name)      the integer x itself; the engine compares its magnitude with what was seen of the other factors
    scaled(x, n, name)    x * 2**(120 / n), an integer: one of n factors of a product that is exact

If a check fails, `OutOfBounds` says which amount has to be computed row by row. That is not an error of the user's.
Both functions are written by the compiler only.

>>> scale(1.5, 2, 26, 2.0**300) == 3 << 59, scale(0.1, 2, 26, 2.0**300)
(True, None)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.exact import SHIFT
from evercurrent.data.types import BIGINT, Float, Type
from evercurrent.errors import EvercurrentError
from evercurrent.term.functions.function import Function, Signature, Types


class OutOfBounds(EvercurrentError):
    """An amount cannot be taken apart for these data; `amount` is its name in the program."""

    def __init__(self, amount: str) -> None:
        self.amount = amount
        super().__init__(f"the amount {amount} has to be computed row by row")


MOST_FACTORS = 4
"""A product of more floats leaves too few bits for each."""

SPLIT = {n: 2.0 ** (SHIFT // n) for n in range(1, MOST_FACTORS + 1)}


def scale(x: float, factors: int, bits: int, limit: float) -> int | None:
    """The float as an integer, or None if it has more bits than one of so many factors may have."""
    if not -limit <= x <= limit:  # NaN too
        return None
    scaled = x * SPLIT[factors]
    n = int(scaled)
    if n != scaled:
        return None
    if factors > 1 and n and abs(n).bit_length() - ((n & -n).bit_length() - 1) > bits:
        return None
    return n


def _implement_scale(types: Types, _result: Type) -> Callable[..., Any]:
    # A product of n factors of `mantissa / n` bits has at most `mantissa` bits, so that it is not rounded.
    double = not isinstance(types[0], Float) or types[0].bits == 64
    mantissa, limit = (53, 2.0**200) if double else (24, 2.0**30)

    def scale_float(x: float, factors: int, name: str) -> int:
        found = scale(x, factors, mantissa // factors, limit)
        if found is None:
            raise OutOfBounds(name)
        return found

    return scale_float


BOUNDS: tuple[Function, ...] = (
    Function(
        "bounded", lambda ts: Signature(ts, ts[0]), lambda _types, _result: lambda x, _name: x, fails=True
    ),
    Function("scaled", lambda ts: Signature(ts, BIGINT), _implement_scale, fails=True),
)
