"""Structured Streaming as a source: each micro-batch is a batch of the warehouse.

A micro-batch is named by the identity of its checkpoint and its number there. Spark may send one again after a crash; the
log knows its name, so it counts once. A checkpoint that is deleted and created again has another identity: its batches
are new ones, whatever their numbers.

    stream evercurrent_orders d3c90e0b-c0d3-40ee-9aac-64ffa3b182c8 12       micro-batch 12 of that checkpoint
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.errors import QueryError

Apply = Callable[[DataFrame, str], Any]


def start(
    frame: Any, name: str, checkpoint: str, apply: Apply, once: bool, rows: bool = True
) -> StreamingQuery:
    """Start a streaming query that hands every micro-batch to `apply`, with its identity; not `rows`: they are messages."""
    if not getattr(frame, "isStreaming", False):
        raise QueryError(
            "a streaming DataFrame is needed", hint="spark.readStream makes one; db.apply takes others"
        )

    door = door_of(frame.sparkSession)
    door.refuse("db.stream", "Spark would run every micro-batch in the server, where this database is not")

    def take(batch: DataFrame, number: int) -> None:
        identity = door.stream_of(batch)
        if rows and CHANGE_TYPE not in batch.columns:
            batch = batch.withColumn(CHANGE_TYPE, F.lit("insert"))
        apply(batch, f"stream {name} {identity} {number}")

    writer = frame.writeStream.queryName(name).option("checkpointLocation", checkpoint).foreachBatch(take)
    query: StreamingQuery = (writer.trigger(availableNow=True) if once else writer).start()
    return query


@dataclass(frozen=True)
class Streams:
    """Several streaming queries that feed one warehouse, by the names of their tables."""

    queries: Mapping[str, StreamingQuery]

    @property
    def isActive(self) -> bool:
        """Whether all of them are running."""
        return all(q.isActive for q in self.queries.values())

    def awaitTermination(self) -> None:
        """Wait until all have ended; raises what ended one of them, and then stops the others."""
        try:
            for query in self.queries.values():
                query.awaitTermination()
        except BaseException:
            self.stop()
            raise

    def exceptions(self) -> Sequence[Any]:
        """What has ended queries, if anything has."""
        return [e for q in self.queries.values() if (e := q.exception()) is not None]

    def stop(self) -> None:
        for query in self.queries.values():
            query.stop()
