"""Results of Spark, made into segments: many small ones in one job, or each large one by the executors.

The floor of a batch is the number of its jobs, not of its rows. So results that are wanted at the same time are computed
as one: a union of all, each in columns of its own, with a tag that says which row belongs to which. A large result must
not pass through the driver: the executors write it.

    known to be small    collected by the driver              a bound of rows, times the width of a row
    of unknown size      written as it comes, by one job      then sorted: by the driver if it turns out to be small
    known to be large    written in order by the executors    a job for each

Law. The driver holds at most `HELD_BYTES` of a result, and no frame is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import ceil, inf

import pyarrow
import pyarrow.compute
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType

from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.storage import checksums, mapped_copy
from evercurrent.engine.spark.storage.digests import H, digest_column
from evercurrent.engine.spark.storage.file_schema import exact
from evercurrent.engine.spark.storage.files import SCANNED_GROUP, Folder, Segment
from evercurrent.engine.spark.storage.hadoop.frames import write_sealed
from evercurrent.engine.spark.storage.remote_frames import Part, read_parts, write_parts
from evercurrent.engine.spark.storage.store_names import StoreName, is_unsorted, scratch_store
from evercurrent.engine.spark.translate.intervals import number_months
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import StorageError

TAG = "t"
Arrange = Callable[[DataFrame], DataFrame]
Sorter = Callable[[StoreName, DataFrame, bool], Segment | None]
"""Writes a frame, in which each row stands once or not, as a sorted segment of a store; None if it cannot."""
LARGE_ROWS = 300_000
"""From here on results are written by the executors."""
SORTED_ROWS = 1_000_000
"""Rows that the executors have written are sorted by the driver if there are at most this number,"""
HELD_BYTES = 256 << 20
"""unless they take more bytes than this in its memory."""
COLLECTED_BYTES = 64 << 20
"""A result of at most this number of bytes is collected by the driver at once."""
TEXT_WIDTH = 1024
"""The assumed number of bytes of a text or a collection whose length is not known."""
FILE_ROWS = 2_000_000
"""The number of rows that the executors write into one file."""
BROADCAST_ROWS = 200_000
"""A delta of at most this number of rows is sent whole to every executor, through the driver,"""
BROADCAST_BYTES = 32 << 20
"""unless its files are larger than this."""
CHECKED_BYTES = 1 << 30
"""Files of more bytes than this are checked by the executors."""
FULL = "No space left on device"
GROUP_ROWS = "parquet.block.row.count.limit"
"""The setting of Parquet's writer for the rows of a row group."""


