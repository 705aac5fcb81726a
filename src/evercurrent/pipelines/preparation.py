"""Everything before the first change of a run: definitions loaded, queries analysed, datasets captured, wrong ones refused.

    prepare(run)       a `Plan`: the analysed queries, what is captured, what is selected, a line of the record for each dataset

A dry run ends here: nothing has been created or written.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from evercurrent.engine.spark.declarative import tables
from evercurrent.engine.spark.declarative.definitions import Definitions, Name, Output, show
from evercurrent.engine.spark.declarative.loading import load
from evercurrent.engine.spark.declarative.resolution import Resolver
from evercurrent.errors import UnsupportedError
from evercurrent.pipelines.capture import Captured, Capturing, capture_all
from evercurrent.pipelines.records import DatasetRun, PipelineRun
from evercurrent.pipelines.selection import Selection, select
from evercurrent.pipelines.spec import Spec
from evercurrent.warehouse.database import Warehouse

Policy = Literal["auto", "incremental"]


@dataclass(frozen=True)
class Options:
    """What a user asks of a run."""

    warehouse: str | None = None
    policy: Policy = "auto"
    refresh: Collection[str] = ()
    full_refresh: Collection[str] = ()
    full_refresh_all: bool = False
    dry: bool = False
    wait: float = 0.0
    batch: str | None = None


@dataclass
class Run:
    """A run in progress."""

    spark: Any
    spec: Spec
    options: Options
    record: PipelineRun
    home: tuple[str, str] = ("", "")
    definitions: Definitions = field(default_factory=Definitions)
    db: Warehouse | None = None

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.record.steps[name] = self.record.steps.get(name, 0.0) + time.perf_counter() - begin


@dataclass
class Plan:
    resolver: Resolver
    capturing: Capturing
    selection: Selection
    lines: dict[Name, DatasetRun]


def prepare(run: Run) -> Plan:
    """Everything before the first change: wrong definitions are refused here."""
    spec, options = run.spec, run.options
    run.home = tables.home_of(run.spark, spec.catalog, spec.database)
    with run.step("load"):
        run.definitions = load(run.spark, spec.files, spec.root, run.home)
    selection = select(
        run.definitions, run.home, options.refresh, options.full_refresh, options.full_refresh_all
    )
    with run.step("resolve"):
        resolver = Resolver(run.spark, run.definitions, run.home)
        resolver.resolve_all()
    with run.step("capture"):
        capturing = capture_all(resolver)
        resolver.clear()
    if options.policy == "incremental" and capturing.reasons:
        said = "\n".join(f"  {show(n)}: {reason}" for n, reason in capturing.reasons.items())
        raise UnsupportedError(
            f"these materialized views cannot be maintained incrementally:\n{said}",
            hint="--policy auto recomputes them at every run, as Spark does",
        )
    lines = {}
    for name in resolver.order:
        output = run.definitions.outputs[name]
        captured = capturing.captured.get(name)
        line = DatasetRun(show(name), output.kind, captured="" if captured is None else captured.by)
        line.reason = capturing.reasons.get(name, "")
        if name in selection:
            line.way = describe_way(output, captured)
        lines[name] = line
        run.record.datasets.append(line)
    return Plan(resolver, capturing, selection, lines)


def describe_way(output: Output, captured: Captured | None) -> str:
    match output.kind:
        case "materialized view":
            return "recomputed" if captured is None else "incremental"
        case "streaming table" | "sink":
            return "streamed"
        case _:
            return "read as its query"
