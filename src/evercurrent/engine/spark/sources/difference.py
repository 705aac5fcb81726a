"""Rows of the files that came, minus rows of the files that went, minus what is held.

    change = rows(come) - rows(gone) - held

Each part is a segment of weighted rows; their consolidated sum is the change, so rows that are on both sides cancel and
only what really differs goes on to constraints and views. Files are read with the columns that the source is known to
have: a column that a file lacks is NULL in its rows, and one that the source does not know is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine, fits_driver
from evercurrent.engine.spark.sources.nodes import File, Source
from evercurrent.engine.spark.storage.entry_reader import plain_keys
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import scratch_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import negate
from evercurrent.engine.spark.translate.types import arrow_schema, spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.errors import StorageError

BYTES_PER_ROW = 20
"""A guess, to choose how many partitions a reading of files has."""


def file_schema(columns: Sequence[Member]) -> StructType:
    return StructType([StructField(c.name, spark_type(c.type)) for c in columns])


def read_files(
    engine: Engine, source: Source, root: str, files: Sequence[File], schema: StructType | None = None
) -> DataFrame:
    """The rows of files, in the columns of the source; folders such as `day=2024-01-01` are columns too."""
    reader = engine.session.read.schema(schema or file_schema(source.columns)).option("basePath", root)
    # Names of folders are what they are: none of their letters is a pattern.
    return reader.option("__globPaths__", "false").parquet(*(f.path for f in files))


def load_frame(engine: Engine, source: Source, frame: DataFrame, sign: int, bytes_read: int) -> Segment:
    """A frame with the columns of the source as a segment of our own, every row of the same weight."""
    context = engine.job_context(bytes_read // BYTES_PER_ROW)
    there = {c.lower(): c for c in frame.columns}
    columns = [
        one_zero(frame[f"`{there[c.name.lower()]}`"].cast(spark_type(c.type)), c.type).alias(f"c{i}")
        for i, c in enumerate(source.columns)
    ]
    name = scratch_store(source.name, "load", str(sign))
    try:
        weighted = frame.select(*columns, F.lit(sign).cast("bigint").alias(W))
        return context.collect({name: weighted})[name]
    except Exception as problem:
        said = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise StorageError(
            f"{source.name}: the files of {source.place} cannot be read as ({describe_columns(source.columns)}): {said}",
            hint="nothing was changed; if a column has another type now, declare the source again",
        ) from problem


def describe_columns(columns: Sequence[Member]) -> str:
    return ", ".join(f"{c.name} {c.type}" for c in columns)


def read_held_rows(engine: Engine, source: Source, held: Store) -> Segment:
    """All rows that we hold of a source, to be taken off."""
    if not held.segments:
        return EMPTY
    schema = row_schema([c.type for c in source.columns])
    return negate(engine, scratch_store(source.name, "held"), held, schema)


def of_arrow(engine: Engine, source: Source, table: pyarrow.Table, weights: Any) -> Segment:
    """Returns rows on the driver as a segment; columns are found by their names."""
    target = arrow_schema(row_schema([c.type for c in source.columns]))
    there = {n.lower(): n for n in table.column_names}
    arrays = []
    for i, c in enumerate(source.columns):
        own = there.get(c.name.lower())
        kind = target.field(i).type
        arrays.append(
            pyarrow.nulls(table.num_rows, kind)
            if own is None
            else pyarrow.chunked_array(table.column(own).cast(kind))
        )
    rows = pyarrow.Table.from_arrays([*arrays, weights], schema=target)
    return engine.folder.write(scratch_store(source.name, "load"), rows)


def total(engine: Engine, source: Source, *parts: Segment) -> Segment:
    """The sum of parts, consolidated."""
    there = tuple(p for p in parts if p.rows)
    if not there:
        return EMPTY
    types = [c.type for c in source.columns]
    schema, store = row_schema(types), Store((), there)
    if not plain_keys(schema) and fits_driver(store) and engine.strategy != "spark":
        return engine.write_rows(table_store(source.name), types, engine.rows(store, types))
    return engine.merge_segments(table_store(source.name), store, schema)


def difference(
    engine: Engine,
    source: Source,
    root: str,
    come: Sequence[File],
    gone: Sequence[File] = (),
    held: Store | None = None,
    schema: StructType | None = None,
) -> Segment:
    """See the law above."""
    parts = []
    for files, sign in ((come, 1), (gone, -1)):
        if files:
            frame = read_files(engine, source, root, files, schema)
            parts.append(load_frame(engine, source, frame, sign, sum(f.bytes for f in files)))
    return total(engine, source, *parts, read_held_rows(engine, source, held or Store()))
