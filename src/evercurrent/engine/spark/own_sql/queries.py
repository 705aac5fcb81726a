"""Queries answered by Spark's own SQL over stored tables: what views are compared with.

>>> Comparison(rows=3, missing=1, unexpected=0, some_missing=((7, 1250),))      # the query returns one row more than is stored
Comparison(rows=3, missing=1, unexpected=0, some_missing=((7, 1250),), some_unexpected=())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evercurrent.data.types import Array, Collection, Float, Map, Member, Struct, Type, contains_float
from evercurrent.data.zset import Row
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_frame
from evercurrent.engine.spark.translate.types import internal, spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.frontend.sql.spark_text import quote_name

REFUSALS = (AnalysisException, ParseException)
"""What Spark raises where it does not know a construct."""

Tables = Mapping[str, tuple[Store, tuple[Member, ...]]]


def register(engine: Engine, tables: Tables, views: Sequence[tuple[str, str, tuple[str, ...]]]) -> None:
    """Let Spark's SQL know tables, and views by (name, query, columns), in the private session."""
    for name, (store, fields) in tables.items():
        frame = engine.frame(store, [f.type for f in fields])
        user_frame(engine.session, frame, fields).createOrReplaceTempView(quote_name(name))
    for name, query, columns in views:
        engine.session.sql(query).toDF(*columns).createOrReplaceTempView(quote_name(name))


@dataclass(frozen=True)
class Comparison:
    """Stored rows beside those of a query: how many are stored, lack and are too many, and some of the latter two."""

    rows: int
    missing: int
    unexpected: int
    some_missing: tuple[Row, ...] = ()
    some_unexpected: tuple[Row, ...] = ()


def compare(engine: Engine, text: str, store: Store, fields: Sequence[Member], sample: int) -> Comparison:
    """Compare stored rows with those of a query over what is registered, by the executors. Floats count to twelve digits."""
    types = [f.type for f in fields]
    names = [f"c{i}" for i in range(len(types))]
    made = engine.session.sql(text).toDF(*names)
    wanted = made.select(
        *(
            round_floats(one_zero(made[n].cast(spark_type(t)), t), t).alias(n)
            for n, t in zip(names, types, strict=True)
        ),
        F.lit(1).cast("bigint").alias(W),
        F.lit(0).cast("bigint").alias("stored"),
    )
    stored = engine.frame(store, types)
    if stored is not None:
        columns = (round_floats(stored[n], t).alias(n) for n, t in zip(names, types, strict=True))
        wanted = wanted.unionByName(stored.select(*columns, (-stored[W]).alias(W), stored[W].alias("stored")))
    each = wanted.groupBy(*names).agg(F.sum(W).alias(W), F.sum("stored").alias("stored"))
    zero = F.lit(0).cast("bigint")
    sums = (F.col("stored"), F.greatest(F.col(W), zero), F.greatest(-F.col(W), zero))
    found = each.agg(*(F.coalesce(F.sum(x), zero) for x in sums)).collect()[0]
    rows, missing, unexpected = (int(x) for x in found)

    def some(differing: DataFrame) -> tuple[Row, ...]:
        rows: Any = differing.select(*names).limit(sample).toArrow()
        return tuple(
            tuple(internal(t, r[n]) for n, t in zip(names, types, strict=True)) for r in rows.to_pylist()
        )

    return Comparison(
        rows,
        missing,
        unexpected,
        some(each.where(F.col(W) > 0)) if missing else (),
        some(each.where(F.col(W) < 0)) if unexpected else (),
    )


def round_floats(column: Column, t: Type) -> Column:
    """A column with its floats to twelve digits: Spark's sums of floats depend on the order of rows."""
    if not contains_float(t):
        return column
    match t:
        case Float():
            digits = F.format_string("%.11e", column.cast("double")).cast("double").cast(spark_type(t))
            return F.when(column.isNotNull(), digits)  # the text of NULL is 'null'
        case Array(element) | Collection(_, element):
            return F.transform(column, lambda x: round_floats(x, element))
        case Map(_, value):
            return F.transform_values(column, lambda k, v: round_floats(v, value))
        case Struct(members):
            parts = (round_floats(column.getField(m.name), m.type).alias(m.name) for m in members)
            return F.when(column.isNotNull(), F.struct(*parts))
        case _:
            return column
