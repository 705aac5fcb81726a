"""The types of + - * / DIV % and the unary minus: which operands they take, and what they return.

INT + BIGINT                    takes two BIGINT, returns BIGINT
DECIMAL(10,2) * DECIMAL(5,1)    returns DECIMAL(16,3)
DATE + INTERVAL DAY             returns DATE
"""

from __future__ import annotations

from collections.abc import Callable

from evercurrent.data.types import (
    BIGINT,
    DATE,
    DAYS,
    DOUBLE,
    INT,
    MICROS,
    TIME,
    TIMESTAMP,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Null,
    String,
    Time,
    Timestamp,
    Type,
    is_numeric,
)
from evercurrent.term.functions.coerce import (
    common_of_two,
    decimal_of,
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
)
from evercurrent.term.functions.function import Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import count, number_or_interval, numeric


def _numbers(types: Types, rule: Callable[[Decimal, Decimal], Decimal]) -> Signature:
    """Two numbers: decimals (and integers beside them) by the rule, all else by the common type."""
    a, b = types
    if isinstance(a, Null | String) and isinstance(b, Null | String):
        a = b = DOUBLE
    elif not isinstance(a, Decimal) or not isinstance(b, Decimal):
        if isinstance(a, Decimal) and isinstance(b, Integer):
            b = decimal_of(b)
        elif isinstance(b, Decimal) and isinstance(a, Integer):
            a = decimal_of(a)
        else:
            a = b = common_of_two(a, b)
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return Signature((a, b), rule(a, b))
    if not is_numeric(a):
        raise TypeMismatch(f"{types[0]} and {types[1]} are not numbers")
    return Signature((a, b), a)


def _joint(a: Interval, b: Interval) -> Interval:
    if a.unit != b.unit:
        raise TypeMismatch(f"{a} and {b} do not go together")
    return a if a == b else Interval(a.unit)


def _infer_shift(day: Type, by: Type) -> Signature:
    """A date or timestamp moved by a number of days or an interval."""
    match day, by:
        case Date(), Integer(8 | 16 | 32):
            return Signature((DATE, INT), DATE)
        case Date(), (Interval("months") | Interval("micros", days=True)):
            return Signature((DATE, by), DATE)
        case Date(), Interval("micros"):
            return Signature((TIMESTAMP, MICROS), TIMESTAMP)
        case Time(), Interval("micros", days):
            # Whole days leave the digits of a time; what may have seconds may have their fractions.
            return Signature((day, by), day if days else TIME)
        case Time(), Null():
            return Signature((day, MICROS), day)
        case Timestamp(), Interval():
            return Signature((day, by), day)
        case _:
            raise TypeMismatch(f"{by} cannot be added to {day}")


def infer_add(types: Types) -> Signature:
    count(types, 2)
    match types:
        case (Date() | Time() | Timestamp() as day, by):
            return _infer_shift(day, by)
        case (by, Date() | Time() | Timestamp() as day):
            shift = _infer_shift(day, by)
            return Signature(shift.args[::-1], shift.result)
        case (Interval() as a, Interval() as b):
            t = _joint(a, b)
            return Signature((t, t), t)
        case (Interval() as a, Null()) | (Null(), Interval() as a):
            return Signature((a, a), a)
        case _:
            return _numbers(types, decimal_sum)


def infer_sub(types: Types) -> Signature:
    count(types, 2)
    match types:
        case (Date(), Date()):
            return Signature(types, DAYS)
        case (Date() | Timestamp() as a, Date() | Timestamp() as b):
            t = common_of_two(a, b)
            return Signature((t, t), MICROS)
        case (Date() | Timestamp() as a, String()) | (String(), Date() | Timestamp() as a):
            return Signature((a, a), DAYS if a == DATE else MICROS)
        case (Time() as a, Time() | String() | Null() as b) | (String() | Null() as b, Time() as a):
            t = common_of_two(a, b)
            return Signature((t, t), MICROS)
        case (Date() | Time() | Timestamp() as day, by):
            return _infer_shift(day, by)
        case (Interval() as a, Interval() as b):
            t = _joint(a, b)
            return Signature((t, t), t)
        case (Interval() as a, Null()) | (Null(), Interval() as a):
            return Signature((a, a), a)
        case _:
            return _numbers(types, decimal_sum)


def _interval_factor(t: Type) -> Type:
    """A factor of an interval: exact numbers stay, others are DOUBLE."""
    return t if isinstance(t, Integer | Decimal) else DOUBLE if isinstance(t, Float) else numeric(t)


def infer_mul(types: Types) -> Signature:
    count(types, 2)
    match types:
        case (Interval(unit) as a, b):
            return Signature((a, _interval_factor(b)), Interval(unit))
        case (b, Interval(unit) as a):
            return Signature((_interval_factor(b), a), Interval(unit))
        case _:
            return _numbers(types, decimal_product)


def infer_div(types: Types) -> Signature:
    count(types, 2)
    a, b = types
    if isinstance(a, Interval):
        return Signature((a, _interval_factor(b)), Interval(a.unit))
    if isinstance(a, Decimal | Integer | Null) and isinstance(b, Decimal | Integer | Null):
        if isinstance(a, Decimal) or isinstance(b, Decimal):
            return _numbers(types, decimal_quotient)
    numeric(a, 0), numeric(b, 1)
    return Signature((DOUBLE, DOUBLE), DOUBLE)


def infer_idiv(types: Types) -> Signature:
    count(types, 2)
    if isinstance(types[0], Interval) and isinstance(types[1], Interval):
        t = _joint(types[0], types[1])
        return Signature((t, t), BIGINT)
    args = tuple(BIGINT if isinstance(t, Integer | Null | String) else t for t in types)
    if any(isinstance(t, Decimal) for t in args) and not any(isinstance(t, String | Float) for t in types):
        return Signature(_numbers(types, decimal_quotient).args, BIGINT)
    if args != (BIGINT, BIGINT):
        raise TypeMismatch(f"DIV needs integers or decimals, not {types[0]} and {types[1]}")
    return Signature(args, BIGINT)


def infer_mod(types: Types) -> Signature:
    count(types, 2)
    return _numbers(types, decimal_remainder)


def infer_neg(types: Types) -> Signature:
    count(types, 1)
    t = number_or_interval(types[0])
    return Signature((t,), t)
