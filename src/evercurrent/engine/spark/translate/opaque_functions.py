"""Opaque functions on Spark: a Python function over columns, in Arrow batches.

The function is called in the workers, once for each row, with the values that the driver would call it with.

>>> from evercurrent.data.types import BIGINT, Member, Struct
>>> inside(Struct((Member("x", BIGINT),)), (1,))["x"]      # a struct of Spark, as the function sees it
1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from evercurrent.data.types import Array, Binary, Map, Struct, Type
from evercurrent.data.values import Record, give_out, take_in
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.term.nodes import Apply
from evercurrent.term.opaque import caller


def apply_function(t: Apply, args: Sequence[SparkColumn]) -> SparkColumn:
    """The column of an opaque function's values; what it raises fails the job."""
    call, types, result = caller(t), tuple(a.type for a in t.args), t.type

    # Without annotations, which Spark would read as those of a function over whole batches.
    run = lambda *values: outside(  # noqa: E731
        result, call(*(take_in(k, inside(k, v)) for k, v in zip(types, values, strict=True)))
    )
    return F.udf(run, returnType=spark_type(result), useArrow=True)(*args)


def inside(t: Type, value: Any) -> Any:
    """A value of Spark as a user would write it: rows as mappings."""
    if value is None:
        return None
    match t:
        case Struct(members):
            return Record(
                tuple(m.name for m in members),
                tuple(inside(m.type, v) for m, v in zip(members, _values(value), strict=True)),
            )
        case Array(element):
            return [inside(element, v) for v in value]
        case Map(key, element):
            pairs = value.items() if hasattr(value, "items") else value
            return {inside(key, k): inside(element, v) for k, v in pairs}
        case Binary():
            return bytes(value)
        case _:
            return value


def _values(value: Any) -> Sequence[Any]:
    return tuple(value.values()) if isinstance(value, dict) else tuple(value)


def outside(t: Type, value: Any) -> Any:
    """An inside value as Spark takes it: structs as tuples."""
    return _spark(t, give_out(t, value))


def _spark(t: Type, value: Any) -> Any:
    if value is None:
        return None
    match t:
        case Struct(members):
            return tuple(_spark(m.type, v) for m, v in zip(members, value.values(), strict=True))
        case Array(element):
            return [_spark(element, v) for v in value]
        case Map(key, element):
            return {_spark(key, k): _spark(element, v) for k, v in value.items()}
        case _:
            return value
