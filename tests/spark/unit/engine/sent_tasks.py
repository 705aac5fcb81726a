"""Tasks in this process, from what would be sent to executors."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from evercurrent.engine.spark.tasks.access import Access
from evercurrent.engine.spark.tasks.runner import Runner, attempt, dumps


def run_sent(runner: Runner, function: Any, items: Sequence[Any], access: Access) -> list[Any]:
    """As `Runner.run`; every task runs twice, as one that is repeated would."""
    runner.jobs += 1
    result = []
    for item in items:
        for _ in range(2):
            value, files, _ = attempt(*pickle.loads(dumps((function, access, item))))
        if isinstance(value, Exception):
            raise value
        runner.note(files)
        result.append(value)
    return result


class SentTasks(Runner):
    run = run_sent
