"""Constants as columns. Values reach Spark as values, never as text to be parsed.

    literal(1250, Decimal(12, 2))        CAST('12.50' AS DECIMAL(12,2))

A decimal is an integer in internal representation, scaled by its type.
"""

from __future__ import annotations

from typing import Any, assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F

from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Collection,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import give_out
from evercurrent.engine.spark.translate.types import spark_type

DAY = 86_400_000_000


def literal(value: Any, t: Type) -> Column:
    """The column of a constant in internal representation."""
    if value is None:
        return F.lit(None).cast(spark_type(t))
    match t:
        case Boolean() | String():
            return F.lit(value)
        case Integer() | Reference():
            return F.lit(value).cast(spark_type(t))
        case Float():
            return F.lit(float(value)).cast(spark_type(t))
        case Decimal():
            return F.lit(str(give_out(t, value))).cast(spark_type(t))
        case Binary():
            return F.lit(bytearray(value))
        case Date():
            return F.lit(value.isoformat()).cast(spark_type(t))
        case Time():
            return F.lit(value.isoformat()).cast(spark_type(t))
        case Timestamp(zone):
            return F.lit(value.isoformat(sep=" ") + ("+00:00" if zone else "")).cast(spark_type(t))
        case Interval("months"):
            return F.make_ym_interval(F.lit(0), F.lit(value))
        case Interval():
            days, micros = divmod(value, DAY)
            seconds = F.lit(f"{micros // 1_000_000}.{micros % 1_000_000:06}").cast("decimal(18,6)")
            return F.make_dt_interval(F.lit(days), F.lit(0), F.lit(0), seconds)
        case Array(element) | Collection(_, element):
            return F.array(*(literal(v, element) for v in value)).cast(spark_type(t))
        case Map(key, element):
            entries = [c for k, v in value.items() for c in (literal(k, key), literal(v, element))]
            return F.create_map(*entries).cast(spark_type(t))
        case Struct(members):
            parts = [literal(v, m.type).alias(m.name) for m, v in zip(members, value, strict=True)]
            return F.struct(*parts).cast(spark_type(t))
        case Null():
            return F.lit(None).cast(spark_type(t))
        case _:
            assert_never(t)
