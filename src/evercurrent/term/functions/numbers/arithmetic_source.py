"""Arithmetic as Python source, with the checks that the types ask for and no others.

    BIGINT a + b         an intermediate, compared with the bounds
    DOUBLE a + b         a NaN that is the one NaN
    DOUBLE a * b         and `+ 0.0`, which makes 0.0 of -0.0; sums of canonical floats are never -0.0
    DECIMAL a + b        plain integers at one scale, where the result's digits were not cut

>>> from evercurrent.data.types import Decimal
>>> python_mul((Decimal(12, 2), Decimal(5, 2)), Decimal(18, 4), ("a", "b"))
'(a * b)'
"""

from __future__ import annotations

from collections.abc import Callable

from evercurrent.data.types import DOUBLE, Decimal, Float, Integer, Type
from evercurrent.term.functions.exact import POWERS
from evercurrent.term.functions.function import Types

V = "_v"
"""The local name that generated expressions keep an intermediate in; it is read before anything else can set it."""


def within(t: Integer, expression: str) -> str:
    """An integer expression, checked to lie in the range of the type."""
    low, high = -(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1
    return f"({V} if {low} <= ({V} := {expression}) <= {high} else overflow{t.bits}())"


def not_nan(expression: str) -> str:
    """A float expression whose NaN is the one NaN."""
    return f"({V} if ({V} := {expression}) == {V} else NAN)"


def times(source: str, power: int) -> str:
    return source if power == 1 else f"{source} * {power}"


def fits_uncut(result: Decimal, precision: int, scale: int) -> bool:
    """Whether the exact result has the result's scale and cannot have more digits than its precision."""
    return result.scale == scale and precision <= result.precision


def python_sum(sign: str) -> Callable[[Types, Type, tuple[str, ...]], str | None]:
    def python(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
        a, b = args
        match types, result:
            case _, Integer():
                return within(result, f"{a} {sign} {b}")
            case _, Float(64):
                return not_nan(f"{a} {sign} {b}")
            case (Decimal(p, s), Decimal(q, t)), Decimal():
                m = max(s, t)
                if not fits_uncut(result, max(p - s, q - t) + m + 1, m):
                    return None
                return f"({times(a, POWERS[m - s])} {sign} {times(b, POWERS[m - t])})"
            case _:
                return None

    return python


def python_mul(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    a, b = args
    match types, result:
        case _, Integer():
            return within(result, f"{a} * {b}")
        case (Float(), Float()), Float(64):
            return not_nan(f"{a} * {b} + 0.0")
        case (Decimal(p, s), Decimal(q, t)), Decimal() if fits_uncut(result, p + q, s + t):
            return f"({a} * {b})"
        case _:
            return None


def python_div(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    a, b = args
    if result != DOUBLE:
        return None
    return not_nan(f"{a} / {b} + 0.0 if {b} else division_by_zero()")


def python_neg(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    match result:
        case Integer():
            return within(result, f"-{args[0]}")
        case Decimal():
            return f"(-{args[0]})"
        case Float():
            return f"(0.0 - {args[0]} if {args[0]} == {args[0]} else NAN)"
        case _:
            return None
