"""A medallion pipeline over many rows, by both runners: what a run costs as the data grow, and the batch does not.

    python -m tests.pipelines.campaign.scale [--sizes 1000000,4000000] [--batch 5000] [--batches 3]

Sources get new files with each batch. Tables are compared by their number of rows and a sum of hashes, both computed by Spark. Beside
the seconds of a run there are the seconds of processors that its driver, JVM and workers took, which say more on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from evercurrent.pipelines.preparation import Options
from evercurrent.pipelines.run import run_pipeline
from evercurrent.pipelines.spec import read_spec
from tests.pipelines.campaign.spark_runner import SparkRunner
from tests.pipelines.project import SPEC

FILES = {
    "bronze.sql": """
        CREATE MATERIALIZED VIEW bronze AS SELECT id, customer, product, cents, day FROM raw_sales WHERE cents IS NOT NULL;
    """,
    "silver.sql": """
        CREATE MATERIALIZED VIEW silver AS
        SELECT s.id, s.customer, c.country, s.product, s.cents, s.day
        FROM bronze s JOIN raw_buyers c ON s.customer = c.customer WHERE s.cents > 0;
    """,
    "gold.sql": """
        CREATE MATERIALIZED VIEW gold_days AS
        SELECT day, country, count(*) AS sales, sum(cents) AS cents, max(cents) AS best FROM silver GROUP BY day, country;
        CREATE MATERIALIZED VIEW gold_buyers AS
        SELECT customer, count(*) AS sales, sum(cents) AS cents FROM silver GROUP BY customer;
        CREATE MATERIALIZED VIEW gold_top AS
        SELECT country, product, cents, place FROM (
            SELECT country, product, cents, rank() OVER (PARTITION BY country ORDER BY cents DESC, product) AS place
            FROM (SELECT country, product, sum(cents) AS cents FROM silver GROUP BY country, product)
        ) WHERE place <= 10;
    """,
}
TABLES = ("bronze", "silver", "gold_days", "gold_buyers", "gold_top")
SOURCES = {
    "raw_sales": "id BIGINT, customer INT, product INT, cents BIGINT, day DATE",
    "raw_buyers": "customer INT, country STRING",
}
COUNTRIES = numpy.array(["FR", "DE", "ES", "IT", "PL", "SE", "PT", "AT"])
BUYERS = 50_000


class Sales:
    """The folders of the sources; `write` adds a file of sales."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.written, self.chance = folder, 0, numpy.random.default_rng(7)
        for name in SOURCES:
            (folder / name).mkdir(parents=True)
        buyers = numpy.arange(BUYERS, dtype=numpy.int32)
        table = pyarrow.table({"customer": buyers, "country": self.chance.choice(COUNTRIES, BUYERS)})
        pyarrow.parquet.write_table(table, folder / "raw_buyers" / "0.parquet")

    def write(self, rows: int) -> None:
        begin, chance = self.written, self.chance
        table = pyarrow.table(
            {
                "id": numpy.arange(begin, begin + rows),
                "customer": chance.integers(0, BUYERS, rows, dtype=numpy.int32),
                "product": chance.integers(0, 500, rows, dtype=numpy.int32),
                "cents": chance.integers(-50, 20_000, rows),
                "day": pyarrow.array(chance.integers(20_000, 20_365, rows, dtype=numpy.int32)).cast(
                    pyarrow.date32()
                ),
            }
        )
        pyarrow.parquet.write_table(table, self.folder / "raw_sales" / f"{begin:012}.parquet")
        self.written += rows


def write_project(folder: Path, name: str) -> Path:
    for path, text in FILES.items():
        file = folder / "transformations" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    spec = folder / "spark-pipeline.yml"
    spec.write_text(SPEC.format(name=name, folder=folder))
    return spec


