"""ROUND, BROUND, CEIL and FLOOR, to a number of decimal places that may be negative.

A float is rounded as the decimal that it prints as, so round(2.675, 2) is 2.68. Decimals need one more integral digit,
since 9.9 rounds to 10.

    round(2.5)           3
    bround(2.5)          2
    round(1234, -2)      1200
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import BIGINT, INT, Decimal, Float, Integer, Type
from evercurrent.data.values import WIDE, float32
from evercurrent.term.functions.coerce import decimal_of
from evercurrent.term.functions.exact import (
    POWERS,
    check_decimal,
    check_integer,
    divide_half_even,
    divide_half_up,
)
from evercurrent.term.functions.failures import bad_cast
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types, Unknown
from evercurrent.term.functions.signatures import count, numeric
from evercurrent.term.functions.text.spelling import spelling

Divide = Callable[[int, int], int]

MODES = {
    "round": decimal.ROUND_HALF_UP,
    "bround": decimal.ROUND_HALF_EVEN,
    "ceil": decimal.ROUND_CEILING,
    "floor": decimal.ROUND_FLOOR,
}


def _ceiling(a: int, b: int) -> int:
    return -(-a // b)


def _floor(a: int, b: int) -> int:
    return a // b


DIVISIONS: dict[str, Divide] = {
    "round": divide_half_up,
    "bround": divide_half_even,
    "ceil": _ceiling,
    "floor": _floor,
}


def infer_rounded_decimal(t: Decimal, places: int) -> Decimal:
    """The type of a decimal rounded to so many places."""
    digits = t.precision - t.scale + 1
    if places < 0:
        return Decimal(min(38, max(digits, 1 - places)), 0)
    scale = min(t.scale, places)
    return Decimal(min(38, digits + scale), scale)


def _refine(name: str) -> Callable[[Types, tuple[Any, ...]], Signature]:
    def refine(types: Types, constants: tuple[Any, ...]) -> Signature:
        count(types, 1, 2)
        t = numeric(types[0])
        places = 0
        if len(types) == 2:
            if isinstance(constants[1], Unknown):
                raise TypeMismatch("the number of places must be a constant")
            places = 0 if constants[1] is None else constants[1]
            if not isinstance(places, int):
                raise TypeMismatch("the number of places must be an integer")
        args = (t, INT)[: len(types)]
        if isinstance(t, Decimal):
            return Signature(args, infer_rounded_decimal(t, places))
        if name in ("ceil", "floor"):
            if len(types) == 2:
                t = decimal_of(t) if isinstance(t, Integer) else Decimal(30, 15)
                return Signature((t, INT), infer_rounded_decimal(t, places))
            return Signature((BIGINT,) if isinstance(t, Integer) else args, BIGINT)
        return Signature(args, t)

    return refine


def _implement(name: str) -> Callable[[Types, Type], Callable[..., Any]]:
    divide, mode = DIVISIONS[name], MODES[name]

    def implement(types: Types, result: Type) -> Callable[..., Any]:
        match types[0], result:
            case Decimal(scale=s), Decimal(scale=t):
                return lambda x, places=0: check_decimal(result, round_scaled(x, s, places, t, divide))
            case Integer(), Integer() if name in ("round", "bround"):
                return lambda x, places=0: check_integer(result, round_scaled(x, 0, places, 0, divide))
            case Integer(), _:
                return lambda x: x
            case Float(), Integer():
                return lambda x: _to_integer(x, math.ceil if name == "ceil" else math.floor)
            case Float(bits), _:
                spell = spelling(types[0])
                return lambda x, places=0: _round_float(x, spell(x), places, mode, bits)
            case _:
                raise AssertionError(types)

    return implement


def round_scaled(x: int, scale: int, places: int, target: int, divide: Divide) -> int:
    """A scaled integer rounded to `places`, given at scale `target` (at least `places`)."""
    if places >= scale:
        return x * POWERS[target - scale]
    if scale - places > 100:
        return 0
    return divide(x, POWERS[scale - places]) * POWERS[target - places]


def _to_integer(x: float, f: Callable[[float], int]) -> int:
    if x != x:
        return 0  # as Java converts NaN to an integer
    if math.isinf(x):
        bad_cast(x, BIGINT)
    return check_integer(BIGINT, f(x))


def _round_float(x: float, text: str, places: int, mode: str, bits: int) -> float:
    if not math.isfinite(x) or places > 340:
        return x
    if places < -340:
        return 0.0
    exact = decimal.Decimal(text)
    unit = decimal.Decimal(1).scaleb(-places)
    if exact.adjusted() - unit.adjusted() > 90:
        return x
    rounded = float(exact.quantize(unit, mode, WIDE))
    return rounded + 0.0 if bits == 64 else float32(rounded)


def _no_constants(name: str) -> Callable[[Types], Signature]:
    return lambda types: _refine(name)(types, (None,) * len(types))


FUNCTIONS = tuple(
    Function(name, _no_constants(name), _implement(name), refine=_refine(name), fails=True) for name in MODES
)
