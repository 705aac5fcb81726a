"""Types that Delta tables do not have, in the types that stand for them there.

A TIME is published as its microseconds since midnight, a BIGINT: Delta and its readers have no time of day.

>>> from evercurrent.data.types import Array, Member, Time
>>> schema = find_published_schema([Member("at", Time()), Member("all", Array(Time()))])
>>> schema.field("at").type, schema.field("all").type.value_type
(DataType(int64), DataType(int64))
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evercurrent.data.types import Array, Collection, Map, Member, Struct, Time, Type
from evercurrent.engine.spark.translate.types import arrow_type, spark_type


def find_stored_schema(fields: Sequence[Member]) -> pyarrow.Schema:
    """The columns as our own files have them."""
    return pyarrow.schema([pyarrow.field(f.name, arrow_type(spark_type(f.type))) for f in fields])


def find_published_schema(fields: Sequence[Member]) -> pyarrow.Schema:
    """The columns as the Delta table has them."""
    return pyarrow.schema(
        [pyarrow.field(f.name, find_published_type(arrow_type(spark_type(f.type)))) for f in fields]
    )


def find_published_type(t: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_time64(t):
        return pyarrow.int64()
    if pyarrow.types.is_list(t):
        return pyarrow.list_(find_published_field(t.value_field))
    if pyarrow.types.is_map(t):
        return pyarrow.map_(find_published_type(t.key_type), find_published_type(t.item_type))
    if pyarrow.types.is_struct(t):
        return pyarrow.struct([find_published_field(f) for f in t])
    return t


def find_published_field(f: pyarrow.Field) -> pyarrow.Field:
    return f.with_type(find_published_type(f.type))


def convert_frame(frame: DataFrame, fields: Sequence[Member]) -> DataFrame:
    """The rows of a view as the Delta table has them."""
    if not any(holds_time(f.type) for f in fields):
        return frame
    return frame.select(*(convert_column(frame[f"`{f.name}`"], f.type).alias(f.name) for f in fields))


def holds_time(t: Type) -> bool:
    match t:
        case Time():
            return True
        case Array(element) | Collection(_, element):
            return holds_time(element)
        case Map(key, value):
            return holds_time(key) or holds_time(value)
        case Struct(members):
            return any(holds_time(m.type) for m in members)
        case _:
            return False


def convert_column(c: Column, t: Type) -> Column:
    if not holds_time(t):
        return c
    match t:
        case Time():
            return (c.cast("decimal(14,6)") * F.lit(1_000_000)).cast("bigint")
        case Array(element) | Collection(_, element):
            return F.transform(c, lambda x: convert_column(x, element))
        case Map(key, value):
            pairs = F.transform(
                F.map_entries(c),
                lambda e: F.struct(
                    convert_column(e.getField("key"), key), convert_column(e.getField("value"), value)
                ),
            )
            return F.map_from_entries(pairs)
        case Struct(members):
            parts = [convert_column(c.getField(m.name), m.type).alias(m.name) for m in members]
            return F.when(c.isNotNull(), F.struct(*parts))
        case _:
            raise AssertionError(t)
