"""Frames from files of an object store, and files from frames, where the session has no connector for it.

Tasks read and write the files themselves, through the same package as the driver. A file that a task reads is checked whole by
its digest. What a task has written is known by what it returns, so a task that is repeated leaves nothing but a file that nobody
mentions.

    read_parts(session, reach, [Part("data/t/a.parquet", "6c0f...")], schema)     a task for each file
    write_parts(frame, reach, "s3://bucket/w/data/t/7f", 2_000_000)                files for each partition
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.storage.checksums import damage_error, file_digest
from evercurrent.engine.spark.storage.disk import Disk, Reach
from evercurrent.engine.spark.translate.intervals import number_months, restore_months, schema_in_numbers
from evercurrent.engine.spark.translate.types import arrow_schema

WRITTEN = "name string, rows bigint, size bigint, digest string"
PART_BYTES = 256 << 20
"""The most bytes of a file that a task writes, roughly."""


class Part(NamedTuple):
    """A file by its address, and its digest if it is known."""

    path: str
    digest: str | None


class Written(NamedTuple):
    """A file that a task has written."""

    name: str
    rows: int
    size: int
    digest: str


def read_parts(session: SparkSession, reach: Reach, parts: Sequence[Part], schema: StructType) -> DataFrame:
    """The rows of files as a frame; a column that a file does not have is NULL."""
    target = arrow_schema(schema)

    def read(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from evercurrent.engine.spark.storage.object_disk import disk_of_task

        disk = disk_of_task(reach)
        for batch in batches:
            for one in batch.to_pylist():
                data = read_checked(disk, one["path"], one["digest"])
                with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)) as file:
                    for rows in file.iter_batches(
                        columns=[n for n in target.names if n in file.schema_arrow.names]
                    ):
                        yield conform(rows, target)

    listed = door_of(session).one_task_each([tuple(p) for p in parts], "path string, digest string")
    return restore_months(listed.mapInArrow(read, schema_in_numbers(schema)), schema)


def read_checked(disk: Disk, path: str, digest: str | None) -> bytes:
    """A file whose digest is the one that is known; a cached copy that is damaged is fetched again."""
    data = disk.read(path)
    if digest is not None and file_digest(data) != digest and disk.forget(path):
        data = disk.read(path)
    if digest is not None and file_digest(data) != digest:
        raise damage_error(path)
    return data


def conform(rows: pyarrow.RecordBatch, target: pyarrow.Schema) -> pyarrow.RecordBatch:
    """Rows with the columns of a schema."""
    columns = [
        rows.column(f.name).cast(f.type)
        if f.name in rows.schema.names
        else pyarrow.nulls(rows.num_rows, f.type)
        for f in target
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=target)


def write_parts(frame: DataFrame, reach: Reach, folder: str, group_rows: int) -> list[Written]:
    """Write each partition of a frame to files in a folder, in its order."""
    target = arrow_schema(frame.schema)

    def write(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from evercurrent.engine.spark.storage.object_disk import disk_of_task

        disk = disk_of_task(reach)
        sink: Any = None
        writer: Any = None
        rows = 0

        def finish() -> pyarrow.RecordBatch:
            writer.close()
            data = sink.getvalue()
            name = f"part-{uuid.uuid4().hex}.parquet"
            disk.put(f"{folder}/{name}", data)
            found = Written(name, rows, data.size, file_digest(data))
            return pyarrow.RecordBatch.from_pylist([found._asdict()])

        for batch in batches:
            if not batch.num_rows:
                continue
            if writer is None:
                sink, rows = pyarrow.BufferOutputStream(), 0
                writer = pyarrow.parquet.ParquetWriter(sink, target, compression="zstd", store_schema=False)
            writer.write_batch(conform(batch, target), row_group_size=group_rows)
            rows += batch.num_rows
            if sink.tell() > PART_BYTES:
                yield finish()
                writer = None
        if writer is not None:
            yield finish()

    found = number_months(frame).mapInArrow(write, WRITTEN).collect()
    return sorted(Written(*row) for row in found)
