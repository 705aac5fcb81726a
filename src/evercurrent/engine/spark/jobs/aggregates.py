"""Aggregates that are read of a bag of argument values.

A bag holds each combination of values once, with its multiplicity. Where Spark has an aggregate function that returns
the same answer over such rows, it is used; every other aggregate is read by `term.aggregates`, in Python workers, one
group at a time. Sums of floats are exact either way (`data.exact`): they must not depend on the order of rows.

    bag {3: 2, 5: 1}        min 3, max 5, count(DISTINCT) 2
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from evercurrent.data import exact
from evercurrent.data.types import Array, Decimal, Float, Integer, Interval, Timestamp, Type
from evercurrent.data.values import give_out
from evercurrent.delta.program import Accumulator
from evercurrent.engine.spark.storage.file_schema import Shape, W, consolidate, same
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Contents
from evercurrent.engine.spark.translate.intervals import convert_months, type_in_numbers
from evercurrent.engine.spark.translate.literals import literal
from evercurrent.engine.spark.translate.types import internal, plain, spark_type
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.nodes import Aggregate

COUNTS = ("count", "approx_count_distinct", "count_if", "regr_count")
EPOCH = datetime.datetime(1970, 1, 1)


def read_bags(
    entries: DataFrame, shape: Shape, contents: Mapping[StoreName, Contents], wanted: Sequence[int]
) -> DataFrame:
    """Entries with the values of their aggregates as `b0, b1, ...`."""
    for i in wanted:
        bag = contents[shape.bag_store(i)].raw()
        accumulator = shape.state.accumulators[i]
        if bag is None:
            missing = F.lit(None).cast(spark_type(accumulator.type))
            entries = entries.withColumn(f"b{i}", value_or(missing, accumulator))
            continue
        rows = consolidate(bag, shape.bag_schema(i))
        values = rows.groupBy(*(F.col(k).alias(f"g_{k}") for k in shape.columns)).agg(
            reading(accumulator, shape.bag_types(i), F.col(W)).alias("value")
        )
        kept = entries.columns
        entries = join_values(entries, values, shape.columns).select(
            *kept, value_or(F.col("value"), accumulator).alias(f"b{i}")
        )
    return entries


def join_values(entries: DataFrame, values: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Entries with what was read for their keys (`g_` and the key's name), NULL where nothing was."""
    on = same([F.col(k) for k in keys], [F.col(f"g_{k}") for k in keys])
    return entries.join(values, on, "left")


def value_or(c: Column, a: Accumulator) -> Column:
    """The value, or what is read of an empty bag."""
    if a.aggregate is None:
        return F.coalesce(c, F.lit(0.0))
    if a.aggregate.function in COUNTS:
        return F.coalesce(c, F.lit(0).cast(spark_type(a.type)))
    if a.aggregate.function in ("collect_list", "collect_set"):
        return F.coalesce(c, F.array().cast(spark_type(a.type)))
    if a.aggregate.function == "monoid":  # of no rows it is what its zero is finished to
        nothing = literal(evaluate_aggregate(a.aggregate, []), a.type)
        return F.coalesce(c, nothing.cast(spark_type(a.type)))
    return c


def reading(accumulator: Accumulator, types: Sequence[Type], weight: Column) -> Column:
    """The aggregate expression over the rows of a bag, each counted as often as `weight` says."""
    there = weight > 0
    if accumulator.aggregate is None:
        return exact_sum(F.col("a0"), weight)
    a = accumulator.aggregate
    first = F.when(there, F.col("a0")) if types else F.lit(None)
    if a.function == "single":
        several = F.raise_error(F.lit("a scalar subquery has more than one row")).cast(spark_type(a.type))
        return F.when(F.sum(F.when(there, weight)) > 1, several).otherwise(F.first(first, ignorenulls=True))
    result = None if a.order else native(a, types, first, there)
    if result is None:
        return by_python(a, types, weight)
    return result.cast(spark_type(accumulator.type))


def native(a: Aggregate, types: Sequence[Type], first: Column, there: Column) -> Column | None:
    match a.function:
        case "min":
            return F.min(first)
        case "max":
            return F.max(first)
        case "count" if a.distinct and types:
            return F.count_if(is_counted(types, there))
        case "approx_count_distinct":
            return F.count_if(is_counted(types, there))
        case "sum" if a.distinct and isinstance(types[0], Integer | Decimal):
            return F.sum(first)
        case "collect_set":
            return F.array_sort(F.collect_list(first))
        case _:
            return None


def is_counted(types: Sequence[Type], there: Column) -> Column:
    for j in range(len(types)):
        there = there & F.col(f"a{j}").isNotNull()
    return there


# --- in Python workers -------------------------------------------------------------------------------------


def exact_sum(value: Column, weight: Column) -> Column:
    def total(rows: list[Any]) -> float:
        result: exact.Total = 0
        for x, w in rows:
            result = exact.add(result, x, w)
        return exact.value(result)

    function = F.udf(total, spark.DoubleType())
    return function(F.collect_list(F.when(weight != 0, F.struct(value.cast("double"), weight))))


def by_python(a: Aggregate, types: Sequence[Type], weight: Column) -> Column:
    n = len(a.args)
    listed = tuple(types)
    decode = [decoder(t) for t in listed]

    def value(rows: list[Any]) -> Any:
        entries = []
        for row in rows:
            values = tuple(f(x) for f, x in zip(decode, row[:-1], strict=True))
            entries.append((values[:n], values[n:], row[-1]))
        return encode(a.type, evaluate_aggregate(a, entries))

    function = F.udf(value, wire_type(a.type))
    values = [wire(F.col(f"a{j}"), t) for j, t in enumerate(listed)]
    rows = F.collect_list(F.when(weight > 0, F.struct(*values, weight)))
    return unwire(function(rows), a.type)


def wire(c: Column, t: Type) -> Column:
    """Instants travel as microseconds: Python workers would read them in a zone of their own. Months travel as numbers."""
    match t:
        case Timestamp(True):
            return F.unix_micros(c)
        case Array(Timestamp(True)):
            return F.transform(c, F.unix_micros)
        case _:
            return convert_months(c, spark_type(t), True)


def unwire(c: Column, t: Type) -> Column:
    match t:
        case Timestamp(True):
            return F.timestamp_micros(c)
        case Array(Timestamp(True)):
            return F.transform(c, F.timestamp_micros)
        case _:
            return convert_months(c, spark_type(t), False)


def wire_type(t: Type) -> spark.DataType:
    match t:
        case Timestamp(True):
            return spark.LongType()
        case Array(Timestamp(True)):
            return spark.ArrayType(spark.LongType())
        case _:
            return type_in_numbers(spark_type(t))


def decoder(t: Type) -> Callable[[Any], Any]:
    if t == Timestamp(True):
        return lambda x: None if x is None else EPOCH + datetime.timedelta(microseconds=x)
    return lambda x: internal(t, x)


def encode(t: Type, value: Any) -> Any:
    match t:
        case _ if value is None:
            return None
        case Timestamp(True):
            return (value - EPOCH) // datetime.timedelta(microseconds=1)
        case Array(Timestamp(True)):
            return [encode(t.element, x) for x in value]
        case Float():
            return float(value)
        case Interval():
            return give_out(t, value)
        case _:
            return plain(t, value)
