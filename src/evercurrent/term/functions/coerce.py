"""To which type values of different types are brought: Spark's rules in ANSI mode.

    common_type    CASE, COALESCE, UNION, comparisons, array elements: the least type that holds both sides
    implicit       whether an argument of one type may be used where a function wants another
    decimal rules  precision and scale of the results of + - * / %, never more than 38 digits

A string meets an integer as BIGINT, another number as DOUBLE, and anything else as that. Where a decimal result would
need more than 38 digits its integral digits are kept and its scale is cut, but not below six.

>>> from evercurrent.data.types import DATE, INT, TIMESTAMP, Decimal
>>> print(common_type([INT, Decimal(5, 2)]), common_type([DATE, TIMESTAMP]), decimal_product(Decimal(38, 10), Decimal(38, 10)))
DECIMAL(12,2) TIMESTAMP DECIMAL(38,6)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from evercurrent.data.types import (
    BIGINT,
    DOUBLE,
    TIMESTAMP,
    Array,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Member,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.term.functions.function import TypeMismatch

MAX_PRECISION = 38
MIN_SCALE = 6


# --- decimals ----------------------------------------------------------------------------------------------


def decimal_of(t: Integer) -> Decimal:
    """The decimal type that holds every integer of a type."""
    return Decimal({8: 3, 16: 5, 32: 10, 64: 20}[t.bits], 0)


def decimal_of_literal(value: int) -> Decimal:
    """The least decimal type that holds an integer constant."""
    return Decimal(max(1, len(str(abs(value)))), 0)


def limit_decimal(precision: int, scale: int) -> Decimal:
    """Precision and scale cut to what there is; integral digits go before fractional ones."""
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    least = min(scale, MIN_SCALE)
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), least))


def wider_decimal(a: Decimal, b: Decimal) -> Decimal:
    """The type that holds both; beyond 38 digits it loses fractional ones."""
    scale = max(a.scale, b.scale)
    digits = max(a.precision - a.scale, b.precision - b.scale)
    if digits + scale <= MAX_PRECISION:
        return Decimal(digits + scale, scale)
    return Decimal(MAX_PRECISION, max(0, MAX_PRECISION - digits))


def decimal_sum(a: Decimal, b: Decimal) -> Decimal:
    scale = max(a.scale, b.scale)
    return limit_decimal(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def decimal_product(a: Decimal, b: Decimal) -> Decimal:
    return limit_decimal(a.precision + b.precision + 1, a.scale + b.scale)


def decimal_quotient(a: Decimal, b: Decimal) -> Decimal:
    scale = max(MIN_SCALE, a.scale + b.precision + 1)
    return limit_decimal(a.precision - a.scale + b.scale + scale, scale)


def decimal_remainder(a: Decimal, b: Decimal) -> Decimal:
    scale = max(a.scale, b.scale)
    return limit_decimal(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


# --- the common type ---------------------------------------------------------------------------------------


def common_type(types: Sequence[Type]) -> Type:
    """The least type that holds values of all the given types; `TypeMismatch` if there is none."""
    # Spark widens strings last, so that (1, 'a', 2.0) does not depend on the order.
    ordered = sorted(types, key=lambda t: isinstance(t, String))
    return reduce(common_of_two, ordered)


def common_of_two(a: Type, b: Type) -> Type:
    found = _widen(a, b) or _widen(b, a)
    if found is None:
        raise TypeMismatch(f"{a} and {b} have no common type")
    return found


def _widen(a: Type, b: Type) -> Type | None:
    """The common type, seen from one side; the caller tries both."""
    if a == b:
        return a
    match a, b:
        case Null(), _:
            return b
        case Integer(x), Integer(y):
            return a if x > y else b
        case Integer(), Float():
            return DOUBLE  # even a FLOAT: 24 bits do not hold an INT
        case ((Float() | Decimal()), Float()):
            return DOUBLE
        case Integer(), Decimal():
            return wider_decimal(decimal_of(a), b)
        case Decimal(), Decimal():
            return wider_decimal(a, b)
        case String(), String():
            return String()
        case String(), Integer():
            return BIGINT
        case String(), (Float() | Decimal()):
            return DOUBLE
        case String(), (Array() | Map() | Struct() | Interval() | Null() | Reference()):
            return None
        case String(), _:
            return b
        case Date(), Timestamp():
            return b
        case Time(x), Time(y):
            return a if x > y else b
        case Timestamp(), Timestamp():
            return TIMESTAMP
        case Interval(unit=x), Interval(unit=y) if x == y:
            return Interval(x)
        case Reference(), Reference():
            # Which class does not matter to a comparison; a front end that cares has found it before.
            return a
        case Reference(), Integer():
            return BIGINT
        case Array(x), Array(y):
            return Array(common_of_two(x, y))
        case Map(k, v), Map(l, w):
            return Map(common_of_two(k, l), common_of_two(v, w))
        case Struct(xs), Struct(ys) if len(xs) == len(ys) and all(
            m.name.lower() == n.name.lower() for m, n in zip(xs, ys, strict=True)
        ):
            return Struct(
                tuple(
                    Member(m.name, common_of_two(m.type, n.type), m.nullable or n.nullable)
                    for m, n in zip(xs, ys, strict=True)
                )
            )
        case _:
            return None


# --- implicit casts ----------------------------------------------------------------------------------------


def implicit(source: Type, target: Type) -> bool:
    """Whether a value of `source` may be used where `target` is wanted, without a CAST being written."""
    if source == target:
        return True
    match source, target:
        case Null(), _:
            return True
        case Integer(x), Integer(y):
            return x <= y
        case ((Integer() | Decimal()), (Float() | Decimal())):
            return True
        case Float(x), Float(y):
            return x <= y
        case String(), (Array() | Map() | Struct()):
            return False
        case String(), _:
            return True
        case ((Array() | Map() | Struct()), String()):
            return False
        case _, String():
            return True
        case Date(), Timestamp():
            return True
        case Timestamp(), (Timestamp() | Date()):
            return True
        case Time(), Time():
            return True
        case Interval(unit=x), Interval(unit=y):
            return x == y
        case Reference(), (Reference() | Integer(64)):
            return True
        case Array(x), Array(y):
            return implicit(x, y)
        case Map(k, v), Map(l, w):
            return implicit(k, l) and implicit(v, w)
        case _:
            return False
