"""The engine: a folder, a log, a session, and programs run over them.

A transaction of few rows is run by the driver alone (`kernel.batch`); one that turns out to need more than the driver should
hold, or that brings many rows, is run by Spark (`jobs.transaction`). Both write the same segments; `Report` says which ran and why.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow
from pyspark.errors import (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    NumberFormatException,
    PythonException,
    SparkRuntimeException,
)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Program
from evercurrent.engine.spark.jobs.fill import FillTransaction
from evercurrent.engine.spark.jobs.transaction import JobTransaction
from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.kernel.constraint_precheck import consolidate_rows
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.private_session import private, tune
from evercurrent.engine.spark.progress import Progress
from evercurrent.engine.spark.storage.digests import H, digestible
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge, consolidate_store, plain_keys
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.merge_policy import due, outgrown
from evercurrent.engine.spark.storage.segments import FILE_ROWS, LARGE_ROWS, JobContext
from evercurrent.engine.spark.storage.sort_order import orders, row_order
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Contents, Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import EvaluationError

SMALL_ROWS = 500_000
"""Changes of at most so many rows are tried by the driver alone: it takes about 5 microseconds for a row and view, all in all."""
BATCH_ENTRIES = 3_000_000
"""So many entries of states the driver may hold for one transaction."""
DRIVER_ENTRIES = 1_000_000
"""So many rows of a store the driver may hold for anything else."""
RECURSION_ENTRIES = 5_000_000
"""So many where a recursion moves: a round costs the driver no job."""
MERGED_ROWS = 4_000_000
"""Segments of at most so many rows are merged by the driver, in Arrow's hands."""

PARTITION_ROWS = 1_000_000
"""So many rows one task is given after an exchange, at most."""

FAILURES = (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    NumberFormatException,
    PythonException,
    SparkRuntimeException,
)
"""What Spark raises where the data makes an expression fail."""

Strategy = str
"""auto, driver or spark."""


@dataclass(frozen=True)
class Report:
    """How a transaction was run."""

    strategy: str
    reason: str
    rows_in: int
    read_bytes: int
    jobs: int
    seconds: float


