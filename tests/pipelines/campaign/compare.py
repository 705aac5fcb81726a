"""Both runners, batch by batch: same rows, and the times.

    python -m tests.pipelines.campaign.compare [--rows 200] [--batches 4] [--only medallion_sql,joins]

The last table has, for each project, the seconds of a run by Spark's own runner and by ours, without starting Spark: the first
run, and the mean of the later ones.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from evercurrent.pipelines.preparation import Options
from evercurrent.pipelines.records import PipelineRun
from evercurrent.pipelines.run import run_pipeline
from evercurrent.pipelines.spec import read_spec
from tests.pipelines.campaign.data import Lake, declare
from tests.pipelines.campaign.projects import PROJECTS, files_of
from tests.pipelines.campaign.spark_runner import SparkRunner
from tests.pipelines.project import SPEC

FRESH = {"medallion_python", "deduplication"}
"""Projects whose tables are dropped before Spark's own runner runs them again. Spark 4.3 analyses their views before it truncates the
tables under them, and then finds no rows or no files; its first run over the same sources is right."""


class Side:
    """A project in the database of one runner."""

    def __init__(self, folder: Path, name: str, lake: Path) -> None:
        self.folder, self.name = folder, name
        files = files_of(name, str(lake), str(folder))
        spec = SPEC.format(name=name, folder=folder)
        for path, text in {**files, "spark-pipeline.yml": spec}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("\n".join(line for line in text.splitlines()) + "\n")

    @property
    def spec(self) -> Path:
        return self.folder / "spark-pipeline.yml"


def compare_project(
    spark: Any,
    runner: SparkRunner,
    folder: Path,
    name: str,
    batches: int,
    rows: int,
    batch_rows: int | None = None,
    append_only: bool = False,
) -> tuple[list[float], list[float], PipelineRun]:
    """Runs a project by both runners after each batch; raises if a table differs. Returns the seconds and our last record."""
    lake = Lake(folder / "lake", rows, append_only=append_only)
    ours, theirs = Side(folder / "ours", name, lake.folder), Side(folder / "theirs", name, lake.folder)
    begin_ours(spark, ours, lake.folder)
    runner.ask(sql=f"CREATE DATABASE {name} LOCATION '{theirs.folder}/tables'")
    declare(lambda text: runner.ask(sql=text), name, lake.folder)
    our_seconds, their_seconds = [], []
    record = None
    for number in range(batches):
        lake.batch(batch_rows if number else None)
        for table in ("raw_orders", "raw_customers", "raw_events"):
            spark.sql(f"REFRESH TABLE {name}.{table}")
        if name in FRESH and record is not None:
            for line in record.datasets:
                runner.ask(sql=f"DROP TABLE IF EXISTS {line.dataset}")
        their_seconds.append(runner.ask(run=str(theirs.spec))["seconds"])
        begin = time.perf_counter()
        record = run_pipeline(spark, read_spec(ours.spec), Options())
        our_seconds.append(time.perf_counter() - begin)
        for line in record.datasets:
            if line.kind in ("materialized view", "streaming table"):
                differences(spark, runner, line.dataset, f"{name}, batch {number}")
        same_sinks(spark, ours, theirs)
    assert record is not None
    spark.catalog.setCurrentDatabase("default")
    return our_seconds, their_seconds, record


def begin_ours(spark: Any, side: Side, lake: Path) -> None:
    spark.sql(f"CREATE DATABASE {side.name} LOCATION '{side.folder}/tables'")
    declare(spark.sql, side.name, lake)


def differences(spark: Any, runner: SparkRunner, table: str, where: str) -> None:
    spark.catalog.refreshTable(table)
    ours = Counter(tuple(map(str, row)) for row in spark.table(table).collect())
    theirs = Counter(tuple(row) for row in runner.ask(sql=f"SELECT * FROM {table}")["rows"])
    assert ours == theirs, (
        f"{where}: {table}: only ours {list(ours - theirs)[:5]}, only Spark's {list(theirs - ours)[:5]}"
    )
    mine = [tuple(map(str, row)) for row in spark.sql(f"DESCRIBE TABLE {table}").collect()]
    other = [tuple(row) for row in runner.ask(sql=f"DESCRIBE TABLE {table}")["rows"]]
    other = [tuple(cell.replace(" collate UTF8_BINARY", "") for cell in row) for row in other]
    assert mine == other, f"{where}: {table}: columns {mine}, Spark's {other}"


def same_sinks(spark: Any, ours: Side, theirs: Side) -> None:
    for folder in ours.folder.glob("exported"):
        read = [
            Counter(map(tuple, spark.read.parquet(str(s.folder / folder.name)).collect()))
            for s in (ours, theirs)
        ]
        assert read[0] == read[1], f"the sink {folder.name} differs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--batch-rows", type=int)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--append-only", action="store_true", help="later batches only add files")
    parser.add_argument("--only", default=",".join(PROJECTS))
    options = parser.parse_args()
    from tests.spark_session import small_session

    spark = small_session("pipelines")
    failed = []
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        runner = SparkRunner(Path(folder) / "runner")
        try:
            for name in options.only.split(","):
                try:
                    ours, theirs, record = compare_project(
                        spark,
                        runner,
                        Path(folder) / name,
                        name,
                        options.batches,
                        options.rows,
                        options.batch_rows,
                        options.append_only,
                    )
                except Exception as problem:
                    failed.append(name)
                    print(f"{name}: DIFFERS: {type(problem).__name__}: {str(problem)[:1500]}", flush=True)
                    continue
                ways = Counter(d.way for d in record.datasets if d.kind == "materialized view")
                lines.append(line_of(name, ours, theirs, ways))
                print(lines[-1], flush=True)
        finally:
            runner.close()
    spark.stop()
    print(
        "\n".join(
            [
                "| project | first, Spark | first, ours | later, Spark | later, ours | last run |",
                "| --- | ---: | ---: | ---: | ---: | --- |",
                *lines,
            ]
        )
    )
    print(f"{len(lines)} projects agree, {len(failed)} do not: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def line_of(name: str, ours: list[float], theirs: list[float], ways: Counter[str]) -> str:
    later = [f"{sum(s[1:]) / max(1, len(s) - 1):.2f} s" for s in (theirs, ours)]
    said = ", ".join(f"{n} {way}" for way, n in ways.items())
    return f"| {name} | {theirs[0]:.2f} s | {ours[0]:.2f} s | {later[0]} | {later[1]} | {said} |"


if __name__ == "__main__":
    sys.exit(main())
