"""A run of a pipeline, from the spec to the record, one at a time, with its events.

    run_pipeline(spark, read_spec("spark-pipeline.yml"), Options())                   a `PipelineRun`, state "completed"
    run_pipeline(spark, spec, Options(dry=True))                                      state "planned"; nothing has changed
    run_pipeline(spark, spec, Options(batch="2026-01-31")), for the second time       repeated; nothing has changed

A run that fails raises its error, with the record so far as `error.record`.
"""

from __future__ import annotations

import json
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evercurrent.engine.spark.declarative.definitions import show
from evercurrent.engine.spark.declarative.leaves import source_name
from evercurrent.errors import EvercurrentError
from evercurrent.pipelines.lineage import Dataset, Events, view_lineage
from evercurrent.pipelines.preparation import Options, Plan, Run, prepare
from evercurrent.pipelines.records import PipelineRun
from evercurrent.pipelines.run_lock import run_lock
from evercurrent.pipelines.spec import Spec
from evercurrent.pipelines.stages import perform


def run_pipeline(spark: Any, spec: Spec, options: Options) -> PipelineRun:
    """Runs a pipeline once; returns the record, with the error in it if it failed."""
    begin = time.perf_counter()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    record = PipelineRun(spec.name, str(uuid.uuid4()), started=started, batch=options.batch)
    run = Run(spark, spec, options, record)
    folder = Path(options.warehouse or spec.warehouse) / "pipeline"
    try:
        if options.dry:
            prepare(run)
            record.state = "planned"
            return record
        with run_lock(folder, options.wait):
            if options.batch is not None and is_completed(folder, options.batch):
                record.repeated = True
                return record
            perform_with_events(run)
            note_completed(folder, record)
        return record
    except EvercurrentError as problem:
        problem.record = record  # type: ignore[attr-defined]
        raise
    finally:
        record.seconds = time.perf_counter() - begin


def look_ahead(spec: Spec, options: Options) -> PipelineRun | None:
    """Returns what is known of a run before Spark is started: its record, if a run of its name was completed.

    Raises `RunActive` if another run is active, after waiting for it as long as the options say.
    """
    if options.dry:
        return None
    folder = Path(options.warehouse or spec.warehouse) / "pipeline"
    with run_lock(folder, options.wait):
        if options.batch is None or not is_completed(folder, options.batch):
            return None
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return PipelineRun(spec.name, str(uuid.uuid4()), started=started, batch=options.batch, repeated=True)


def perform_with_events(run: Run) -> None:
    """The run itself, with events of its beginning and end where OpenLineage is configured."""
    events = Events(run.spec.name, run.record.run)
    events.start()
    try:
        plan = prepare(run)
        perform(run, plan)
    except Exception as problem:
        events.end([], str(problem))
        raise
    events.end(describe_datasets(run, plan) if events.client is not None else [], None)
    run.record.notes.extend(events.problems)


def describe_datasets(run: Run, plan: Plan) -> list[Dataset]:
    """What events say of the datasets that a run wrote: names of the catalog, and where columns come from."""
    assert run.db is not None
    catalog = run.db._core.catalog
    names = {source_name(n, run.home): show(n) for n in plan.resolver.order}
    found = []
    for name, line in plan.lines.items():
        if line.way in ("not selected", "read as its query"):
            continue
        output, captured = run.definitions.outputs[name], plan.capturing.captured.get(name)
        queries = plan.resolver.queries[name]
        columns = (
            {}
            if not queries
            else {f.name: f.dataType.simpleString() for f in plan.resolver.schema_of(output).fields}
        )
        read = {show(i) for q in queries for i in q.inputs}
        lineage: dict[str, list[tuple[str, str]]] = {}
        if captured is not None:
            tables_of = {i.name: i.place for i in captured.inputs}
            named = {**names, **tables_of}
            lineage = {
                column: [(named.get(table, table), field) for table, field in origins]
                for column, origins in view_lineage(catalog, captured.view).items()
            }
            read |= set(tables_of.values())
        found.append(Dataset(show(name), columns, tuple(sorted(read)), lineage))
    return found


def is_completed(folder: Path, batch: str) -> bool:
    """Whether a run of this name has been completed."""
    path = folder / "completed.json"
    return path.is_file() and batch in json.loads(path.read_text())


def note_completed(folder: Path, record: PipelineRun) -> None:
    """Remembers the names of the last thousand named runs."""
    if record.batch is None:
        return
    path = folder / "completed.json"
    known = json.loads(path.read_text()) if path.is_file() else {}
    kept = dict(list(known.items())[-999:])
    new = path.with_suffix(".new")
    new.write_text(json.dumps({**kept, record.batch: record.started}))
    new.replace(path)
