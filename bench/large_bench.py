"""Batches beyond the driver's limit: a join with an aggregate over millions of rows, by the driver and by tasks.

Intake, fill and batches end to end beside what Spark takes to compute the same query from its files and to write the result, in one
session: in local mode (`run`) and on a standalone cluster of two workers, where executors are killed too (`run_cluster`).
Both sides are warm: each is run several times before it is measured, and what counts is the median of several. A process of its own
writes the files of all batches first, so that the memory of the driver is that of the database.
"""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

import evercurrent as ec
from bench.measure import machine, peak_memory, processor_time, reset_peaks
from bench.report import Result, Table
from bench.spark_data import session

ABOUT = (
    "`SELECT d.category, sum(f.amount), count(*) FROM fact f JOIN dim d ON f.dim = d.id GROUP BY d.category` over tables with "
    "primary keys and a reference, {where}. Half of a batch deletes rows, a quarter inserts half of these again "
    "with another amount, a quarter inserts new rows, so that the table keeps its size. Recomputing reads Parquet files of the tables as they "
    "were loaded and writes the result; it does not take in the change. *Spark takes in the change* is what Spark needs for that alone: it reads "
    "the loaded table and the change, leaves out deleted rows by key, adds the inserted ones and writes the table as new Parquet files, without "
    "looking at keys or references. Our time for a batch is intake, constraints, the table's new files and the view; *ratio to both* compares it "
    "with both together, taking in and recomputing. Processor time of all processes, and the clock beside it. Batches and Spark's side are warm: "
    "medians of {repeats} after {warm} that do not count, but for the largest batch, which runs once; loading and creating happen once, and the load "
    "is the first work of the session's Python workers. Peaks are those of one step, mapped pages of files included. "
    "After all batches the view was compared with Spark's own answer, and equal."
)
QUERY = (
    "SELECT d.category, sum(f.amount) AS total, count(*) AS n FROM fact f JOIN dim d ON f.dim = d.id "
    "GROUP BY d.category"
)
REPEATS, WARM = 3, 2
COLUMNS = [
    "step",
    "changed rows",
    "processor time, s",
    "by the clock, s",
    "of it: intake and constraints",
    "program",
    "microseconds a row",
    "recompute, processor time, s",
    "ratio",
    "recompute, by the clock, s",
    "ratio by the clock",
    "Spark takes in the change, processor time, s",
    "ratio to both",
    "run by",
    "peak of the driver, MB",
    "peak of a task, MB",
]
SIZES = (10_000, 100_000, 600_000, 1_000_000, 2_000_000)
LAST = 10_000_000
"""The largest batch deletes all rows of the table."""
KILLS = 5


@dataclass
class Timing:
    """What one run of a step took."""

    processor: float
    clock: float
    intake: float | None = None
    program: float | None = None
    how: str = ""


def timed(run: Callable[[], Any]) -> Timing:
    clock, processor = time.perf_counter(), processor_time()
    made = run()
    timing = Timing(processor_time() - processor, time.perf_counter() - clock)
    if hasattr(made, "steps"):
        timing.intake = made.steps.get("intake", 0.0) + made.steps.get("constraints", 0.0)
        timing.program = made.steps.get("program")
        timing.how = made.notes[0].removeprefix("updated by ").partition(":")[0] if made.notes else ""
    return timing


def median_of(timings: list[Timing]) -> Timing:
    """The medians, each of its own."""

    def middle(name: str) -> float | None:
        known = [getattr(t, name) for t in timings if getattr(t, name) is not None]
        return statistics.median(known) if known else None

    processor, clock = middle("processor"), middle("clock")
    assert processor is not None and clock is not None
    return Timing(processor, clock, middle("intake"), middle("program"), timings[-1].how)


def facts(first: int, last: int, dims: int, seed: int) -> pyarrow.Table:
    draw = numpy.random.default_rng(seed)
    size = last - first
    return pyarrow.table(
        {
            "id": pyarrow.array(numpy.arange(first, last), pyarrow.int64()),
            "dim": pyarrow.array(draw.integers(0, dims, size), pyarrow.int64()),
            "amount": pyarrow.array(draw.integers(0, 1_000_000, size), pyarrow.int64()),
        }
    )