def declare(sql: Any, name: str, folder: Path, sources: Path) -> None:
    sql(f"CREATE DATABASE {name} LOCATION '{folder}/tables'")
    for table, columns in SOURCES.items():
        sql(f"CREATE TABLE {name}.{table} ({columns}) USING parquet LOCATION '{sources}/{table}'")


def processor_seconds(root: int, without: int | None = None) -> dict[int, float]:
    """The processor time of a process and of each of its descendants, but for one of them and what descends from it."""
    parents, spent = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().rpartition(")")
        except OSError:
            continue  # it has ended
        fields = rest.split()
        pid = int(name.split()[0])
        parents[pid], spent[pid] = int(fields[1]), sum(int(f) for f in fields[11:13])

    def belongs(pid: int | None) -> bool:
        while pid is not None and pid != without:
            if pid == root:
                return True
            pid = parents.get(pid)
        return False

    return {pid: spent[pid] / os.sysconf("SC_CLK_TCK") for pid in spent if belongs(pid)}


def spent_between(before: Mapping[int, float], after: Mapping[int, float]) -> float:
    """What processes have spent; a process that has ended meanwhile is left out.

    >>> spent_between({1: 2.0, 2: 7.0}, {1: 2.5, 3: 1.0})
    1.5
    """
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def measure_size(
    spark: Any, runner: SparkRunner, folder: Path, rows: int, batch: int, batches: int
) -> list[str]:
    """Runs the pipeline by both after each batch; returns a line for each run."""
    name = f"scale_{rows}"
    sales = Sales(folder / "sources")
    sales.write(rows)
    ours, theirs = write_project(folder / "ours", name), write_project(folder / "theirs", name)
    declare(spark.sql, name, folder / "ours", folder / "sources")
    declare(lambda text: runner.ask(sql=text), name, folder / "theirs", folder / "sources")
    lines = []
    for number in range(batches + 1):
        if number:
            sales.write(batch)
            for table in SOURCES:
                spark.sql(f"REFRESH TABLE {name}.{table}")
                runner.ask(sql=f"REFRESH TABLE {name}.{table}")
        worker = runner.process.pid
        before = processor_seconds(worker)
        their_seconds = runner.ask(run=str(theirs))["seconds"]
        their_work = spent_between(before, processor_seconds(worker))
        before, begin = processor_seconds(os.getpid(), worker), time.perf_counter()
        record = run_pipeline(spark, read_spec(ours), Options())
        our_seconds = time.perf_counter() - begin
        our_work = spent_between(before, processor_seconds(os.getpid(), worker))
        require_same(spark, runner, name)
        what = "first run" if not number else f"batch {number} of {batch:,}"
        times = f"{their_seconds:.1f} | {our_seconds:.1f} | {their_work:.1f} | {our_work:.1f}"
        lines.append(f"| {rows:,} | {what} | {times} |")
        steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in record.steps.items())
        print(lines[-1], steps, flush=True)
    spark.catalog.setCurrentDatabase("default")
    return lines


def require_same(spark: Any, runner: SparkRunner, name: str) -> None:
    for table in TABLES:
        spark.catalog.refreshTable(f"{name}.{table}")
        text = f"SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38,0))) FROM {name}.{table}"
        mine = tuple(map(str, spark.sql(text).collect()[0]))
        other = tuple(runner.ask(sql=text)["rows"][0])
        assert mine == other and mine[0] != "0", f"{table}: {mine}, Spark's {other}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000000,4000000")
    parser.add_argument("--batch", type=int, default=5_000)
    parser.add_argument("--batches", type=int, default=3)
    options = parser.parse_args()
    from tests.spark_session import small_session

    spark = small_session("scale")
    lines = [
        "| sales | run | Spark, s | evercurrent, s | Spark, processor s | evercurrent, processor s |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        runner = SparkRunner(Path(folder) / "runner")
        try:
            for size in options.sizes.split(","):
                place = Path(folder) / size
                lines += measure_size(spark, runner, place, int(size), options.batch, options.batches)
        finally:
            runner.close()
    spark.stop()
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
