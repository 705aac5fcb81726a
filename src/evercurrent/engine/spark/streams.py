"""Structured Streaming as a source: each micro-batch is a batch of the warehouse.

A micro-batch is named by its stream and its number. Spark may send one again after a crash; the log knows its name, so it
counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.engine.spark.intake import CHANGE_TYPE
from evercurrent.errors import QueryError

Apply = Callable[[DataFrame, str], Any]


def start(frame: DataFrame, name: str, checkpoint: str, apply: Apply, once: bool) -> Any:
    """Start a streaming query that hands every micro-batch to `apply`, with its identity."""
    if not getattr(frame, "isStreaming", False):
        raise QueryError(
            "a streaming DataFrame is needed", hint="spark.readStream makes one; db.apply takes others"
        )

    def take(batch: DataFrame, number: int) -> None:
        if CHANGE_TYPE not in batch.columns:
            batch = batch.withColumn(CHANGE_TYPE, F.lit("insert"))
        apply(batch, f"stream {name} {number}")

    writer = frame.writeStream.queryName(name).option("checkpointLocation", checkpoint).foreachBatch(take)
    return (writer.trigger(availableNow=True) if once else writer).start()
