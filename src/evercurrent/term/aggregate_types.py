"""Types of aggregates: what their arguments are cast to, and what they return, as in Spark.

>>> from evercurrent.data.types import INT
>>> print(sum_type(INT), sum_type(Decimal(12, 2)), average_type(Decimal(12, 2)))
BIGINT DECIMAL(22,2) DECIMAL(16,6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    Array,
    Date,
    Decimal,
    Integer,
    Interval,
    Map,
    Null,
    String,
    Timestamp,
    Type,
    is_numeric,
)
from evercurrent.term.functions.coerce import implicit
from evercurrent.term.functions.function import Signature, TypeMismatch, Types

Options = tuple[Any, ...]


def arity(types: Types, least: int, most: int | None = None) -> None:
    if not least <= len(types) <= (least if most is None else most):
        raise TypeMismatch(f"{least} argument{'s' * (least != 1)} expected, {len(types)} given")


def as_number(t: Type) -> Type:
    if isinstance(t, Null | String):
        return DOUBLE
    if not is_numeric(t):
        raise TypeMismatch(f"a number is needed, not {t}")
    return t


def sum_type(t: Type) -> Type:
    """sum of INT is BIGINT, of DECIMAL(p,s) DECIMAL(p+10,s), of FLOAT DOUBLE."""
    match t:
        case Integer():
            return BIGINT
        case Decimal(p, s):
            return Decimal(min(38, p + 10), s)
        case Interval():
            return t
        case _:
            return DOUBLE


def average_type(t: Type) -> Type:
    """avg of DECIMAL(p,s) is DECIMAL(p+4,s+4), within 38 digits; of other numbers DOUBLE."""
    match t:
        case Decimal(p, s):
            return Decimal(min(38, p + 4), min(38, s + 4))
        case Interval(unit):
            return Interval(unit)
        case _:
            return DOUBLE


def infer_sum(types: Types, options: Options) -> Signature:
    arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else as_number(types[0])
    return Signature((t,), sum_type(t))


def infer_avg(types: Types, options: Options) -> Signature:
    arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else as_number(types[0])
    return Signature((t,), average_type(t))


def infer_count(types: Types, options: Options) -> Signature:
    return Signature(types, BIGINT)


def infer_ordered(types: Types, options: Options) -> Signature:
    arity(types, 1)
    if isinstance(types[0], Map):
        raise TypeMismatch(f"values of type {types[0]} have no order")
    return Signature(types, types[0])


def infer_same(types: Types, options: Options) -> Signature:
    arity(types, 1)
    return Signature(types, types[0])


def infer_by(types: Types, options: Options) -> Signature:
    arity(types, 2)
    return Signature(types, types[0])


def infer_boolean(result: Type) -> Callable[[Types, Options], Signature]:
    def infer(types: Types, options: Options) -> Signature:
        arity(types, 1)
        if not isinstance(types[0], type(BOOLEAN) | Null | String):
            raise TypeMismatch(f"a condition is needed, not {types[0]}")
        return Signature((BOOLEAN,), result)

    return infer


def infer_doubles(count: int, result: Type = DOUBLE) -> Callable[[Types, Options], Signature]:
    def infer(types: Types, options: Options) -> Signature:
        arity(types, count)
        for t in types:
            as_number(t)
        return Signature((DOUBLE,) * count, result)

    return infer


def infer_pair_avg(position: int) -> Callable[[Types, Options], Signature]:
    def infer(types: Types, options: Options) -> Signature:
        arity(types, 2)
        numbers = tuple(map(as_number, types))
        return Signature(numbers, average_type(numbers[position]))

    return infer


def infer_percentile(types: Types, options: Options) -> Signature:
    arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else as_number(types[0])
    result: Type = Interval(t.unit) if isinstance(t, Interval) else DOUBLE
    for p in fractions(options):
        if not 0 <= p <= 1:
            raise TypeMismatch(f"the percentage must be a constant between 0 and 1, not {p!r}")
    return Signature((t,), Array(result) if options and isinstance(options[0], tuple) else result)


def infer_percentile_approx(types: Types, options: Options) -> Signature:
    arity(types, 1)
    t = types[0] if isinstance(types[0], Interval | Date | Timestamp) else as_number(types[0])
    infer_percentile((DOUBLE,), options)  # the percentages
    return Signature((t,), Array(t) if options and isinstance(options[0], tuple) else t)


def fractions(options: Options) -> tuple[float, ...]:
    if not options:
        return (0.5,)
    return options[0] if isinstance(options[0], tuple) else (options[0],)


def infer_collect(types: Types, options: Options) -> Signature:
    arity(types, 1)
    return Signature(types, Array(types[0]))


def infer_collect_set(types: Types, options: Options) -> Signature:
    arity(types, 1)
    if "MAP<" in str(types[0]):
        raise TypeMismatch(f"values of type {types[0]} cannot be compared")
    return Signature(types, Array(types[0]))


def infer_listagg(types: Types, options: Options) -> Signature:
    arity(types, 1)
    if types[0] == BINARY:
        return Signature(types, BINARY)
    if not implicit(types[0], STRING):
        raise TypeMismatch(f"text is needed, not {types[0]}")
    return Signature((STRING,), STRING)


def infer_bits(types: Types, options: Options) -> Signature:
    arity(types, 1)
    if not isinstance(types[0], Integer):
        raise TypeMismatch(f"an integer is needed, not {types[0]}")
    return Signature(types, types[0])


def infer_monoid(types: Types, options: Options) -> Signature:
    raise TypeMismatch("a monoid is made of Python functions: g.aggregate(ec.monoid(...), ...)")