class Engine:
    """Runs programs over one warehouse."""

    def __init__(self, spark: Any, folder: Folder, strategy: Strategy = "auto") -> None:
        self.folder = folder
        self.home: SparkSession = spark  # the user's own session, for what only it can see
        self.session: SparkSession = private(spark)
        self.log = Log(folder)
        self.reader = EntryReader(folder)
        self.strategy = strategy
        self.progress = Progress(self.session)
        self.keys: dict[StoreName, tuple[int, ...]] = {}  # positions of primary keys, by store

    # --- running -------------------------------------------------------------------------------------------

    def run(
        self,
        program: Program,
        stores: Mapping[StoreName, Store],
        inputs: Mapping[str, Segment],
        *,
        beginning: bool = False,
        held: frozenset[str] = frozenset(),
        seeds: Mapping[StoreName, Store] | None = None,
        keep: Collection[str] | None = None,
    ) -> tuple[Outcome, Report]:
        """One transaction: new segments, not yet known to anyone.

        The keyed relations in `held` do not move. `seeds` are segments that count as added to states by this transaction:
        what was added to them while relations were held, the stores being as they were before. At the beginning `keep` names
        the states that will be kept, if not all are.
        """
        begin = time.perf_counter()
        given = seeds or {}
        self.folder.orders |= orders(program)
        rows = sum(s.rows for s in inputs.values()) + sum(s.rows for s in given.values())
        reason = f"{rows} changed rows are more than {SMALL_ROWS}"
        recursive = any(isinstance(r, Fixpoint) for r in program.relations)
        work = rows
        small = self.strategy == "auto" and (recursive or rows <= SMALL_ROWS)  # rounds are dear as jobs
        if self.strategy == "driver" or small:
            allowed = self.reader.budget = RECURSION_ENTRIES if recursive else BATCH_ENTRIES
            before = self.reader.read_bytes
            alone = DriverTransaction(
                program, self.folder, self.reader, stores, beginning=beginning, held=held
            )
            try:
                alone.seed(given)
                outcome = alone.execute(inputs)
                read = self.reader.read_bytes - before
                seconds = time.perf_counter() - begin
                return outcome, Report("driver", f"{rows} changed rows", rows, read, 0, seconds)
            except EvaluationError as problem:
                problem.relations = alone.working
                raise
            except TooLarge:
                reason = f"the change touches more than {allowed} entries"
                work = max(rows, allowed) if recursive else rows  # what a recursion makes shows in no input
        elif self.strategy == "spark":
            reason = "asked for"
        context = self.job_context(work)
        if beginning and context.large and not stores:
            run: JobTransaction = FillTransaction(program, context, keep=keep, held=held)
        else:
            run = JobTransaction(program, context, stores, beginning=beginning, held=held)
        try:
            run.seed(given)
            outcome = run.execute(inputs)
        except FAILURES as problem:
            failure = EvaluationError(str(problem).splitlines()[0], hint="nothing was changed")
            failure.relations = run.working
            raise failure from problem
        seconds = time.perf_counter() - begin
        return outcome, Report("spark", reason, rows, context.read_bytes, context.jobs, seconds)

    def job_context(self, rows: int) -> JobContext:
        large = rows > LARGE_ROWS
        cores = self.session.sparkContext.defaultParallelism
        # Adaptive planning puts small partitions together, and does not take large ones apart.
        tune(self.session, large, max(4 * cores, rows // PARTITION_ROWS) if large else None)
        return JobContext(self.session, self.folder, large, max(cores, rows // FILE_ROWS))

    # --- reading and writing stores ------------------------------------------------------------------------

    def declare(self, store: StoreName, types: Sequence[Type], key: Sequence[int]) -> None:
        """Keep the rows of a store sorted by the columns at these positions, by which they are told apart."""
        self.keys[store] = tuple(key)
        self.folder.orders[store] = row_order(types, key)
        self.folder.looked_at.pop(store, None)
        if digestible(types):
            self.folder.digested[store] = tuple(types)
            self.folder.looked_at[store] = (*(f"c{i}" for i in key), W, H)
        else:
            self.folder.digested.pop(store, None)

    def write_rows(
        self, store: StoreName, types: Sequence[Type], entries: Sequence[tuple[Row, int]]
    ) -> Segment:
        if not entries:
            return EMPTY
        self.folder.orders.setdefault(store, row_order(types))
        names = [f"c{i}" for i in range(len(types))]
        segment = self.folder.write(store, rows_to_arrow(types, names, entries, "w"))
        self.reader.remember(segment, entries)
        return segment

    def write_table(self, store: StoreName, types: Sequence[Type], table: pyarrow.Table) -> Segment:
        """Write rows `c0, c1, ..., w`, with digests or without."""
        if not table.num_rows:
            return EMPTY
        self.folder.orders.setdefault(store, row_order(types))
        table = self.folder.arranged(store, table)
        segment = self.folder.put(store, table)
        self.reader.remember_table(segment, table)
        return segment

    def rows(self, store: Store, types: Sequence[Type]) -> list[tuple[Row, int]]:
        """The rows of a store, consolidated, in the driver's hands."""
        self.reader.budget = max(store.rows, 1)
        return self.sums(self.reader.rows(store, row_schema(types), types))

    def find(
        self,
        store: Store,
        types: Sequence[Type],
        key: Sequence[int],
        wanted: set[Row],
        *,
        all_of: bool = False,
    ) -> list[tuple[Row, int]]:
        """The rows whose columns at `key` are among the wanted tuples; `TooLarge` if they are many, unless all are wanted."""
        if not store.segments or not wanted:
            return []
        self.reader.budget = store.rows if all_of else BATCH_ENTRIES
        found = self.reader.rows(store, row_schema(types), types, key, wanted)
        return self.sums([r for r in found if tuple(r[i] for i in key) in wanted])

    def sums(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Row, int]]:
        totals: dict[Row, int] = {}
        for row in rows:
            totals[row[:-1]] = totals.get(row[:-1], 0) + row[-1]
        return [(row, w) for row, w in totals.items() if w]

    def sum_of(self, store: Store) -> Segment:
        """A store as one segment: all its files, as they are."""
        files = tuple(f for s in store.segments for f in s.files)
        net = not store.recent and len(store.base) <= 1
        return Segment(files, store.rows, store.bytes, store.base[0].order if net and store.base else (), net)

    def whole(self, name: StoreName, store: Store, types: Sequence[Type]) -> Segment:
        """A store as one consolidated segment: its own if it is one, or a new one."""
        if not store.segments:
            return EMPTY
        if not store.recent and len(store.base) == 1:
            return store.base[0]
        if store.rows <= DRIVER_ENTRIES and self.strategy != "spark":
            return self.write_rows(name, types, self.rows(store, types))
        return self.merged(name, store, row_schema(types))

    def merged(self, name: StoreName, store: Store, schema: StructType) -> Segment:
        """All segments of a store as one."""
        for segment in store.segments[:1]:
            self.folder.orders.setdefault(name, segment.order)
        if store.rows <= MERGED_ROWS and self.strategy != "spark" and plain_keys(schema):
            rows = self.by_digests(name, store, schema)
            return self.folder.write(
                name, consolidate_store(self.reader, store, schema) if rows is None else rows
            )
        context = self.job_context(store.rows)

        def added_up(frame: DataFrame) -> DataFrame:
            return consolidate(frame, schema)

        frame = context.read(schema, store.segments)
        return context.collect({name: frame}, {name: store.rows}, {name: added_up})[name]

    def by_digests(self, name: StoreName, store: Store, schema: StructType) -> pyarrow.Table | None:
        """A store that is added up by key and digest, which tell rows apart; None if not all files have digests."""
        key = self.keys.get(name)
        files = [(f, s) for s in store.segments for f in s.files]
        if not key or name not in self.folder.digested or not all(self.reader.has(f, H) for f, _ in files):
            return None
        arrow = arrow_schema(schema).append(pyarrow.field(H, pyarrow.int64()))
        rows = pyarrow.concat_tables([self.reader.whole(f, s, arrow) for f, s in files])
        return consolidate_rows(rows, [*(f"c{i}" for i in key), H])

    def compacted(
        self, name: StoreName, store: Store, schema: StructType, *, every: bool = False
    ) -> Store | None:
        """The same store in fewer segments, if it is time (`merge_policy`) or in any case; None if it stays as it is."""
        chosen = store.recent if every else due(store)
        if not chosen:
            return None
        if every or outgrown(store):
            merged = self.merged(name, store, schema)
            return Store((merged,) if merged.rows else ())
        merged = self.merged(name, Store((), chosen), schema)
        kept = store.recent[: -len(chosen)]
        return Store(store.base, (*kept, merged) if merged.rows else kept)

    def only_inserts(self, segment: Segment) -> bool:
        """Whether the files of a segment say that no weight in it is negative."""
        ranges = [r for file in segment.files for r in self.reader.footer(file).range(W)]
        return all(r is not None and r[0] is not None and r[0] > 0 for r in ranges)

    def frame(self, store: Store, types: Sequence[Type]) -> DataFrame | None:
        """The rows of a store as a frame `c0, c1, ..., w`, consolidated; None if there is none."""
        context = self.job_context(store.rows)
        contents = Contents(context, row_schema(types), store)
        return None if contents.empty else contents.entries()

    # --- durability ----------------------------------------------------------------------------------------

    def sync(self, segments: Sequence[Segment]) -> None:
        """See to it that files are on the disk before a commit mentions them."""
        for file in (f for s in segments for f in s.files):
            for path in self.folder.traces(file):
                self.folder.disk.sync(path)
