"""+ - * / DIV % and the unary minus, on numbers, dates, times of day, timestamps and intervals.

Integers keep their type, and leaving its range is an error. Decimals are scaled integers: a sum is brought to one scale,
a product just multiplies, and where the result's precision was not cut nothing can overflow and nothing is checked.
Floats follow IEEE 754, except that dividing by zero is an error.

    7 DIV 2                                    3
    -7 % 3                                    -1
    DATE '2024-01-31' + INTERVAL 1 MONTH      2024-02-29
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import NAN, canonical_float, float32
from evercurrent.term.functions.calendar import (
    MICRO,
    MICROS_PER_DAY,
    add_days,
    add_micros,
    add_months,
    add_to_time,
    micros_of_day,
)
from evercurrent.term.functions.exact import (
    POWERS,
    check_decimal,
    check_integer,
    divide_half_up,
    remainder,
    rescale,
    significant,
    to_scale,
    truncate_quotient,
)
from evercurrent.term.functions.failures import division_by_zero, overflow
from evercurrent.term.functions.function import Function, Types
from evercurrent.term.functions.numbers.arithmetic_source import (
    python_div,
    python_mul,
    python_neg,
    python_sum,
)
from evercurrent.term.functions.numbers.arithmetic_types import (
    infer_add,
    infer_div,
    infer_idiv,
    infer_mod,
    infer_mul,
    infer_neg,
    infer_sub,
)

Binary = Callable[[Any, Any], Any]


def _float_result(t: Float, f: Binary) -> Binary:
    if t.bits == 32:
        return lambda a, b: float32(f(a, b))

    def double(a: float, b: float) -> float:
        return canonical_float(f(a, b))

    return double


def _sum(sign: int) -> Callable[[Types, Type], Binary]:
    def implement(types: Types, result: Type) -> Binary:
        plain: Binary = (lambda a, b: a + b) if sign > 0 else (lambda a, b: a - b)
        match types, result:
            case _, Integer():
                return lambda a, b: check_integer(result, plain(a, b))
            case _, Float():
                return _float_result(result, plain)
            case (Decimal(scale=s), Decimal(scale=t)), Decimal(scale=u):
                # At the larger scale the sum is exact; cut results are then rounded once.
                m = max(s, t)
                x, y = POWERS[m - s], POWERS[m - t] * sign
                return lambda a, b: check_decimal(result, rescale(a * x + b * y, m, u))
            case (Date(), Date()), _:
                return lambda a, b: (a.toordinal() - b.toordinal()) * MICROS_PER_DAY
            case (Timestamp(), Timestamp()), _:
                return lambda a, b: (a - b) // MICRO
            case (Time(), Time()), _:
                return lambda a, b: micros_of_day(a) - micros_of_day(b)
            case (Interval(), Interval()), Interval():
                return lambda a, b: _check_interval(result, plain(a, b))
            case (by, Date() | Time() | Timestamp() as day), _:
                shift = _shifter(day, by)
                return lambda a, b: shift(b, a)
            case (day, by), _:
                shift = _shifter(day, by)
                return shift if sign > 0 else lambda a, b: shift(a, -b)
            case _:
                raise AssertionError(types)

    return implement


def _shifter(day: Type, by: Type) -> Binary:
    match day, by:
        case _, Interval("months"):
            return add_months
        case Date(), Interval():
            return lambda a, b: add_days(a, b // MICROS_PER_DAY)
        case Date(), _:
            return add_days
        case Time(), _:
            return add_to_time
        case _:
            return add_micros


def _check_interval(t: Interval, value: int) -> int:
    return check_integer(Integer(32 if t.unit == "months" else 64), value)


def _round_half_up(x: float) -> int:
    if x != x or math.isinf(x):
        overflow("INTERVAL")
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def _scale_interval(result: Interval, factor: Type, divide: bool) -> Binary:
    def scale(interval: int, by: Any) -> int:
        if divide and by == 0:
            division_by_zero()
        match factor:
            case Float():
                value = _round_half_up(interval / by if divide else interval * by)
            case Decimal(scale=s):
                value = (
                    divide_half_up(interval * POWERS[s], by)
                    if divide
                    else divide_half_up(interval * by, POWERS[s])
                )
            case _:
                value = divide_half_up(interval, by) if divide else interval * by
        return _check_interval(result, value)

    return scale


def _implement_mul(types: Types, result: Type) -> Binary:
    match types, result:
        case (Interval(), factor), Interval():
            return _scale_interval(result, factor, divide=False)
        case (factor, Interval()), Interval():
            scale = _scale_interval(result, factor, divide=False)
            return lambda a, b: scale(b, a)
        case _, Integer():
            return lambda a, b: check_integer(result, a * b)
        case _, Float():
            return _float_result(result, lambda a, b: a * b)
        case (Decimal(scale=s), Decimal(scale=t)), Decimal(scale=u):
            return lambda a, b: check_decimal(result, to_scale(*significant(a * b, s + t), u))
        case _:
            raise AssertionError(types)


def _implement_div(types: Types, result: Type) -> Binary:
    match types, result:
        case (Interval(), factor), Interval():
            return _scale_interval(result, factor, divide=True)
        case (Decimal(scale=s), Decimal(scale=t)), Decimal(scale=u):
            # Spark finds 38 fractional digits first, and rounds those.
            up = POWERS[38 - s + t]

            def divide_decimals(a: int, b: int) -> int:
                if b == 0:
                    division_by_zero()
                return check_decimal(result, rescale(divide_half_up(a * up, b), 38, u))

            return divide_decimals
        case _:
            return divide


def divide(a: float, b: float) -> float:
    if b == 0:
        division_by_zero()
    return canonical_float(a / b)


def _implement_idiv(types: Types, result: Type) -> Binary:
    x, y = to_one_scale(types)

    def quotient(a: int, b: int) -> int:
        if b == 0:
            division_by_zero()
        return check_integer(BIGINT, truncate_quotient(a * x, b * y))

    return quotient


def to_one_scale(types: Types) -> tuple[int, int]:
    match types:
        case (Decimal(scale=s), Decimal(scale=t)):
            m = max(s, t)
            return POWERS[m - s], POWERS[m - t]
        case _:
            return 1, 1


def _implement_mod(types: Types, result: Type) -> Binary:
    if isinstance(result, Float):

        def modulo(a: float, b: float) -> float:
            if b == 0:
                division_by_zero()
            return NAN if math.isinf(a) or a != a or b != b else math.fmod(a, b) + 0.0

        return modulo
    x, y = to_one_scale(types)
    m = max((t.scale for t in types if isinstance(t, Decimal)), default=0)

    def rest(a: int, b: int) -> int:
        if b == 0:
            division_by_zero()
        r = remainder(a * x, b * y)
        return check_decimal(result, rescale(r, m, result.scale)) if isinstance(result, Decimal) else r

    return rest


def _implement_neg(types: Types, result: Type) -> Callable[[Any], Any]:
    match result:
        case Integer():
            return lambda a: check_integer(result, -a)
        case Interval():
            return lambda a: _check_interval(result, -a)
        case Float():
            return lambda a: canonical_float(-a)
        case _:
            return lambda a: -a


FUNCTIONS = (
    Function("add", infer_add, _sum(1), python=python_sum("+"), fails=True),
    Function("sub", infer_sub, _sum(-1), python=python_sum("-"), fails=True),
    Function("mul", infer_mul, _implement_mul, python=python_mul, fails=True),
    Function("div", infer_div, _implement_div, python=python_div, fails=True),
    Function("idiv", infer_idiv, _implement_idiv, fails=True),
    Function("mod", infer_mod, _implement_mod, fails=True),
    Function("neg", infer_neg, _implement_neg, python=python_neg, fails=True),
)
