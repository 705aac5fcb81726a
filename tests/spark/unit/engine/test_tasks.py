"""Random plans over partitions: rules and functions of groups by tasks, here in this process, as executors run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.tasks.transaction import TaskTransaction, serves
from tests.spark.unit.engine.following import follow
from tests.spark.unit.engine.sent_tasks import SentTasks


@pytest.mark.parametrize("columnar", [True, False])
@pytest.mark.parametrize("seed", [*range(12), 109, 111])
def test_states_follow_random_plans(tmp_path: Path, seed: int, columnar: bool) -> None:
    """Odd seeds: a few rows are worked on where they are, so that both ways are taken in one transaction."""

    def execute(program, folder, stores, segments, beginning) -> Outcome:  # type: ignore[no-untyped-def]
        folder.orders |= orders(program)
        reader = EntryReader(folder)
        reader.allow(1_000_000)
        if beginning or not serves(program):
            return DriverTransaction(program, folder, reader, stores, beginning=beginning).execute(segments)
        runner = SentTasks(reader, None, 2)
        return TaskTransaction(
            program, runner, stores, here_rows=3 * (seed % 2), slice_rows=2, columnar=columnar
        ).execute(segments)

    follow(tmp_path, seed, 3, execute)
