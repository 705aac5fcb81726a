"""Intervals as numbers of microseconds or of months, and back: sums of intervals are kept as numbers.

    INTERVAL '1 02:00:00.5' DAY TO SECOND        93600500000
    INTERVAL '1-2' YEAR TO MONTH                 14

Law. `interval_of(t, units_of(t, x)) = x`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from evercurrent.data.types import Interval

DAY = 86_400_000_000


def units_of(t: Interval, c: Column) -> Column:
    """The number that an interval is, as a decimal."""
    return months(c) if t.unit == "months" else micros(c)


def interval_of(t: Interval, c: Column) -> Column:
    """Returns the interval of a number."""
    return F.make_ym_interval(F.lit(0), c.cast("int")) if t.unit == "months" else interval(c)


def months(c: Column) -> Column:
    """The months of an interval, as a decimal."""
    years = F.extract(F.lit("YEAR"), c).cast("decimal(20,0)") * F.lit(12).cast("decimal(2,0)")
    return (years + F.extract(F.lit("MONTH"), c).cast("decimal(20,0)")).cast("decimal(20,0)")


def micros(c: Column) -> Column:
    """The microseconds of an interval, as a decimal."""

    def part(name: str, times: int) -> Column:
        return F.extract(F.lit(name), c).cast("decimal(20,6)") * F.lit(times).cast("decimal(12,0)")

    parts = (
        part("DAY", DAY) + part("HOUR", DAY // 24) + part("MINUTE", 60_000_000) + part("SECOND", 1_000_000)
    )
    return parts.cast("decimal(20,0)")


def interval(c: Column) -> Column:
    """Returns the interval of a number of microseconds."""
    whole = c.cast("bigint")
    days = F.floor(whole / F.lit(DAY).cast("decimal(20,0)")).cast("int")
    rest = (whole - days.cast("bigint") * F.lit(DAY)).cast("decimal(18,0)")
    seconds = (rest * F.lit("0.000001").cast("decimal(7,6)")).cast("decimal(18,6)")
    return F.make_dt_interval(days, F.lit(0), F.lit(0), seconds)


# --- through Arrow, for which Spark has no intervals of months -------------------------------------------------


def number_months(frame: DataFrame) -> DataFrame:
    """A frame in which intervals of months are numbers, as files have them."""
    fields = frame.schema.fields
    if not any(has_months(f.dataType) for f in fields):
        return frame
    return frame.select(*(convert_months(F.col(f.name), f.dataType, True).alias(f.name) for f in fields))


def restore_months(frame: DataFrame, schema: spark.StructType) -> DataFrame:
    """The inverse: a frame of `schema_in_numbers(schema)` with the types of `schema`."""
    if not any(has_months(f.dataType) for f in schema.fields):
        return frame
    return frame.select(
        *(convert_months(F.col(f.name), f.dataType, False).alias(f.name) for f in schema.fields)
    )


def schema_in_numbers(schema: spark.StructType) -> spark.StructType:
    """The types that a frame has after `number_months`."""
    return spark.StructType([spark.StructField(f.name, type_in_numbers(f.dataType)) for f in schema.fields])


def type_in_numbers(t: spark.DataType) -> spark.DataType:
    match t:
        case _ if not has_months(t):
            return t
        case spark.YearMonthIntervalType():
            return spark.IntegerType()
        case spark.ArrayType():
            return spark.ArrayType(type_in_numbers(t.elementType))
        case spark.MapType():
            return spark.MapType(type_in_numbers(t.keyType), type_in_numbers(t.valueType))
        case spark.StructType():
            return schema_in_numbers(t)
        case _:
            return t


def has_months(t: spark.DataType) -> bool:
    return "interval year" in t.simpleString() or "interval month" in t.simpleString()


def convert_months(c: Column, t: spark.DataType, numbers: bool) -> Column:
    """Intervals of months in a value as numbers, or numbers as intervals; `t` is the type with intervals."""
    if not has_months(t):
        return c
    match t:
        case spark.ArrayType():
            return F.transform(c, lambda x: convert_months(x, t.elementType, numbers))
        case spark.MapType():
            keys = F.transform_keys(c, lambda k, _: convert_months(k, t.keyType, numbers))
            return F.transform_values(keys, lambda _, v: convert_months(v, t.valueType, numbers))
        case spark.StructType():
            parts = (convert_months(c.getField(f.name), f.dataType, numbers).alias(f.name) for f in t.fields)
            return F.when(c.isNotNull(), F.struct(*parts))
        case _:
            return months(c).cast("int") if numbers else F.make_ym_interval(F.lit(0), c)