@dataclass
class JobContext:
    """Where frames are read, computed and written. `large`: the executors write."""

    session: SparkSession
    folder: Folder
    large: bool = False
    partitions: int = 2
    jobs: int = 0
    read_bytes: int = 0
    written: list[Segment] = field(default_factory=list)
    sorter: Sorter | None = None  # writes frames in the order of a store, if it can

    def read(self, schema: StructType, segments: Sequence[Segment]) -> DataFrame:
        """The rows of segments, at least one."""
        self.read_bytes += sum(s.bytes for s in segments)
        if not self.folder.disk.remote:
            self.verify(segments)  # otherwise tasks check what they read
        return read_files(self.session, self.folder, segments, schema)

    def verify(self, segments: Sequence[Segment]) -> None:
        """Check whole files that a job is about to read, once for as long as they do not change.

        Parquet has checksums of pages, but none of footers and of the headers of pages: those of whole files have no gaps.
        """
        paths = {self.folder.path(f): f for f in self.folder.find_unverified(segments)}
        by_name = {f: s.bytes // len(s.files) for s in segments if s.files for f in s.files}
        if sum(by_name[f] for f in paths.values()) > CHECKED_BYTES and self.folder.shared_work:
            try:
                found = door_of(self.session).on_executors(checksums.digest_at, list(paths), "string")
                self.folder.note_verified(dict(zip(paths.values(), found, strict=True)))
            except PythonException:
                self.folder.shared_work = False
        self.folder.verify(segments)

    def collect(
        self,
        frames: Mapping[StoreName, DataFrame],
        bounds: Mapping[StoreName, float] | None = None,
        afters: Mapping[StoreName, Arrange] | None = None,
    ) -> dict[StoreName, Segment]:
        """Compute frames and write each to a segment of the store that bears its name.

        `bounds` say how many rows a frame can have at most: in a large batch too, small results are made by one job.
        `afters` are done last, when rows that are equal in the columns of a store's order lie together.
        """
        known = bounds or {}
        last = afters or {}
        large = [s for s in frames if self.large and known.get(s, inf) > LARGE_ROWS]
        rest = {s: last[s](f) if s in last else f for s, f in frames.items() if s not in large}
        small = {s: f for s, f in rest.items() if is_small(f.schema, known.get(s, inf))}
        result = {}
        for store in large:
            result[store] = self.write_arranged(store, frames[store], last.get(store), known.get(store, inf))
        if small:
            tables = self.tables(small)
            result |= {store: self.folder.write(store, table) for store, table in tables.items()}
        if len(small) < len(rest):
            result |= self.stage_frames({s: f for s, f in rest.items() if s not in small})
        self.written += result.values()
        return result

    def stage_frames(self, frames: Mapping[StoreName, DataFrame]) -> dict[StoreName, Segment]:
        """Frames of unknown size: written as they come, by one job for all, and then in the order of their stores."""
        names = list(frames)
        if self.folder.disk.remote:
            return {name: self.write_arranged(name, frame, None, inf) for name, frame in frames.items()}
        relative = self.folder.fresh(scratch_store(names[0], "unsorted"))
        writer = union_of(list(frames.values())).write.option("compression", "zstd")
        self.write(writer.partitionBy(TAG), relative)
        result = {}
        for i, name in enumerate(names):
            schema = frames[name].schema
            made = self.folder.find_written(f"{relative}/{TAG}={i}")
            renamed = {column(i, f.name): f.name for f in schema.fields}
            rows = self.collect_rows(made, schema, renamed)
            if rows is not None:
                result[name] = self.folder.write(name, rows)
            else:
                files = self.session.read.parquet(*(self.folder.path(f) for f in made.files))
                frame = files.select(*(F.col(c).alias(n) for c, n in renamed.items()))
                result[name] = self.by_executors(name, frame, None, made.rows)
        return result

    def collect_rows(
        self, made: Segment, schema: StructType, renamed: Mapping[str, str] | None = None
    ) -> pyarrow.Table | None:
        """Returns the rows of files that executors have written, on the driver; None if they are too many, or too wide."""
        target = arrow_schema(schema)
        if not made.rows:
            return target.empty_table()
        if made.rows > SORTED_ROWS or not plain(schema):
            return None
        own = target.names if renamed is None else list(renamed)
        table = self.folder.read_bounded(made, own, HELD_BYTES)
        if table is None:
            return None
        arrays = [c.cast(f.type) for c, f in zip(table.columns, target, strict=True)]
        return pyarrow.Table.from_arrays(arrays, schema=target)

    def pin_frame(self, store: StoreName, frame: DataFrame) -> tuple[DataFrame, int]:
        """The same rows, computed, and how many they are."""
        schema = frame.schema
        made = self.by_executors(scratch_store(store, "unsorted"), frame, None, inf)
        if not made.files:
            return self.session.createDataFrame([], schema), 0
        return read_files(self.session, self.folder, [made], schema), made.rows

    def write_arranged(
        self, store: StoreName, frame: DataFrame, after: Arrange | None, bound: float
    ) -> Segment:
        """Write a frame in the order of its store.

        To find the bounds of ranges Spark computes a frame once more. So what is joined or added up is first written as it
        comes; if it has turned out to be small, the driver sorts it.
        """
        if self.sorter is not None and self.folder.orders.get(store):
            alike = frame if after is None else exact(frame, after(frame).schema)
            segment = self.sorter(store, alike, after is None)
            if segment is not None:
                return segment
        if not self.folder.orders.get(store) or self.sorts(store, bound):
            return self.by_executors(store, frame, after, bound)
        schema = frame.schema
        made = self.by_executors(
            scratch_store(store, "unsorted"), after(frame) if after else frame, None, bound
        )
        rows = self.collect_rows(made, schema)
        if rows is not None:
            return self.folder.write(store, rows)
        return self.by_executors(
            store, read_files(self.session, self.folder, [made], schema), None, made.rows
        )

    def sorts(self, store: StoreName, bound: float) -> bool:
        """Whether the executors sort what they write into a store, and do so at once, since it is cheap to compute."""
        return self.large and bool(self.folder.orders.get(store)) and SORTED_ROWS < bound < inf

    def by_executors(
        self, store: StoreName, frame: DataFrame, after: Arrange | None, bound: float
    ) -> Segment:
        relative = self.folder.fresh(store)
        order = self.folder.orders.get(store, ())
        types = self.folder.digested.get(store)
        if order:
            cores = door_of(self.session).cores
            parts = self.partitions if bound == inf else cores * max(1, ceil(bound / FILE_ROWS / cores))
            frame = frame.repartitionByRange(parts, *order)
        if after is not None:
            frame = after(frame)
        if types is not None:
            frame = frame.withColumn(H, digest_column(types))
        if order:
            frame = frame.sortWithinPartitions(*order)
        if self.folder.disk.remote:
            self.jobs += 1
            return write_frame(frame, self.folder, store, relative, order)
        writer = frame.write.option("compression", "zstd").option(GROUP_ROWS, str(SCANNED_GROUP))
        self.write(writer, relative)
        segment = self.folder.find_written(relative, order)
        if not is_unsorted(store):
            self.seal(store, segment, self.folder.looked_at.get(store))
        return segment

    def write(self, writer: DataFrameWriter, relative: str) -> None:
        """Have the executors write files into a new folder."""
        self.jobs += 1
        try:
            writer.parquet(self.folder.path(relative))
        except Exception as problem:
            if FULL not in str(problem):
                raise
            raise StorageError(
                f"{self.folder.path(relative)} cannot be written: the disk is full",
                hint="free some space and try again; nothing was changed",
            ) from problem

    def seal(self, store: StoreName, segment: Segment, names: Sequence[str] | None) -> None:
        """Have the executors take the checksums of files that they have written, and write the mapped copies of large ones.

        This package may be on the driver only: then the driver does.
        """
        copied = bool(self.folder.to_map(segment))
        order = segment.order

        def seal_file(path: str) -> str:
            own = checksums.seal(path)
            if copied:
                mapped_copy.copy(path, names, order, own)
            return own

        paths = [self.folder.path(f) for f in segment.files]
        found: list[str] | None = None
        if paths and self.folder.shared_work and (copied or segment.bytes > CHECKED_BYTES):
            try:
                found = door_of(self.session).on_executors(seal_file, paths, "string")
            except PythonException:
                self.folder.shared_work = False
        for file, own in zip(segment.files, found or map(seal_file, paths), strict=True):
            self.folder.expect(store, file, own)

    def tables(self, frames: Mapping[StoreName, DataFrame]) -> dict[StoreName, pyarrow.Table]:
        """Several frames by one job, as Arrow tables."""
        self.jobs += 1
        names = list(frames)
        if len(names) == 1:
            frame = frames[names[0]]
            return {names[0]: number_months(frame).toArrow().cast(arrow_schema(frame.schema))}
        whole = union_of([number_months(f) for f in frames.values()]).toArrow()
        result = {}
        for i, name in enumerate(names):
            rows = whole.filter(pyarrow.compute.equal(whole.column(TAG), i))
            target = arrow_schema(frames[name].schema)
            arrays = [rows.column(column(i, f.name)).cast(f.type) for f in target]
            result[name] = pyarrow.Table.from_arrays(arrays, schema=target)
        return result


def read_files(
    session: SparkSession, folder: Folder, segments: Sequence[Segment], schema: StructType
) -> DataFrame:
    """The rows of segments: by Spark's own reader, or by tasks of ours where it cannot reach them; and what lies elsewhere."""
    files = [f for s in segments for f in s.files]
    frames = [folder.origins.frame(session, o, schema.names) for s in segments for o in s.origins]
    if not files and frames:
        together: DataFrame = reduce(DataFrame.unionByName, frames)
        return together
    if folder.disk.remote and not folder.disk.by_spark:
        parts = [Part(folder.path(f), folder.digest_of(f)) for f in files]
        frame = read_parts(session, folder.disk.reach(), parts, schema)
    else:
        frame = as_written(session).schema(schema).parquet(*(folder.path(f) for f in files))
    return reduce(DataFrame.unionByName, frames, frame)


def write_frame(
    frame: DataFrame, folder: Folder, store: StoreName, relative: str, order: tuple[str, ...] = ()
) -> Segment:
    """A frame as files that tasks write into a store: by Spark's own connector, or by ours."""
    if folder.disk.by_spark:
        return write_sealed(frame, folder, store, relative, order)
    made = write_parts(frame, folder.disk.reach(), folder.path(relative), SCANNED_GROUP)
    for part in made:
        folder.made.append(f"{relative}/{part.name}")
        folder.expect(store, f"{relative}/{part.name}", part.digest)
    files = tuple(f"{relative}/{part.name}" for part in made)
    return Segment(files, sum(p.rows for p in made), sum(p.size for p in made), order)


def as_written(session: SparkSession) -> DataFrameReader:
    """A reader of our files, whatever the settings of a session say of old calendars."""
    options = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED", "mergeSchema": "false"}
    return session.read.options(**options)


def may_broadcast(segments: Sequence[Segment]) -> bool:
    """Whether all rows of segments may be sent to every executor."""
    return (
        sum(s.rows for s in segments) <= BROADCAST_ROWS and sum(s.bytes for s in segments) <= BROADCAST_BYTES
    )


def column(i: int, name: str) -> str:
    """What a column of the i-th of several frames is called in their union."""
    return f"x{i}_{name}"


def union_of(frames: Sequence[DataFrame]) -> DataFrame:
    """Several frames as one: each has columns of its own, which are NULL in the rows of the others, and a tag."""
    schemas = [frame.schema for frame in frames]
    branches = []
    for i, frame in enumerate(frames):
        own = [
            (F.col(f.name) if i == j else F.lit(None).cast(f.dataType)).alias(column(j, f.name))
            for j, schema in enumerate(schemas)
            for f in schema.fields
        ]
        branches.append(frame.select(F.lit(i).alias(TAG), *own))
    return reduce(DataFrame.union, branches)


def is_small(schema: StructType, rows: float) -> bool:
    """Whether `rows` rows can be collected."""
    return rows * row_width(schema) <= COLLECTED_BYTES


def row_width(schema: StructType) -> int:
    """How many bytes a row takes, about.

    >>> from pyspark.sql.types import LongType
    >>> row_width(StructType().add("a", LongType()).add("b", StringType()))
    1040
    """
    wide = (ArrayType, BinaryType, MapType, StringType, StructType)
    return sum(TEXT_WIDTH if isinstance(f.dataType, wide) else 16 for f in schema.fields)


def plain(schema: StructType) -> bool:
    """Whether no column is a collection."""
    return not any(isinstance(f.dataType, ArrayType | MapType | StructType) for f in schema.fields)
