"""`evercurrent run spark-pipeline.yml`: a declarative pipeline of Spark, and what is shown of its run.

>>> names_of(["spend, orders", "customers"])      # --refresh "spend, orders" --refresh customers
('spend', 'orders', 'customers')
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evercurrent.engine.spark.declarative.session import pipeline_session
from evercurrent.errors import QueryError
from evercurrent.pipelines.preparation import Options
from evercurrent.pipelines.records import HEADER, RIGHT, PipelineRun, row_of
from evercurrent.pipelines.run import look_ahead, run_pipeline
from evercurrent.pipelines.spec import find_spec, read_spec


def run_declarative(options: argparse.Namespace, console: Console) -> int:
    from evercurrent.cli.main import FINE, pairs_of

    file = options.pipeline
    if file is not None and not file.is_file():
        raise QueryError(f"there is no file {file}")
    spec = read_spec(file or find_spec(Path.cwd()))
    wanted = Options(
        warehouse=options.warehouse,
        policy=options.policy,
        refresh=names_of(options.refresh),
        full_refresh=names_of(options.full_refresh),
        full_refresh_all=options.full_refresh_all,
        dry=options.dry_run,
        wait=options.wait,
        batch=options.batch,
    )
    quiet = Console(quiet=True) if options.json else console
    record = look_ahead(spec, wanted)
    if record is None:
        with quiet.status("starting Spark"):
            spark = pipeline_session(
                options.master or "local[*]", {**spec.configuration, **pairs_of(options.conf)}
            )
        with quiet.status(f"running {spec.name}"):
            record = run_pipeline(spark, spec, wanted)
    if options.json:
        print(json.dumps(record.to_json()))
    else:
        show(record, console)
    return FINE


def names_of(values: Iterable[str]) -> tuple[str, ...]:
    """Names from options that are repeated, or separated by commas."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def show(record: PipelineRun, console: Console) -> None:
    if record.repeated:
        console.print(
            Text(
                f"{record.pipeline}: the run {record.batch!r} has been completed already; nothing was changed"
            )
        )
        return
    version = "" if record.version is None else f", version {record.version}"
    console.print(Text(f"{record.pipeline}: {record.state} in {record.seconds:.2f} s{version}"))
    for note in record.notes:
        console.print(Text(f"  {note}"))
    table = Table()
    for title, right in zip(HEADER, RIGHT, strict=True):
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for one in record.datasets:
        table.add_row(*map(Text, row_of(one)))
    console.print(table)
