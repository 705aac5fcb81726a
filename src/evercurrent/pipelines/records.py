"""What a run of a pipeline did, dataset by dataset. Prints as a table, and is JSON for other programs.

>>> run = PipelineRun("sales", "1", datasets=[DatasetRun("spark_catalog.default.spend", "materialized view", "incremental", rows_in=2)])
>>> row_of(run.dataset("spend"))
('spark_catalog.default.spend', 'materialized view', 'incremental', '2', '0', '0.00', '')
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class DatasetRun:
    """One dataset in one run.

    `way` is incremental (updated by the delta), filled (computed when its definition was new), recomputed (by Spark, from
    scratch), streamed (by Spark's streaming), unchanged, or not selected. `reason` says why. `captured` is SQL or plan.
    """

    dataset: str
    kind: str
    way: str = "not selected"
    reason: str = ""
    captured: str = ""
    strategy: str = ""
    rows_in: int = 0
    rows_changed: int = 0
    seconds: float = 0.0


@dataclass
class PipelineRun:
    """One run; `state` is completed, failed or planned (a dry run)."""

    pipeline: str
    run: str
    state: str = "completed"
    started: str = ""
    seconds: float = 0.0
    version: int | None = None
    batch: str | None = None
    repeated: bool = False
    datasets: list[DatasetRun] = field(default_factory=list)
    steps: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    error: str | None = None

    def dataset(self, name: str) -> DatasetRun:
        """The record of a dataset, by its whole name or the last part of it."""
        return next(d for d in self.datasets if name in (d.dataset, d.dataset.rsplit(".", 1)[-1]))

    def to_json(self) -> dict[str, Any]:
        value = asdict(self)
        value["seconds"] = round(self.seconds, 3)
        value["steps"] = {name: round(seconds, 3) for name, seconds in self.steps.items()}
        for one in value["datasets"]:
            one["seconds"] = round(one["seconds"], 3)
        return value


HEADER = ("dataset", "kind", "way", "rows in", "rows changed", "seconds", "why")
RIGHT = (False, False, False, True, True, True, False)


def row_of(d: DatasetRun) -> tuple[str, ...]:
    quiet = d.way in ("not selected", "unchanged")
    numbers = ("", "", "") if quiet else (f"{d.rows_in:,}", f"{d.rows_changed:,}", f"{d.seconds:.2f}")
    return (d.dataset, d.kind, d.way, *numbers, d.reason)
