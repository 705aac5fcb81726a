"""Types and values on the way to Spark and back.

Decimals are Spark's own decimals here; only the live engine scales integers. A sum of integers is kept in DECIMAL(38,0),
which passes the range of BIGINT on the way to a value within it (law L11 of programs: accumulators have no bounds). The
type of a bare NULL has no column of its own in Parquet: it is stored as a STRING that is always NULL. Day-time intervals have
none either: as Spark itself does, they are stored as numbers of microseconds, and published so. A TIME is one that Spark has
from 4.1 on; before, it is refused.

>>> find_sum_type(BIGINT)
DecimalType(38,0)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

import pyarrow
import pyspark
from pyspark.sql import types as spark

from evercurrent.data import arrow_types
from evercurrent.data.types import (
    BIGINT,
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
    Member,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import take_in
from evercurrent.errors import UnsupportedError


def spark_type(t: Type) -> spark.DataType:
    match t:
        case Null() | String():
            return spark.StringType()
        case Boolean():
            return spark.BooleanType()
        case Integer(bits):
            return {8: spark.ByteType, 16: spark.ShortType, 32: spark.IntegerType, 64: spark.LongType}[bits]()
        case Float(bits):
            return spark.FloatType() if bits == 32 else spark.DoubleType()
        case Decimal(precision, scale):
            return spark.DecimalType(precision, scale)
        case Binary():
            return spark.BinaryType()
        case Date():
            return spark.DateType()
        case Time(precision):
            return time_type(precision)
        case Timestamp(zone):
            return spark.TimestampType() if zone else spark.TimestampNTZType()
        case Interval("months"):
            return spark.YearMonthIntervalType()
        case Interval():
            return spark.DayTimeIntervalType()
        case Array(element) | Collection(_, element):
            return spark.ArrayType(spark_type(element))
        case Reference():
            return spark.LongType()
        case Map(key, value):
            return spark.MapType(spark_type(key), spark_type(value))
        case Struct(members):
            return spark.StructType([spark.StructField(m.name, spark_type(m.type)) for m in members])
        case _:
            assert_never(t)


def time_type(precision: int) -> spark.DataType:
    """Spark's TIME, which came with 4.1."""
    kind = getattr(spark, "TimeType", None)
    if kind is None:
        raise UnsupportedError(
            f"Spark {pyspark.__version__} has no type TIME, which came with Spark 4.1",
            hint="use a newer PySpark, or keep the time as a STRING or as a number of seconds",
        )
    made: spark.DataType = kind(precision)
    return made


def is_time(t: spark.DataType) -> bool:
    return type(t).__name__ == "TimeType"


def require_stored(t: Type) -> None:
    """Refuse what has no place in Parquet files that Spark and others read alike."""
    match t:
        case Time(precision):
            time_type(precision)
        case Interval("months"):
            raise UnsupportedError(
                f"a column of type {t} cannot be kept on Spark yet", hint="keep it as a number"
            )
        case Array(element) | Collection(_, element):
            require_stored(element)
        case Map(key, value):
            require_stored(key)
            require_stored(value)
        case Struct(members):
            for m in members:
                require_stored(m.type)
        case _:
            return


def find_sum_type(t: Type) -> spark.DataType:
    """The type in which a sum is kept."""
    return spark.DecimalType(38, 0) if isinstance(t, Integer) else spark_type(t)


def arrow_type(t: spark.DataType) -> pyarrow.DataType:
    """The Arrow type that Spark's own Arrow output has, so that files of drivers and executors are alike."""
    match t:
        case spark.DayTimeIntervalType():
            return arrow_types.arrow_type(Interval("micros"), in_files=True)
        case spark.ArrayType():
            return pyarrow.list_(arrow_type(t.elementType))
        case spark.MapType():
            return pyarrow.map_(arrow_type(t.keyType), arrow_type(t.valueType))
        case spark.StructType():
            return pyarrow.struct(list(arrow_schema(t)))
        case spark.YearMonthIntervalType():
            return pyarrow.int32()  # as Spark writes it to Parquet files
        case spark.NullType():
            return pyarrow.string()
        case _:
            return arrow_types.arrow_type(type_of(t))


def arrow_schema(schema: spark.StructType) -> pyarrow.Schema:
    return pyarrow.schema([pyarrow.field(f.name, arrow_type(f.dataType)) for f in schema.fields])


def type_of(t: spark.DataType) -> Type:
    """Our type for one of Spark's; for schemas of tables that others write."""
    match t:
        case spark.NullType():
            return Null()
        case spark.BooleanType():
            return Boolean()
        case spark.ByteType():
            return Integer(8)
        case spark.ShortType():
            return Integer(16)
        case spark.IntegerType():
            return Integer(32)
        case spark.LongType():
            return Integer(64)
        case spark.FloatType():
            return Float(32)
        case spark.DoubleType():
            return Float(64)
        case spark.DecimalType():
            return Decimal(t.precision, t.scale)
        case spark.StringType():
            return String()
        case spark.BinaryType():
            return Binary()
        case spark.DateType():
            return Date()
        case spark.TimestampType():
            return Timestamp(True)
        case spark.TimestampNTZType():
            return Timestamp(False)
        case _ if is_time(t):
            precision: int = t.precision  # type: ignore[attr-defined]
            if precision > 6:
                raise UnsupportedError(
                    f"columns of Spark's type {t.simpleString()} cannot be read: a time of day is kept in microseconds",
                    hint="cast it to TIME(6)",
                )
            return Time(precision)
        case spark.ArrayType():
            return Array(type_of(t.elementType))
        case spark.MapType():
            return Map(type_of(t.keyType), type_of(t.valueType))
        case spark.StructType():
            return Struct(tuple(Member(f.name, type_of(f.dataType), f.nullable) for f in t.fields))
        case _:
            raise UnsupportedError(f"columns of Spark's type {t.simpleString()} cannot be read yet")


# --- rows --------------------------------------------------------------------------------------------------


def plain(t: Type, value: Any) -> Any:
    """An internal value as Arrow's constructors take it for files."""
    return arrow_types.arrow_value(t, value, in_files=True)


def internal(t: Type, value: Any) -> Any:
    """A value as Arrow returns it (`to_pylist`), in internal representation."""
    if value is None or isinstance(t, Null):
        return None
    match t:
        case Array(element) | Collection(_, element):
            return tuple(internal(element, v) for v in value)
        case Map(key, element):
            entries = value.items() if isinstance(value, dict) else value
            return take_in(t, {}) if not entries else _map(key, element, entries)
        case Struct(members):
            return tuple(internal(m.type, value[m.name]) for m in members)
        case _:
            return take_in(t, value)


def _map(key: Type, element: Type, entries: Iterable[Any]) -> Any:
    from evercurrent.data.representation import FrozenMap

    return FrozenMap((internal(key, k), internal(element, v)) for k, v in entries)


WEIGHT_TYPE = spark_type(BIGINT)
