"""Checked arithmetic on arrays of 64 bits.

Law. A result that leaves 64 bits, or the range of its type, raises `Unfit`; what is returned is exact. Bounds are taken of
whole arrays: the largest product of two arrays is that of their largest members, in integers without bound.

>>> multiply = arithmetic("mul", (Decimal(4, 2), Decimal(4, 2)), Decimal(9, 4))
>>> multiply(numpy.array([950, 100]), numpy.array([95, 100])).tolist()
[90250, 10000]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from evercurrent.data.types import Decimal, Float, Integer, Interval, Type
from evercurrent.engine.columnar.vectors import Unfit, Values, canonical
from evercurrent.term.functions.exact import POWERS

Operation = Callable[..., Values]
LIMIT = 1 << 63
EXACT = 1 << 53


def largest(a: Values) -> int:
    """The greatest absolute value."""
    return max(int(a.max()), -int(a.min())) if len(a) else 0


def require(bound: int) -> None:
    if bound >= LIMIT:
        raise Unfit("more than 64 bits")


def limit_of(t: Type) -> int | None:
    """The greatest absolute value of a type (of integers: without the one more that is negative); None: no number."""
    match t:
        case Integer(bits):
            return (1 << (bits - 1)) - 1
        case Decimal(precision):
            return int(10**precision - 1)
        case Interval(unit):
            return (1 << (31 if unit == "months" else 63)) - 1
        case _:
            return None


def check_range(t: Type, a: Values) -> Values:
    """The values, if all are in the range of the type. (The least integer is left to rows.)"""
    limit = limit_of(t)
    assert limit is not None
    if limit < LIMIT - 1 and largest(a) > limit:
        raise Unfit("out of range")
    return a


def scale_up(a: Values, factor: int) -> Values:
    if factor == 1:
        return a
    require(largest(a) * factor)
    return a * numpy.int64(factor)


def rescale(a: Values, scale: int, target: int) -> Values:
    """Scaled integers at another scale, rounded half away from zero."""
    if target >= scale:
        return scale_up(a, POWERS[target - scale])
    return divide_half_up(a, numpy.int64(POWERS[scale - target]))


def divide_half_up(a: Values, by: Any) -> Values:
    """a / by to the nearest integer, halves away from zero; `by` is positive."""
    require(largest(a))
    quotient, rest = numpy.divmod(numpy.abs(a), by)
    quotient += rest >= by - rest
    result: Values = numpy.where(a < 0, -quotient, quotient)
    return result


def arithmetic(name: str, types: Sequence[Type], result: Type) -> Operation | None:
    """The operation of this name on arrays of values that are not NULL; None if there is none."""
    floats = all(t == Float(64) for t in (*types, result))
    numbers = all(isinstance(t, Integer | Decimal) for t in (*types, result))
    match name:
        case "ring_add" if numbers:
            return lambda *args: _add(args)
        case "ring_sub" if numbers:
            return lambda a, b: _add((a, -b))
        case "ring_mul" if numbers:
            return lambda *args: _product(args)
        case "ring_check" if numbers:
            return lambda a: check_range(result, a)
        case "average":
            return _average(types[0], result)
        case "add" | "sub" if floats:
            sign = 1.0 if name == "add" else -1.0
            return lambda a, b: canonical(a + sign * b)
        case "mul" if floats:
            return lambda a, b: canonical(a * b)
        case "add" | "sub" | "mul" if numbers:
            return _find_checked_operation(name, types, result)
        case "neg" if numbers:
            return lambda a: check_range(result, _add((-a,)))
        case _:
            return None


def _add(args: Sequence[Values]) -> Values:
    require(sum(map(largest, args)))
    total = args[0]
    for a in args[1:]:
        total = total + a
    return total


def _product(args: Sequence[Values]) -> Values:
    bound, total = largest(args[0]), args[0]
    for a in args[1:]:
        bound *= largest(a)
        require(bound)
        total = total * a
    return total


def _find_checked_operation(name: str, types: Sequence[Type], result: Type) -> Operation | None:
    match tuple(types), result:
        case (Integer(), Integer()), Integer():
            if name == "mul":
                return lambda a, b: check_range(result, _product((a, b)))
            sign = 1 if name == "add" else -1
            return lambda a, b: check_range(result, _add((a, sign * b)))
        case (Decimal(scale=s), Decimal(scale=t)), Decimal(scale=u):
            if name == "mul":
                return lambda a, b: check_range(result, rescale(_product((a, b)), s + t, u))
            m = max(s, t)
            x, y, plus = POWERS[m - s], POWERS[m - t], 1 if name == "add" else -1
            return lambda a, b: check_range(
                result, rescale(_add((scale_up(a, x), plus * scale_up(b, y))), m, u)
            )
        case _:
            return None


def _average(total: Type, result: Type) -> Operation | None:
    match total, result:
        case Decimal(scale=s), Decimal(scale=t):
            factor = POWERS[t - s]
            return lambda a, n: check_range(result, divide_half_up(scale_up(a, factor), numpy.maximum(n, 1)))
        case Integer(), Float(64):

            def divide(a: Values, n: Values) -> Values:
                if largest(a) >= EXACT or largest(n) >= EXACT:
                    raise Unfit("a quotient of large integers")
                return canonical(a / numpy.maximum(n, 1))

            return divide
        case _:
            return None
