"""One zero: columns in which -0.0 is 0.0, as everywhere inside the engines (`data.representation.canonical_float`).

Spark itself keeps the sign of a zero in rows and drops it in keys of groups, joins and partitions. A state is a sum of
weighted rows, added up by all of their columns: so no sign can be kept, and what is shown must not depend on the path.

    one_zero(F.lit(-0.0), DOUBLE)        0.0: Java adds -0.0 + 0.0 = 0.0
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from evercurrent.data.types import Array, Collection, Float, Map, Struct, Type, contains_float
from evercurrent.engine.spark.translate.types import spark_type

SIGNLESS = frozenset(
    [
        "add",
        "sub",
        "abs",
        "ring_add",
        "ring_sub",
        "coalesce",
        "greatest",
        "least",
        "positive",
        "nanvl",
        "pi",
        "e",
    ]
)
"""Functions that make no -0.0 of arguments that have none."""


def one_zero(c: Column, t: Type) -> Column:
    """The column of this type with 0.0 for every -0.0, inside of nested values too."""
    match t:
        case Float():
            return c + F.lit(0.0).cast(spark_type(t))
        case _ if not contains_float(t):
            return c
        case Array(element) | Collection(_, element):
            return F.transform(c, lambda x: one_zero(x, element))
        case Map(key, value):
            keyed = F.transform_keys(c, lambda k, _: one_zero(k, key)) if contains_float(key) else c
            return F.transform_values(keyed, lambda _, v: one_zero(v, value))
        case Struct(members):
            parts = [one_zero(c.getField(m.name), m.type).alias(m.name) for m in members]
            return F.when(c.isNotNull(), F.struct(*parts)).cast(spark_type(t))
        case _:
            return c
