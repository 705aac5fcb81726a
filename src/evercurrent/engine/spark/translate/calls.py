"""Functions to columns.

The term language uses Spark's own names where Spark has the function, so most calls are passed on as they are;
operators and the functions that only the compiler writes are listed here.

    upper(a)       F.call_function("upper", a)
    sub(a, b)      a - b
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from evercurrent.data.types import Decimal, Float, Integer, Interval, Map, Time, Timestamp, Type
from evercurrent.engine.spark.translate.intervals import interval_of, units_of
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.engine.spark.translate.zeros import SIGNLESS, one_zero
from evercurrent.errors import UnsupportedError
from evercurrent.term.nodes import Call

Columns = tuple[Column, ...]

OPERATORS: dict[str, Callable[..., Column]] = {
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "idiv": lambda a, b: F.call_function("div", a, b),
    "mod": lambda a, b: a % b,
    "neg": lambda a: -a,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eqns": lambda a, b: a.eqNullSafe(b),
    "and": lambda *cs: reduce(lambda a, b: a & b, cs),
    "or": lambda *cs: reduce(lambda a, b: a | b, cs),
    "not": lambda a: ~a,
    "is_null": lambda a: a.isNull(),
    "is_not_null": lambda a: a.isNotNull(),
    "in_list": lambda a, *vs: a.isin(*vs),
    "subscript": lambda a, i: a[i],
    "bitand": lambda a, b: a.bitwiseAND(b),
    "bitor": lambda a, b: a.bitwiseOR(b),
    "bitxor": lambda a, b: a.bitwiseXOR(b),
    "bitnot": F.bitwise_not,
    "is_nan": F.isnan,
}

HIGHER_ORDER: dict[str, Callable[..., Column]] = {
    "transform": F.transform,
    "filter": F.filter,
    "exists": F.exists,
    "any_match": F.exists,
    "forall": F.forall,
    "aggregate": F.aggregate,
    "zip_with": F.zip_with,
    "map_filter": F.map_filter,
    "map_zip_with": F.map_zip_with,
    "transform_keys": F.transform_keys,
    "transform_values": F.transform_values,
    "array_sort": F.array_sort,
}

RING = {"ring_add", "ring_sub", "ring_mul"}

DIGITS = 38


def native(name: str, args: Columns, call: Call) -> Column:
    """The column of a call whose arguments are values."""
    if name in RING:
        return ring(name, args, call)
    match name:
        case "ring_check" if isinstance(call.type, Interval):
            return interval_of(call.type, args[0])
        case "ring_check":
            return args[0].cast(spark_type(call.type))
        case "average":
            return average(args[0], args[1], call.type)
        case "add":
            result = args[0] + args[1]
        case "eq" | "eqns" if isinstance(call.args[0].type, Map):  # Spark compares no maps
            result = OPERATORS[name](*(F.array_sort(F.map_entries(a)) for a in args))
        case _ if name in OPERATORS:
            result = OPERATORS[name](*args)
        case _ if name == "cast" or (name in HIGHER_ORDER and name != "array_sort"):
            raise UnsupportedError(f"the function {name} is not there on Spark yet", place=call.place)
        case _:
            result = F.call_function(name, *args)
    if isinstance(call.type, Float) and name not in SIGNLESS:
        return one_zero(result.cast(spark_type(call.type)), call.type)
    return result.cast(spark_type(call.type)) if needs_cast(name, call.type) else result


def needs_cast(name: str, t: Type) -> bool:
    """Whether Spark's type of a result may differ from ours: precision of decimals and times, kind of timestamps and intervals."""
    return isinstance(t, Decimal | Time | Timestamp | Integer) and name not in ("and", "or", "not")


def higher_order(name: str, args: Sequence[Any], call: Call) -> Column:
    """The column of a call that takes functions of elements."""
    function = HIGHER_ORDER.get(name)
    if function is None:
        raise UnsupportedError(f"the function {name} is not there on Spark yet", place=call.place)
    return function(*args)


# --- sums --------------------------------------------------------------------------------------------------


def ring(name: str, args: Columns, call: Call) -> Column:
    """Arithmetic of accumulators. Integers are computed as decimals of 38 digits; nothing is ever rounded."""
    types = tuple(a.type for a in call.args)
    if isinstance(call.type, Float):
        wide = [a.cast("double") for a in args]
        operator = OPERATORS[{"ring_add": "plus", "ring_sub": "sub", "ring_mul": "mul"}[name]]
        return one_zero(reduce(operator, wide), call.type)
    if name == "ring_mul":
        return product(args, types)
    scale = call.type.scale if isinstance(call.type, Decimal) else 0
    narrow = [a.cast(f"decimal({DIGITS - 1},{scale})") for a in args]
    result = narrow[0]
    for other in narrow[1:]:
        added = result + other if name == "ring_add" else result - other
        result = added.cast(f"decimal({DIGITS - 1},{scale})")
    return result.cast(f"decimal({DIGITS},{scale})")


OPERATORS["plus"] = lambda a, b: a + b

SMALL_SCALE = 6
"""Spark keeps at least this number of fractional digits of a product that is too wide."""


def product(args: Columns, types: tuple[Type, ...]) -> Column:
    """Factors from left to right, at the sum of their scales. Weights come first, and nearly all of them are 1."""
    if len(args) > 1 and isinstance(types[0], Integer):
        total = sum(t.scale for t in types if isinstance(t, Decimal))
        rest = product(args[1:], types[1:]).cast(f"decimal({DIGITS},{total})")
        return F.when(args[0] == 1, rest).otherwise(factors(args, types))
    return factors(args, types)


def factors(args: Columns, types: tuple[Type, ...]) -> Column:
    result, precision, scale = whole(args[0], types[0])
    for a, t in zip(args[1:], types[1:], strict=True):
        factor, p, s = whole(a, t)
        total = scale + s
        if total > SMALL_SCALE and precision + p + 1 > DIGITS:
            # Spark would drop fractional digits of so wide a product; narrower factors leave room for all of them,
            # and a factor that does not fit is an error.
            room = DIGITS - 1
            p = min(p, max(10, room - precision), room - scale - 1)
            precision = room - p
            result = result.cast(f"decimal({precision},{scale})")
            factor = factor.cast(f"decimal({p},{s})")
        result = (result * factor).cast(f"decimal({DIGITS},{total})")
        precision, scale = DIGITS, total
    return result


def whole(c: Column, t: Type) -> tuple[Column, int, int]:
    """A factor as a decimal, with its precision and scale."""
    if isinstance(t, Decimal):
        return c, t.precision, t.scale
    return (units_of(t, c) if isinstance(t, Interval) else c.cast("decimal(20,0)")), 20, 0


def average(total: Column, n: Column, t: Type) -> Column:
    """As Spark divides: a sum with ten digits more than the argument, by a count of twenty digits."""
    if isinstance(t, Decimal):
        scale = max(t.scale - 4, 0)
        precision = min(DIGITS, t.precision - 4 + 10)
        return (total.cast(f"decimal({precision},{scale})") / n.cast("decimal(20,0)")).cast(spark_type(t))
    return one_zero(total.cast("double") / n.cast("double"), t)
