"""Results of Spark, made into segments: many small ones in one job, or each large one by the executors.

The floor of a batch is the number of its jobs, not of its rows. So results that are wanted at the same time are collected
as one: a union of all, each in columns of its own, with a tag that says which row belongs to which. A large result must
not pass through the driver: the executors write it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import ceil, inf

import pyarrow
import pyarrow.compute
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

from evercurrent.engine.spark.storage import checksums, mapped_copy
from evercurrent.engine.spark.storage.digests import H, digest_column
from evercurrent.engine.spark.storage.files import SCANNED_GROUP, Folder, Segment
from evercurrent.engine.spark.storage.store_names import StoreName, is_unsorted, scratch_store
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import StorageError

TAG = "t"
Arrange = Callable[[DataFrame], DataFrame]
LARGE_ROWS = 300_000
"""From here on results are written by the executors."""
SORTED_ROWS = 1_000_000
"""So many rows that the executors have written are sorted by the driver."""
FILE_ROWS = 2_000_000
"""So many rows the executors write into one file."""
BROADCAST_ROWS = 200_000
"""A delta of at most so many rows is sent whole to every executor."""
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

    def read(self, schema: StructType, segments: Sequence[Segment]) -> DataFrame:
        """The rows of segments, at least one."""
        self.read_bytes += sum(s.bytes for s in segments)
        self.verify(segments)
        paths = [self.folder.path(f) for s in segments for f in s.files]
        return self.session.read.schema(schema).parquet(*paths)

    def verify(self, segments: Sequence[Segment]) -> None:
        """Check whole files that a job is about to read, once for as long as they do not change.

        Parquet has checksums of pages, but none of footers and of the headers of pages: those of whole files have no gaps.
        """
        paths = {self.folder.path(f): f for f in self.folder.unverified(segments)}
        by_name = {f: s.bytes // len(s.files) for s in segments for f in s.files}
        if sum(by_name[f] for f in paths.values()) > CHECKED_BYTES and self.folder.shared_work:
            try:
                context = self.session.sparkContext
                found = context.parallelize(list(paths), len(paths)).map(checksums.digest_at).collect()
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
        small = {s: last[s](f) if s in last else f for s, f in frames.items() if s not in large}
        result = {}
        for store in large:
            result[store] = self.arranged(store, frames[store], last.get(store), known.get(store, inf))
        if small:
            tables = self.tables(small)
            result |= {store: self.folder.write(store, table) for store, table in tables.items()}
        self.written += result.values()
        return result

    def pinned(self, store: StoreName, frame: DataFrame) -> tuple[DataFrame, int]:
        """The same rows, computed, and how many they are."""
        schema = frame.schema
        made = self.by_executors(scratch_store(store, "unsorted"), frame, None, inf)
        if not made.files:
            return self.session.createDataFrame([], schema), 0
        read = self.session.read.schema(schema).parquet(*(self.folder.path(f) for f in made.files))
        return read, made.rows

    def arranged(self, store: StoreName, frame: DataFrame, after: Arrange | None, bound: float) -> Segment:
        """Write a frame in the order of its store.

        To find the bounds of ranges Spark computes a frame once more. So what is joined or added up is first written as it
        comes; if it has turned out to be small, the driver sorts it.
        """
        if not self.folder.orders.get(store) or self.sorts(store, bound):
            return self.by_executors(store, frame, after, bound)
        schema = frame.schema
        made = self.by_executors(
            scratch_store(store, "unsorted"), after(frame) if after else frame, None, bound
        )
        if made.rows <= SORTED_ROWS and plain(schema):
            return self.folder.write(store, self.folder.table(made, arrow_schema(schema)))
        frame = self.session.read.schema(schema).parquet(*(self.folder.path(f) for f in made.files))
        return self.by_executors(store, frame, None, made.rows)

    def sorts(self, store: StoreName, bound: float) -> bool:
        """Whether the executors sort what they write into a store, and do so at once, since it is cheap to compute."""
        return self.large and bool(self.folder.orders.get(store)) and SORTED_ROWS < bound < inf

    def by_executors(
        self, store: StoreName, frame: DataFrame, after: Arrange | None, bound: float
    ) -> Segment:
        self.jobs += 1
        relative = self.folder.fresh(store)
        order = self.folder.orders.get(store, ())
        types = self.folder.digested.get(store)
        if order:
            cores = self.session.sparkContext.defaultParallelism
            parts = self.partitions if bound == inf else cores * max(1, ceil(bound / FILE_ROWS / cores))
            frame = frame.repartitionByRange(parts, *order)
        if after is not None:
            frame = after(frame)
        if types is not None:
            frame = frame.withColumn(H, digest_column(types))
        if order:
            frame = frame.sortWithinPartitions(*order)
        writer = frame.write.option("compression", "zstd").option(GROUP_ROWS, str(SCANNED_GROUP))
        try:
            writer.parquet(self.folder.path(relative))
        except Exception as problem:
            if FULL not in str(problem):
                raise
            raise StorageError(
                f"{self.folder.path(relative)} cannot be written: the disk is full",
                hint="free some space and try again; nothing was changed",
            ) from problem
        segment = self.folder.written(relative, order)
        if not is_unsorted(store):
            self.seal(store, segment, self.folder.looked_at.get(store))
        return segment

    def seal(self, store: StoreName, segment: Segment, names: Sequence[str] | None) -> None:
        """Have the executors take the checksums of files that they have written, and write the mapped copies of large ones.

        This package may be on the driver only: then the driver does.
        """
        copied = bool(self.folder.to_map(segment))
        first = segment.order[0] if segment.order else ""

        def sealed(path: str) -> str:
            own = checksums.seal(path)
            if copied:
                mapped_copy.copy(path, names, first, own)
            return own

        paths = [self.folder.path(f) for f in segment.files]
        found: list[str] | None = None
        if paths and self.folder.shared_work and (copied or segment.bytes > CHECKED_BYTES):
            try:
                found = self.session.sparkContext.parallelize(paths, len(paths)).map(sealed).collect()
            except PythonException:
                self.folder.shared_work = False
        for file, own in zip(segment.files, found or map(sealed, paths), strict=True):
            self.folder.expect(store, file, own)

    def tables(self, frames: Mapping[StoreName, DataFrame]) -> dict[StoreName, pyarrow.Table]:
        """Several frames by one job, as Arrow tables."""
        self.jobs += 1
        names = list(frames)
        if len(names) == 1:
            frame = frames[names[0]]
            return {names[0]: frame.toArrow().cast(arrow_schema(frame.schema))}
        schemas = [frames[name].schema for name in names]
        branches = []
        for i, name in enumerate(names):
            own = [
                F.col(f.name).alias(f"x{j}_{f.name}")
                if i == j
                else F.lit(None).cast(f.dataType).alias(f"x{j}_{f.name}")
                for j, schema in enumerate(schemas)
                for f in schema.fields
            ]
            branches.append(frames[name].select(F.lit(i).alias(TAG), *own))
        whole = reduce(DataFrame.union, branches).toArrow()
        result = {}
        for i, (name, schema) in enumerate(zip(names, schemas, strict=True)):
            rows = whole.filter(pyarrow.compute.equal(whole.column(TAG), i))
            own_columns = [rows.column(f"x{i}_{f.name}") for f in schema.fields]
            target = arrow_schema(schema)
            result[name] = pyarrow.Table.from_arrays(
                [c.cast(f.type) for c, f in zip(own_columns, target, strict=True)], schema=target
            )
        return result


def plain(schema: StructType) -> bool:
    """Whether no column is a collection."""
    return not any(isinstance(f.dataType, ArrayType | MapType | StructType) for f in schema.fields)
