"""What a long run on Spark is doing, while it runs: the stage, and the tasks of Spark.

    progress.stage("checking constraints")       checking constraints, 3 of 8 tasks

Spark shows its jobs under the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from evercurrent.engine.spark.doors.door import Door, door_of
from evercurrent.engine.spark.failures import translate_errors
from evercurrent.progress import PATIENCE, PERIOD, Listener
from evercurrent.progress import Progress as Stages

__all__ = ["PATIENCE", "PERIOD", "Listener", "Progress", "list_names"]


class Progress(Stages):
    """The present stage of a warehouse's run."""

    def __init__(self, session: Any, listener: Listener | bool | None = None) -> None:
        super().__init__(listener)
        self.door: Door | None = None if session is None else door_of(session)

    @property
    def jobs(self) -> int:
        """How many jobs of Spark the present run has taken so far."""
        return 0 if self.door is None else self.door.count_jobs()

    def stage(self, text: str) -> None:
        """Say what is done from here on; jobs of Spark are described so, too."""
        super().stage(text)
        if self.door is not None and self.running:
            self.door.describe(text)

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run, in which jobs are counted and errors of Spark become ours; one inside another is part of it."""
        if self.running:
            yield
            return
        if self.door is None:
            with translate_errors(), super().run():
                yield
            return
        with translate_errors(), super().run(), self.door.guard():
            self.door.begin_counting()
            try:
                yield
            finally:
                self.door.end_counting()

    def detail(self) -> str:
        found = None if self.door is None else self.door.tasks()
        return f", {found[0]} of {found[1]} tasks" if found is not None else ""


def list_names(names: Iterable[str]) -> str:
    """A few names.

    >>> list_names(["a", "b"]), list_names("abcdef")
    ('a, b', 'a, b, c and 3 more')
    """
    listed = list(names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more
