"""Pieces of files become a segment: read by the driver if they are few, otherwise by Spark.

Reading(layout, pieces)                    rows of files that have one layout
load_rows(engine, source, disk, readings)  the sum of all, consolidated, as a segment of ours
frame_of(...)                              the same as a frame, which is read when somebody reads it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.arrow_pieces import Unfit, arrow_rows, task_rows
from evercurrent.engine.spark.sources.difference import BYTES_PER_ROW, describe_columns, total
from evercurrent.engine.spark.sources.nodes import Source
from evercurrent.engine.spark.sources.pieces import Layout, Piece, spark_rows
from evercurrent.engine.spark.sources.rewritten import are_rewritten, leave_out_copied
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import scratch_store, table_store
from evercurrent.errors import EvercurrentError, StorageError

DRIVER_BYTES = 16 << 20
"""Files of at most this number of bytes are read by the driver."""


@dataclass(frozen=True)
class Reading:
    """Rows of files that have one layout."""

    layout: Layout
    pieces: tuple[Piece, ...]

    @property
    def bytes(self) -> int:
        return sum(p.bytes for p in self.pieces)


def load_rows(engine: Engine, source: Source, disk: Disk, readings: Sequence[Reading]) -> Segment:
    """The sum of readings, consolidated."""
    there = [r for r in readings if r.pieces]
    if not there:
        return EMPTY
    size = sum(r.bytes for r in there)
    name = scratch_store(source.name, "load")
    try:
        rows = hold_rows(engine, disk, there, source.columns) if size <= DRIVER_BYTES else None
        if rows is not None:
            part = engine.folder.write(name, rows)
        else:
            context = engine.job_context(size // BYTES_PER_ROW)
            frame = frame_of(engine.session, disk, there, source.columns)
            if are_rewritten([p for r in there for p in r.pieces]):
                key = engine.keys.get(table_store(source.name), ())
                left = leave_out_copied(engine.session, frame, [c.type for c in source.columns], key)
                if left is None:
                    return EMPTY
                frame = left
            part = context.collect({name: frame})[name]
    except EvercurrentError:
        raise
    except Exception as problem:
        said = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise StorageError(
            f"{source.name}: the files of {source.place} cannot be read as ({describe_columns(source.columns)}): {said}",
            hint="nothing was changed; if a column has another type now, declare the source again",
        ) from problem
    return total(engine, source, part)


def hold_rows(
    engine: Engine, disk: Disk, readings: Sequence[Reading], columns: Sequence[Member]
) -> pyarrow.Table | None:
    """Returns the rows, on the driver; None if Spark is to read them."""
    if engine.strategy == "spark" and not disk.remote:
        return None
    try:
        return pyarrow.concat_tables([arrow_rows(disk, r.layout, r.pieces, columns) for r in readings])
    except Unfit:
        return None


def frame_of(
    session: SparkSession, disk: Disk, readings: Sequence[Reading], columns: Sequence[Member]
) -> DataFrame:
    """The rows as a frame `c0, c1, ..., w`: their sum is what is meant."""
    schema = row_schema([c.type for c in columns])

    def one(reading: Reading) -> DataFrame:
        if disk.remote and not disk.by_spark:
            return task_rows(session, disk.reach(), reading.layout, reading.pieces, columns, schema)
        return spark_rows(session, reading.layout, reading.pieces, columns)

    frames: list[Any] = [one(r) for r in readings if r.pieces]
    return reduce(DataFrame.unionByName, frames) if frames else session.createDataFrame([], schema)
