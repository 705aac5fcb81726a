"""The engine: a folder, a log, a session, and programs run over them.

A transaction of few rows is run by the driver alone (`kernel.batch`). One that turns out to need more than the driver should hold,
or that brings many rows, is run by tasks of the executors, over slices of the rows (`tasks.transaction`); what those do not serve is
run by DataFrame jobs over whole states (`jobs.transaction`). All write the same segments; `Report` says which ran and why.

>>> why_jobs(rows=100, size=8_000, recursive=False)
''
>>> why_jobs(rows=600_000, size=8_000_000, recursive=False)
'600000 changed rows are more than 500000'
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Program
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.failures import FAILURES
from evercurrent.engine.spark.jobs.fill import FillTransaction
from evercurrent.engine.spark.jobs.transaction import JobTransaction
from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.kernel.constraint_precheck import consolidate_rows
from evercurrent.engine.spark.kernel.outcome import Circumstances, Outcome, Report
from evercurrent.engine.spark.private_session import private, tune
from evercurrent.engine.spark.progress import Progress
from evercurrent.engine.spark.storage.digests import H, digestible
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge, consolidate_store, plain_keys
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.merge_policy import due, is_outgrown
from evercurrent.engine.spark.storage.segments import FILE_ROWS, LARGE_ROWS, JobContext
from evercurrent.engine.spark.storage.sort_order import orders, row_order, sortable
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Contents, Store, in_files
from evercurrent.engine.spark.tasks.fill_waves import fill_states
from evercurrent.engine.spark.tasks.merging import HERE_ROWS, Target, merge
from evercurrent.engine.spark.tasks.pieces import pieces_of
from evercurrent.engine.spark.tasks.runner import Runner, Unserved
from evercurrent.engine.spark.tasks.sorted_frames import write_sorted
from evercurrent.engine.spark.tasks.transaction import SLICE_ROWS, TaskTransaction, serves
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import EvaluationError

LOOPED_ROWS = 50_000
"""On the driver rules loop over at most this number of changed rows; over more they compute with columns, as in tasks."""
SMALL_ROWS = 500_000
"""Changes are tried by the driver alone if they have at most this number of rows,"""
SMALL_BYTES = 128 << 20
"""and if their files have at most this number of bytes."""
BATCH_ENTRIES = 3_000_000
"""The most entries of states that the driver may hold for one transaction."""
DRIVER_ENTRIES, DRIVER_BYTES = 1_000_000, 128 << 20
"""The most rows of a store that the driver may hold for anything else, and the most bytes of their files."""
RECURSION_ENTRIES = 5_000_000
"""The most entries for a transaction with a recursion: an iteration costs the driver no job."""
MERGED_ROWS = 4_000_000
"""Segments of at most this number of rows are merged by the driver, as Arrow tables."""

PARTITION_ROWS = 1_000_000
"""The most rows that one task gets after an exchange."""

FORCED_SLICE = 1_000
"""The number of rows that one task takes if `strategy="tasks"` was asked for."""

Strategy = str
"""auto, driver, tasks or spark."""


def total(segments: Sequence[Segment]) -> tuple[int, int]:
    """How many rows segments have together, and how many bytes."""
    return sum(s.rows for s in segments), sum(s.bytes for s in segments)


def why_jobs(rows: int, size: int, recursive: bool) -> str:
    """Why a change is left to jobs; empty if the driver tries it. The iterations of a recursion are expensive as jobs."""
    if size > SMALL_BYTES:
        return f"the changed rows take {size >> 20} MB, more than {SMALL_BYTES >> 20}"
    return f"{rows} changed rows are more than {SMALL_ROWS}" if rows > SMALL_ROWS and not recursive else ""


def fits_driver(*stores: Store) -> bool:
    """Whether the driver may hold all rows of these stores."""
    return sum(s.rows for s in stores) <= DRIVER_ENTRIES and sum(s.bytes for s in stores) <= DRIVER_BYTES


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

        The keyed relations in `held` are not updated. `seeds` are segments that count as added to states by this transaction:
        what was added to them while relations were held, the stores being as they were before. At the beginning `keep` names
        the states that will be kept, if not all are.
        """
        given, own = seeds or {}, orders(program)
        self.folder.orders |= own
        told = [*inputs.values(), *(x for s in given.values() for x in s.segments)]
        rows, size = total(told)
        recursive = any(isinstance(r, Fixpoint) for r in program.relations)
        reason = why_jobs(rows, size, recursive)
        work = rows if size <= SMALL_BYTES else max(rows, LARGE_ROWS + 1)
        found = (x for n, s in stores.items() if n in own for x in s.segments)
        served = not beginning and serves(program) and self.folder.shared_work and in_files([*told, *found])
        small = not reason and (self.strategy == "auto" or (self.strategy == "tasks" and not served))
        how = Circumstances(beginning, held, given, time.perf_counter(), rows)
        if self.strategy == "driver" or small:
            allowed, by_columns = RECURSION_ENTRIES if recursive else BATCH_ENTRIES, rows > LOOPED_ROWS
            try:
                return self.run_on_driver(program, stores, inputs, how, allowed, served and by_columns)
            except TooLarge:
                reason = f"the change touches more than {self.reader.describe_excess(allowed)}"
                work = max(rows, allowed)  # what it makes shows in no input
                how = replace(how, fanning_out=True)
        elif self.strategy != "auto":
            reason = "asked for"
        if self.strategy != "spark" and served:
            try:
                return self.run_by_tasks(program, stores, inputs, how, reason)
            except (TooLarge, Unserved) as problem:
                too_much = str(problem) or "what one group holds is too large"
                reason = f"{reason}; tasks did not serve: {too_much}"
        context = self.job_context(work)
        if beginning and context.large and not stores:
            tasks = self.strategy != "spark"
            filled = fill_states(self.task_runner(), program, inputs, keep, context) if tasks else None
            run: JobTransaction = FillTransaction(program, context, keep=keep, held=held, filled=filled)
        else:
            run = JobTransaction(program, context, stores, beginning=beginning, held=held)
        try:
            run.seed(given)
            outcome = run.execute(inputs)
        except FAILURES as problem:
            failure = EvaluationError(str(problem).splitlines()[0], hint="nothing was changed")
            failure.relations = run.working
            raise failure from problem
        seconds = time.perf_counter() - how.began
        return outcome, Report("spark", reason, rows, context.read_bytes, context.jobs, seconds)

    def close(self) -> None:
        """Ends the use of the private session; the user's session stays open."""
        if self.session is not None:
            door_of(self.session).close_session()

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return door_of(self.session).cores

    def run_on_driver(
        self,
        program: Program,
        stores: Mapping[StoreName, Store],
        inputs: Mapping[str, Segment],
        how: Circumstances,
        allowed: int,
        over_columns: bool,
    ) -> tuple[Outcome, Report]:
        """The transaction by the driver alone; `TooLarge` if it touches more entries than are allowed."""
        self.reader.allow(allowed)
        before = self.reader.read_bytes
        alone: DriverTransaction | TaskTransaction = DriverTransaction(
            program, self.folder, self.reader, stores, beginning=how.beginning, held=how.held
        )
        if over_columns:
            here = Runner(self.reader, None, 1)
            alone = TaskTransaction(program, here, stores, held=how.held, here_rows=SMALL_ROWS, bounded=True)
        try:
            alone.seed(how.seeds)
            outcome = alone.execute(inputs)
        except EvaluationError as problem:
            problem.relations = alone.working
            raise
        read, seconds = self.reader.read_bytes - before, time.perf_counter() - how.began
        reason = f"{how.rows} changed rows" + ", over columns" * over_columns
        return outcome, Report("driver", reason, how.rows, read, 0, seconds)

    def run_by_tasks(
        self,
        program: Program,
        stores: Mapping[StoreName, Store],
        inputs: Mapping[str, Segment],
        how: Circumstances,
        reason: str,
    ) -> tuple[Outcome, Report]:
        """The transaction by tasks of the executors, over slices of its rows."""
        runner = self.task_runner()
        here, part = (0, FORCED_SLICE) if self.strategy == "tasks" else (HERE_ROWS, SLICE_ROWS)
        here = 0 if how.fanning_out else here  # few rows meet more than the driver should hold
        run = TaskTransaction(program, runner, stores, held=how.held, here_rows=here, slice_rows=part)
        self.reader.allow(BATCH_ENTRIES)
        run.seed(how.seeds)
        try:
            outcome = run.execute(inputs)
        except EvaluationError as problem:
            problem.relations = run.working
            raise
        seconds = time.perf_counter() - how.began
        return outcome, Report("tasks", reason, how.rows, runner.read_bytes, runner.jobs, seconds)

    def task_runner(self) -> Runner:
        has_spark = self.session is not None
        return Runner(self.reader, self.session, self.cores if has_spark else 1)

    def job_context(self, rows: int) -> JobContext:
        large = rows > LARGE_ROWS
        cores = self.cores
        # Adaptive planning puts small partitions together, and does not take large ones apart.
        tune(self.session, large, max(4 * cores, rows // PARTITION_ROWS) if large else None)
        context = JobContext(self.session, self.folder, large, max(cores, rows // FILE_ROWS))
        if self.strategy != "spark":
            context.sorter = partial(write_sorted, self.task_runner())
        return context

    # --- reading and writing stores ------------------------------------------------------------------------

    def declare(self, store: StoreName, types: Sequence[Type], key: Sequence[int]) -> None:
        """Keep the rows of a store sorted by the columns at these positions, which identify them."""
        self.keys[store] = tuple(key)
        own = tuple(f"c{i}" for i in key if sortable(types[i]))  # no two rows are equal in all of these
        self.folder.orders[store] = own if len(own) == len(key) > 0 else row_order(types, key)
        self.folder.looked_at.pop(store, None)
        if digestible(types):
            self.folder.digested[store] = tuple(types)
            self.folder.looked_at[store] = (*(f"c{i}" for i in key), W, H)
        else:
            self.folder.digested.pop(store, None)

    def forget(self, store: StoreName) -> None:
        """Forgets how the rows of a store are arranged: another table of its name has other columns."""
        for known in (self.keys, self.folder.orders, self.folder.looked_at, self.folder.digested):
            known.pop(store, None)

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
        table = self.folder.arrange(store, table)
        segment = self.folder.put(store, table)
        self.reader.remember_table(segment, table)
        return segment

    def rows(self, store: Store, types: Sequence[Type]) -> list[tuple[Row, int]]:
        """Returns the rows of a store, consolidated, on the driver."""
        self.reader.allow(max(store.rows, 1), sys.maxsize)
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
        self.reader.allow(*((store.rows, sys.maxsize) if all_of else (BATCH_ENTRIES,)))
        found = self.reader.rows(store, row_schema(types), types, key, wanted)
        return self.sums([r for r in found if tuple(r[i] for i in key) in wanted])

    def sums(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Row, int]]:
        totals: dict[Row, int] = {}
        for row in rows:
            totals[row[:-1]] = totals.get(row[:-1], 0) + row[-1]
        return [(row, w) for row, w in totals.items() if w]

    def whole(self, name: StoreName, store: Store, types: Sequence[Type]) -> Segment:
        """A store as one consolidated segment: its own if it is one, or a new one."""
        if not store.segments:
            return EMPTY
        if not store.recent and len(store.base) == 1 and store.base[0].net:
            return store.base[0]
        if fits_driver(store) and self.strategy != "spark":
            return self.write_rows(name, types, self.rows(store, types))
        return self.merge_segments(name, store, row_schema(types))

    def merge_segments(self, name: StoreName, store: Store, schema: StructType) -> Segment:
        """All segments of a store as one."""
        for segment in store.segments[:1]:
            self.folder.orders.setdefault(name, segment.order)
        small = store.rows <= MERGED_ROWS and store.bytes <= DRIVER_BYTES
        if small and self.strategy != "spark" and plain_keys(schema):
            rows = self.by_digests(name, store, schema)
            return self.folder.write(
                name, consolidate_store(self.reader, store, schema) if rows is None else rows
            )
        by_tasks = self.strategy != "spark" and self.folder.shared_work and not store.elsewhere
        if by_tasks and plain_keys(schema):
            order = self.folder.orders.get(name, ())
            pieces = [p for s in store.segments for p in pieces_of(self.reader, name, s, order)]
            with suppress(Unserved):
                return merge(self.task_runner(), Target(name, schema, ()), pieces)
        context = self.job_context(store.rows)

        def add_up(frame: DataFrame) -> DataFrame:
            return consolidate(frame, schema)

        frame = context.read(schema, store.segments)
        return context.collect({name: frame}, {name: store.rows}, {name: add_up})[name]

    def by_digests(self, name: StoreName, store: Store, schema: StructType) -> pyarrow.Table | None:
        """A store that is added up by key and digest, which tell rows apart; None if not all files have digests."""
        key = self.keys.get(name)
        files = [(f, s) for s in store.segments for f in s.files]
        if (
            not key
            or store.elsewhere
            or name not in self.folder.digested
            or not all(self.reader.has(f, H) for f, _ in files)
        ):
            return None
        arrow = arrow_schema(schema).append(pyarrow.field(H, pyarrow.int64()))
        rows = pyarrow.concat_tables([self.reader.whole(f, s, arrow) for f, s in files])
        return consolidate_rows(rows, [*(f"c{i}" for i in key), H])

    def compact_store(
        self, name: StoreName, store: Store, schema: StructType, *, every: bool = False
    ) -> Store | None:
        """The same store in fewer segments, if it is time (`merge_policy`) or in any case; None if it stays as it is."""
        chosen = store.recent if every else due(store)
        if not chosen:
            return None
        if every or is_outgrown(store):
            merged = self.merge_segments(name, store, schema)
            return Store((merged,) if merged.rows else ())
        merged = self.merge_segments(name, Store((), chosen), schema)
        kept = store.recent[: -len(chosen)]
        return Store(store.base, (*kept, merged) if merged.rows else kept)

    def only_inserts(self, segment: Segment) -> bool:
        """Whether the files of a segment say that no weight in it is negative."""
        ranges = [r for file in segment.files for r in self.reader.footer(file).range(W)]
        return all(r is not None and r[0] is not None and r[0] > 0 for r in ranges)

    def frame(self, store: Store, types: Sequence[Type], *, home: bool = False) -> DataFrame | None:
        """The rows of a store as a frame `c0, c1, ..., w`, consolidated; None if there is none. `home`: in the user's session."""
        context = JobContext(self.home, self.folder, True) if home else self.job_context(store.rows)
        contents = Contents(context, row_schema(types), store)
        return None if contents.empty else contents.entries()

    # --- durability ----------------------------------------------------------------------------------------

    def sync(self, segments: Sequence[Segment]) -> None:
        """See to it that files are on the disk before a commit mentions them."""
        for file in (f for s in segments for f in s.files):
            for path in self.folder.traces(file):
                self.folder.disk.sync(path)