def write_files(place: Path, size: int, dims: int, batches: list[int]) -> None:
    """Writes both tables and the changes, batch after batch, as Parquet files."""
    rows = facts(0, size, dims, 1)
    pyarrow.parquet.write_table(rows, place / "fact.parquet", row_group_size=250_000)
    categories = numpy.random.default_rng(0).integers(0, dims // 10, dims)
    known = {"id": pyarrow.array(numpy.arange(dims)), "category": pyarrow.array(categories)}
    pyarrow.parquet.write_table(pyarrow.table(known), place / "dim.parquet")
    first = size
    for number, changed in enumerate(batches):
        quarter = changed // 4
        gone = rows.slice(0, 2 * quarter)
        amounts = numpy.random.default_rng(first).integers(0, 1_000_000, quarter)
        replaced = gone.slice(0, quarter).set_column(2, "amount", pyarrow.array(amounts, pyarrow.int64()))
        inserted = facts(first, first + quarter, dims, first + 1)
        parts = [
            part.append_column("_change_type", pyarrow.array([kind] * part.num_rows))
            for part, kind in ((gone, "delete"), (replaced, "insert"), (inserted, "insert"))
        ]
        whole = pyarrow.concat_tables(parts)
        pyarrow.parquet.write_table(whole, place / f"changes{number}.parquet", row_group_size=100_000)
        rows = pyarrow.concat_tables([rows.slice(2 * quarter), replaced, inserted]).combine_chunks()
        first += quarter


def recompute(spark: Any, place: Path) -> Any:
    """Returns a function that lets Spark compute and write the result."""
    spark.read.parquet(str(place / "fact.parquet")).createOrReplaceTempView("fact")
    spark.read.parquet(str(place / "dim.parquet")).createOrReplaceTempView("dim")
    return lambda: spark.sql(QUERY).write.mode("overwrite").parquet(str(place / "recomputed"))


def take_in(spark: Any, place: Path, path: str) -> Any:
    """Returns a function that lets Spark write the table with a change in it."""

    def write() -> None:
        changes = spark.read.parquet(path)
        deleted = changes.where("_change_type = 'delete'").select("id")
        inserted = changes.where("_change_type = 'insert'").drop("_change_type")
        kept = spark.read.parquet(str(place / "fact.parquet")).join(deleted, "id", "left_anti")
        kept.unionByName(inserted).write.mode("overwrite").parquet(str(place / "taken_in"))

    return write


@dataclass
class Bench:
    """One session with its files, and the table that is filled."""

    spark: Any
    place: Path
    size: int
    dims: int
    table: Table = field(default_factory=lambda: Table("", list(COLUMNS)))

    def write_files(self, batches: list[int]) -> None:
        writer = multiprocessing.get_context("spawn").Process(
            target=write_files, args=(self.place, self.size, self.dims, batches)
        )
        writer.start()
        writer.join()
        if writer.exitcode:
            raise SystemExit("the files of the batches could not be written")

    def note(
        self, step: str, rows: int | None, t: Timing, own: Timing | None, taken: Timing | None = None
    ) -> None:
        each = t.processor / rows * 1e6 if rows else None
        beside = (
            [None] * 4
            if own is None
            else [own.processor, t.processor / own.processor, own.clock, t.clock / own.clock]
        )
        both = None if own is None or taken is None else t.processor / (own.processor + taken.processor)
        beside += [None if taken is None else taken.processor, both]
        row = [step, rows, t.processor, t.clock, t.intake, t.program, each, *beside, t.how, *peak_memory()]
        self.table.rows.append(row)
        print(*row, flush=True)

    def apply(self, db: Any, name: str, path: str, insert: bool = False) -> Timing:
        from pyspark.sql import functions as F

        frame = self.spark.read.parquet(path)
        frame = frame.withColumn("_change_type", F.lit("insert")) if insert else frame
        reset_peaks()
        return timed(lambda: db.apply({name: frame}))

    def warm(self, run: Callable[[], Any], times: int) -> Timing:
        """The medians of some runs, after as many as do not count."""
        return median_of([timed(run) for _ in range(WARM + times)][WARM:])


def run(quick: bool) -> Result:
    """In local mode."""
    spark = session("3g")
    try:
        return measure(quick, spark, "scale", "Spark in local mode with two cores")
    finally:
        spark.stop()


def run_cluster(quick: bool) -> Result:
    """On a standalone cluster of two workers with a core each; then with an executor killed in the middle of each batch."""
    from tests.loopback import free_port
    from tests.spark.on_cluster import cluster_session, dying_executor, two_workers

    folder = Path(tempfile.mkdtemp(prefix="evercurrent-cluster-"))
    try:
        with two_workers(folder, "4g") as address:
            port = free_port()
            spark = cluster_session(address, port, "3g")

            @contextmanager
            def killing(killed: list[int]) -> Iterator[None]:
                with dying_executor(spark, port, killed):
                    yield

            where = (
                "a standalone cluster of Spark on one machine: a master, two workers with one core each, the driver beside them. In the last "
                "batches an executor is killed while tasks run, so that its worker starts another one"
            )
            return measure(quick, spark, "cluster", where, killing)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(quick: bool, spark: Any, name: str, where: str, killing: Any = None) -> Result:
    size, sizes = (1_000_000, SIZES[1:3]) if quick else (5_000_000, SIZES)
    last = LAST // 5 if quick else LAST
    batches = [rows for rows in sizes for _ in range(WARM + REPEATS)]
    batches += [sizes[-1]] * (KILLS if killing else 0) + [last]
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-"))
    bench = Bench(spark, place, size, size // 50)
    bench.table.title = f"Intake, creation and batches over {size:,} rows"
    about = ABOUT.format(where=where, repeats=REPEATS, warm=WARM)
    try:
        bench.write_files(batches)
        files = (str(place / f"changes{i}.parquet") for i in range(len(batches)))
        again = recompute(spark, place)
        own = bench.warm(again, REPEATS)
        db = ec.connect(spark=spark, path=place / "w")
        db.execute("CREATE TABLE dim (id BIGINT PRIMARY KEY, category BIGINT NOT NULL)")
        db.execute(
            "CREATE TABLE fact (id BIGINT PRIMARY KEY, dim BIGINT NOT NULL REFERENCES dim (id), amount BIGINT NOT NULL)"
        )
        bench.apply(db, "dim", str(place / "dim.parquet"), True)
        load = bench.apply(db, "fact", str(place / "fact.parquet"), True)
        bench.note("load", size, load, None)
        bench.note("create the view", None, timed(lambda: db.execute(f"CREATE VIEW v AS {QUERY}")), own)
        for rows in sizes:
            paths = [next(files) for _ in range(WARM + REPEATS)]
            cost = median_of([bench.apply(db, "fact", path) for path in paths][WARM:])
            own = bench.warm(again, REPEATS)  # in turns with the batches
            bench.note("batch", rows, cost, own, bench.warm(take_in(spark, place, paths[-1]), REPEATS))
        if killing:
            with_kills(bench, db, killing, files, sizes[-1], own)
        path = next(files)
        bench.note("batch", last, bench.apply(db, "fact", path), own, timed(take_in(spark, place, path)))
        if not db.verify(["v"]):
            raise SystemExit("the view is not what Spark computes, so there is no figure for it")
        tables = [bench.table] if killing else [bench.table, paper(sizes[-1], cost, size, own)]
        return Result(name, about, tables, machine(), quick)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def with_kills(bench: Bench, db: Any, killing: Any, files: Iterator[str], rows: int, own: Timing) -> None:
    """Batches in which an executor dies: what they take, and that nothing of them is doubled or lost."""
    killed: list[int] = []
    found = []
    for _ in range(KILLS):
        with killing(killed):
            found.append(bench.apply(db, "fact", next(files)))
        if not db.verify(["v"]):
            raise SystemExit("after a killed executor the view is not what Spark computes")
    bench.note(f"batch, {len(killed)} of {KILLS} with an executor killed", rows, median_of(found), own)


def paper(rows: int, cost: Timing, size: int, own: Timing) -> Table:
    """The calculation for a cluster that nobody here has, from the unit costs of the largest batch."""
    assert cost.intake is not None and cost.program is not None
    share = cost.intake / (cost.intake + cost.program)
    each = cost.processor / rows * 1e6
    changed, cores, old_rows = 100e6, 200, 46e9
    intake, rules = each * share, each * (1 - share)
    parts = [
        [
            "intake: sorted, validated, written",
            f"{intake:.1f} us a row, measured, split by the clock",
            "100 million rows",
            changed * intake / 1e6 / cores,
        ],
        [
            "rules and sums over columns",
            f"{rules:.1f} us a row, measured, split by the clock",
            "100 million rows",
            changed * rules / 1e6 / cores,
        ],
        [
            "pages of mapped copies",
            "1 GB/s for each executor, assumed",
            "1 TB: so many keys touch every page",
            20.0,
        ],
        ["merging: 400 pieces in 100 ranges", "1 ms for each footer, assumed", "40,000 footers", 0.2],
        ["jobs", "0.5 s each, assumed", "10 waves and merges", 5.0],
    ]
    scan = own.processor / size * 1e6
    together, whole = sum(p[3] for p in parts), old_rows * scan / 1e6 / cores
    return Table(
        "On paper: 1 TB of state, 50 executors of 4 cores, 100 million changed rows, keys spread over all of the state",
        ["part", "unit cost", "amount", "seconds on 200 cores"],
        parts,
        [
            f"Together about {together:.0f} seconds. Recomputing scans about 46 thousand million rows of 22 bytes, at {scan:.2f} us a row "
            f"(measured, warm) {whole:.0f} seconds.",
            "The weakest assumption is the third: that mapped copies lie on disks as near and as quick as that. In an object store there are "
            "none, and whole row groups are read instead. Nothing was measured beyond 5 million rows on two cores: that costs a row stay the "
            "same at 10,000 times the size is taken from the design (files are found by key ranges, tasks share nothing), not from a run.",
            "The driver holds ranges and digests of about 24,000 files, some megabytes, and no rows.",
        ],
    )
