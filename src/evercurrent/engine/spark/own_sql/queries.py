"""Queries answered by Spark's own SQL over stored tables: what views are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame

from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_frame
from evercurrent.engine.spark.translate.types import internal, spark_type

REFUSALS = (AnalysisException, ParseException)
"""What Spark raises where it does not know a construct."""

Tables = Mapping[str, tuple[Store, tuple[Member, ...]]]


def register(engine: Engine, tables: Tables, views: Sequence[tuple[str, str, tuple[str, ...]]]) -> None:
    """Let Spark's SQL know tables, and views by (name, query, columns), in the private session."""
    for name, (store, fields) in tables.items():
        frame = engine.frame(store, [f.type for f in fields])
        user_frame(engine.session, frame, fields).createOrReplaceTempView(quoted(name))
    for name, query, columns in views:
        engine.session.sql(query).toDF(*columns).createOrReplaceTempView(quoted(name))


def query_frame(engine: Engine, text: str) -> DataFrame:
    return engine.session.sql(text)


def query_rows(engine: Engine, text: str, fields: Sequence[Member]) -> list[Row]:
    """The rows of a query over what is registered."""
    names = [f"c{i}" for i in range(len(fields))]
    made = query_frame(engine, text).toDF(*names)
    cast = made.select(
        *(made[n].cast(spark_type(f.type)).alias(n) for n, f in zip(names, fields, strict=True))
    )
    table: Any = cast.toArrow()
    return [
        tuple(internal(f.type, row[n]) for n, f in zip(names, fields, strict=True))
        for row in table.to_pylist()
    ]


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
