"""Batches beyond the driver's limit: a join with an aggregate over millions of rows, by the driver, by tasks and by jobs.

Intake, fill and batches end to end beside what Spark takes to compute the same query from its files and to write the result, in one
session. The peak of the driver's Python process is that of the operating system, so it never falls from one row to the next.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

import evercurrent as ec
from bench.measure import machine
from bench.report import Result, Table
from bench.spark_data import session

ABOUT = (
    "`SELECT d.category, sum(f.amount), count(*) FROM fact f JOIN dim d ON f.dim = d.id GROUP BY d.category` over tables with "
    "primary keys and a reference, Spark in local mode with two cores. A quarter of a batch deletes rows, a quarter inserts them again "
    "with another amount, half inserts new rows. Recomputing reads Parquet files of the tables and writes the result; it does not "
    "take in the change. Times by the clock; after all batches the view was compared with Spark's own answer, and equal."
)
QUERY = (
    "SELECT d.category, sum(f.amount) AS total, count(*) AS n FROM fact f JOIN dim d ON f.dim = d.id "
    "GROUP BY d.category"
)


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


def batch(place: Path, base: pyarrow.Table, rows: int, new: int, gone: int, dims: int) -> str:
    """A file of changes: rows from `gone` on are replaced, those from `new` on inserted."""
    quarter = rows // 4
    old = base.slice(gone, quarter)
    amounts = numpy.random.default_rng(new).integers(0, 1_000_000, quarter)
    replaced = old.set_column(2, "amount", pyarrow.array(amounts, pyarrow.int64()))
    inserted = facts(new, new + rows - 2 * quarter, dims, new + 1)
    kinds = ("delete", "insert", "insert")
    parts = [
        part.append_column("_change_type", pyarrow.array([kind] * part.num_rows))
        for part, kind in zip((old, replaced, inserted), kinds, strict=True)
    ]
    path = place / f"changes{new}.parquet"
    pyarrow.parquet.write_table(pyarrow.concat_tables(parts), path, row_group_size=100_000)
    return str(path)


def recomputed(spark: Any, place: Path, fact: Any) -> float:
    """Seconds that Spark takes to compute and write the result, the second time."""
    fact.createOrReplaceTempView("fact")
    spark.read.parquet(str(place / "dim.parquet")).createOrReplaceTempView("dim")
    for _ in range(2):
        begin = time.perf_counter()
        spark.sql(QUERY).write.mode("overwrite").parquet(str(place / "recomputed"))
        seconds = time.perf_counter() - begin
    return seconds


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(quick: bool) -> Result:
    from pyspark.sql import functions as F

    size, batches = (1_000_000, (400_000, 600_000)) if quick else (5_000_000, (400_000, 600_000, 2_000_000))
    dims = size // 50
    spark = session("4g")
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-"))
    table = Table(
        f"A join with an aggregate over {size:,} rows",
        [
            "step",
            "rows",
            "s",
            "of it: intake and constraints",
            "program",
            "recompute, s",
            "ratio",
            "run by",
            "peak of the driver, MB",
        ],
    )
    result = Result("large", ABOUT, [table], machine(), quick)
    try:
        draw = numpy.random.default_rng(0)
        base = facts(0, size, dims, 1)
        pyarrow.parquet.write_table(base, place / "fact.parquet", row_group_size=250_000)
        categories = pyarrow.array(draw.integers(0, dims // 10, dims), pyarrow.int64())
        known = pyarrow.table(
            {"id": pyarrow.array(numpy.arange(dims), pyarrow.int64()), "category": categories}
        )
        pyarrow.parquet.write_table(known, place / "dim.parquet")
        own = recomputed(spark, place, spark.read.parquet(str(place / "fact.parquet")))
        db = ec.connect(spark=spark, path=place / "w")
        db.execute("CREATE TABLE dim (id BIGINT PRIMARY KEY, category BIGINT NOT NULL)")
        db.execute(
            "CREATE TABLE fact (id BIGINT PRIMARY KEY, dim BIGINT NOT NULL REFERENCES dim (id), amount BIGINT NOT NULL)"
        )

        def applied(step: str, name: str, path: str, insert: bool = False) -> None:
            frame = spark.read.parquet(path)
            frame = frame.withColumn("_change_type", F.lit("insert")) if insert else frame
            begin = time.perf_counter()
            made = db.apply({name: frame})
            seconds = time.perf_counter() - begin
            taken = made.steps.get("intake", 0.0) + made.steps.get("constraints", 0.0)
            how = made.notes[0].removeprefix("updated by ").partition(":")[0] if made.notes else ""
            again = own if how else None
            table.rows.append(
                [
                    step,
                    sum(made.rows_in.values()),
                    seconds,
                    taken,
                    made.steps.get("program"),
                    again,
                    seconds / own if how else None,
                    how,
                    peak(),
                ]
            )
            print(*table.rows[-1], flush=True)

        applied("load dim", "dim", str(place / "dim.parquet"), True)
        applied("load fact", "fact", str(place / "fact.parquet"), True)
        begin = time.perf_counter()
        db.execute(f"CREATE VIEW v AS {QUERY}")
        seconds = time.perf_counter() - begin
        table.rows.append(["create the view", size, seconds, None, None, own, seconds / own, "", peak()])
        print(*table.rows[-1], flush=True)
        new, gone = size, 0
        for rows in batches:
            applied("batch", "fact", batch(place, base, rows, new, gone, dims))
            new, gone = new + rows, gone + rows // 4
        if not quick:
            db._core.engine.strategy = "spark"
            applied("batch, by jobs", "fact", batch(place, base, batches[1], new, gone, dims))
        if not db.verify(["v"]):
            raise SystemExit("the view is not what Spark computes, so there is no figure for it")
        return result
    finally:
        shutil.rmtree(place, ignore_errors=True)
        spark.stop()
