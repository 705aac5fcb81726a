"""The methods that a database inside this process has not: each says why, and how to get a database that has it.

db.vacuum()      UnsupportedError: vacuum() needs a database on Spark: one inside this process keeps no files
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from evercurrent.statements.handles import NO_SPARK, NO_VERSIONS, refuse_in_process
from evercurrent.statements.options import MessageFormat, OnViolation
from evercurrent.statements.run_record import RunRecord

NO_FILES = "one inside this process keeps no files"


class SparkMethods:
    """The part of `Database` that only a database on Spark offers."""

    def stream(
        self,
        table: str | Mapping[str, Any],
        frame: Any = None,
        *,
        name: str | None = None,
        checkpoint: Any = None,
        once: bool = False,
        on_violation: OnViolation = "refuse",
        format: MessageFormat | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Any:
        """Not possible in process."""
        refuse_in_process("stream()", NO_SPARK)

    def publish(
        self, view: str, to: bool | str | os.PathLike[str] = True, *, merge: Iterable[str] | str = ()
    ) -> None:
        """Not possible in process."""
        refuse_in_process("publish()", NO_FILES)

    def kafka_sink(
        self,
        view: str,
        *,
        servers: str,
        topic: str,
        partitions: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Not possible in process."""
        refuse_in_process("kafka_sink()", NO_VERSIONS)

    def history(self) -> list[RunRecord]:
        """Not possible in process."""
        refuse_in_process("history()", NO_VERSIONS)

    def runs(self, *, last: Any = None) -> Any:
        """Not possible in process: there are no versions."""
        refuse_in_process("runs()", NO_VERSIONS)

    def compact(self) -> int:
        """Not possible in process."""
        refuse_in_process("compact()", NO_FILES)

    def vacuum(self, *, keep: int = 100, hours: float = 24.0) -> int:
        """Not possible in process."""
        refuse_in_process("vacuum()", NO_FILES)

    def check(self, *, repair: bool = False) -> Any:
        """Not possible in process."""
        refuse_in_process("check()", NO_FILES)

    def listen(self, progress: Any) -> None:
        """Not possible in process."""
        refuse_in_process("listen()", "one inside this process has no stages to show")

    @property
    def missing_functions(self) -> Mapping[str, tuple[str, ...]]:
        """The functions that views call and that are not there, by the names of the views: none in process."""
        return {}
