"""Tells changes that cannot be taken in from those that can, before anything is cast for good.

    table     orders (id BIGINT, total DECIMAL(12,2))
    frame     (insert, id "x", total "1.00")
    misfit    ("insert", '{"id":"x","total":"1.00"}', "orders.id: x is no BIGINT")

All other changes are returned as a frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.data.feeds import CHANGE_TYPE, SIGNS
from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.frames import stage
from evercurrent.engine.spark.storage.segments import read_files
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.errors import QueryError

MOST = 100_000
"""The most misfits that may be set aside; if there are more, the feed is probably that of another table."""


def screen(
    engine: Engine, store: StoreName, table: str, fields: Sequence[Member], frame: DataFrame
) -> tuple[DataFrame, list[tuple[str, str, str]]]:
    """The changes that fit the table, and the others, each as (change, row as JSON, reason)."""
    given = {c.lower(): c for c in frame.columns}
    if CHANGE_TYPE not in given or any(f.name.lower() not in given for f in fields):
        return frame, []  # of the whole feed; `take_in` says what is missing
    # Written first: it must be asked twice, and need not give the same rows twice.
    written, _ = stage(engine, store, frame)
    if not written.rows:
        return frame, []
    staged = read_files(engine.session, engine.folder, [written], frame.schema)
    reason = F.lit(None).cast("string")
    for f in reversed(fields):
        value = staged[given[f.name.lower()]]
        fails = value.isNotNull() & value.try_cast(spark_type(f.type)).isNull()
        shown = F.coalesce(value.cast("string"), F.lit("it"))
        what = F.concat(F.lit(f"{table}.{f.name}: "), shown, F.lit(f" is no {f.type}"))
        reason = F.when(fails, what).otherwise(reason)
    kind = staged[given[CHANGE_TYPE]]
    unknown = F.coalesce(~kind.isin(*SIGNS), F.lit(True))
    told = F.concat(F.lit(f"{CHANGE_TYPE} is "), F.coalesce(kind, F.lit("NULL")))
    reason = F.when(unknown, told).otherwise(reason)
    rest = [c for c in frame.columns if c != given[CHANGE_TYPE]]
    screened = staged.withColumn("evercurrent reason", reason)
    bad = screened.where(F.col("evercurrent reason").isNotNull()).select(
        F.coalesce(kind, F.lit("NULL")).alias("change"),
        F.to_json(F.struct(*(staged[c] for c in rest)), {"ignoreNullFields": "false"}).alias("row"),
        F.col("evercurrent reason").alias("reason"),
    )
    found = bad.limit(MOST + 1).collect()
    if len(found) > MOST:
        raise QueryError(
            f"more than {MOST:,} changes of {table} cannot be taken in: {found[0]['reason']}",
            hint="nothing was changed; are these changes of this table?",
        )
    good = screened.where(F.col("evercurrent reason").isNull()).drop("evercurrent reason")
    return good, [(r["change"], r["row"], r["reason"]) for r in found]
