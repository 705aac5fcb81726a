"""The methods that a database inside this process has not: each says why, and how to get a database that has it.

db.vacuum()      UnsupportedError: vacuum() needs a database on Spark: one inside this process keeps no files
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evercurrent.errors import UnsupportedError
from evercurrent.statements.handles import NO_SPARK, NO_VERSIONS, refuse_in_process
from evercurrent.statements.options import OnViolation, SourceFormat
from evercurrent.statements.run_record import RunRecord

NO_FILES = "one inside this process keeps no files"


class SparkMethods:
    """The part of `Database` that only a database on Spark offers."""

    def source(
        self,
        name: str,
        *,
        format: SourceFormat | None = None,
        path: Any = None,
        table: str | None = None,
        key: Iterable[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Not possible in process."""
        refuse_in_process("source()", NO_SPARK)

    def refresh(
        self, *, full: Iterable[str] = (), batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Not possible in process."""
        refuse_in_process("refresh()", "one inside this process has no sources")

    def stream(
        self,
        table: str | Mapping[str, Any],
        frame: Any = None,
        *,
        name: str | None = None,
        checkpoint: Any = None,
        once: bool = False,
        on_violation: OnViolation = "refuse",
    ) -> Any:
        """Not possible in process."""
        refuse_in_process("stream()", NO_SPARK)

    def publish(self, view: str, to: bool | str | os.PathLike[str] = True) -> None:
        """Not possible in process."""
        refuse_in_process("publish()", NO_FILES)

    def reload(self) -> int:
        """Not possible in process."""
        refuse_in_process("reload()", "nobody else writes one inside this process")

    def history(self) -> list[RunRecord]:
        """Not possible in process."""
        refuse_in_process("history()", NO_VERSIONS)

    def compact(self) -> int:
        """Not possible in process."""
        refuse_in_process("compact()", NO_FILES)

    def vacuum(self, *, keep: int = 100) -> int:
        """Not possible in process."""
        refuse_in_process("vacuum()", NO_FILES)

    def check(self, *, repair: bool = False) -> Any:
        """Not possible in process."""
        refuse_in_process("check()", NO_FILES)

    def listen(self, progress: Any) -> None:
        """Not possible in process."""
        refuse_in_process("listen()", "one inside this process has no stages to show")

    def bind_operations(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        """Not possible in process."""
        raise UnsupportedError(
            "the operations of a database inside this process have their functions from the beginning",
            hint="db.odl(text, operations=...) takes them",
        )

    @property
    def missing_functions(self) -> Mapping[str, tuple[str, ...]]:
        """The functions that views call and that are not there, by the names of the views: none in process."""
        return {}
