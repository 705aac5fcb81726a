"""The conformance cases by tasks, each run in this process from what executors would be sent; no session of Spark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from evercurrent.delta.analyses.show import show
from evercurrent.delta.program import Program
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.tasks.runner import Runner
from evercurrent.engine.spark.tasks.transaction import TaskTransaction
from tests.spark.test_conformance import BY_DRIVER, called, follow
from tests.spark.unit.engine.sent_tasks import run_sent

pytestmark: list[Any] = []  # those of the module above need a session

CHOSEN = BY_DRIVER if os.environ.get("EVERCURRENT_ALL") else BY_DRIVER[::4]


@pytest.mark.parametrize("cases", CHOSEN, ids=called)
def test_by_tasks(tmp_path: Path, cases: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of two rows, nothing is worked on outside of tasks, and each task runs twice."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr(engine, "FORCED_SLICE", 2)
    monkeypatch.setattr(engine, "JobTransaction", refused)
    monkeypatch.setattr(Runner, "run", run_sent)
    follow(cast(Any, None), tmp_path / "w", cases, "tasks", 99)


def refused(program: Program, *_: object, **__: object) -> None:
    raise AssertionError(f"tasks did not serve\n{show(program)}")


@pytest.mark.parametrize("cases", CHOSEN, ids=called)
def test_over_columns_on_the_driver(tmp_path: Path, cases: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the driver processes changes of more rows than it loops over: here of any number."""
    ran: list[TaskTransaction] = []

    class Counted(TaskTransaction):
        def execute(self, inputs: Any) -> Any:
            ran.append(self)
            return super().execute(inputs)

    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr(engine, "LOOPED_ROWS", 0)
    monkeypatch.setattr(engine, "TaskTransaction", Counted)
    follow(cast(Any, None), tmp_path / "w", cases, "driver", 99)
    # Of the cases that stand alone some are recursive, and some change nothing in the end.
    assert ran or len(cases) == 1 or not cases[0].steps
    assert all(run.runner.jobs == 0 for run in ran)
