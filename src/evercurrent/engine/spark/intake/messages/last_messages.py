"""The last message of each key, and what it changes, for more messages than the driver should hold.

Does with DataFrames what `warehouse.changes.upserts` does with few messages, but does not look up values that an update left out.

    stored    (1, a), (2, b)
    messages  1: c, then 1: d, then delete 2
    changes   delete (1, a), delete (2, b), insert (1, d)
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.types import Member
from evercurrent.engine.spark.intake.messages.decoding import KEPT, OFFSET, OP, PLACE
from evercurrent.engine.spark.intake.messages.envelopes import TRUNCATE, UPSERT
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.spark_text import quote_name


def large_feed(
    table: str, fields: Sequence[Member], key: Sequence[int], messages: DataFrame, stored: DataFrame | None
) -> DataFrame:
    """Returns the changes of whole rows that messages amount to; `stored` are the rows of the table, if it has any."""
    names = [fields[i].name for i in key]
    facts = messages.where((F.col(OP) == TRUNCATE) | F.col(KEPT).isNotNull()).limit(1).collect()
    truncated = False
    if facts:
        require_plain(table, messages)
        place_of = messages.select(PLACE).distinct().limit(4).collect()
        require_one_place(table, {r[0] for r in place_of})
        at = messages.where(F.col(OP) == TRUNCATE).agg(F.max(OFFSET)).collect()[0][0]
        truncated, messages = True, messages.where(F.col(OFFSET) > at)
    by_key = [F.col(quote_name(n)) for n in names]
    packed = F.struct(*(F.col(quote_name(f.name)) for f in fields), F.col(OP))
    last = messages.groupBy(*(c.alias(f"k{i}") for i, c in enumerate(by_key))).agg(
        F.max_by(packed, F.col(OFFSET)).alias("m"), F.min(PLACE).alias("first"), F.max(PLACE).alias("other")
    )
    wrong = F.raise_error(
        F.concat(F.lit(f"messages of one key of {table} are in "), F.col("first"), F.lit(" and in "), "other")
    )
    one_place = F.when(F.col("first") == F.col("other"), F.lit(True)).otherwise(wrong.cast("boolean"))
    new = last.where(one_place & (F.col("m").getField(OP) == UPSERT))
    come = new.select(
        *(F.col("m").getField(f.name).alias(f.name) for f in fields), F.lit("insert").alias(CHANGE_TYPE)
    )
    if stored is None:
        return come
    rows = stored.select(*(F.col(f"c{i}").alias(f.name) for i, f in enumerate(fields)))
    if not truncated:
        keys = last.select(*(f"k{i}" for i in range(len(names))))
        same = [rows[quote_name(n)] == keys[f"k{i}"] for i, n in enumerate(names)]
        rows = rows.join(keys, same, "left_semi")
    return rows.withColumn(CHANGE_TYPE, F.lit("delete")).unionByName(come)


def require_plain(table: str, messages: DataFrame) -> None:
    """Values that an update did not touch are looked up in the driver alone."""
    if messages.where(F.col(KEPT).isNotNull()).limit(1).collect():
        raise QueryError(
            f"a large batch of messages leaves out values of {table} that were not changed",
            hint="read smaller batches (maxOffsetsPerTrigger), or set REPLICA IDENTITY FULL on the table in PostgreSQL",
        )


def require_one_place(table: str, places: set[str]) -> None:
    if len(places) > 1:
        raise QueryError(
            f"{table} is truncated, and its messages are in several partitions ({', '.join(sorted(places)[:3])}), "
            "so that it is not known which of them came before",
            hint="a table with truncations needs a topic with one partition",
        )
