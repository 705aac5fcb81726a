"""What is asked of a session beside frames and SQL, and which class answers.

A session in this process has a context and a JVM (`_jvm`, `_jdf`, `sparkContext`); one of Spark Connect has neither, only a server
that it talks to. Nothing but the files beside this one knows the difference.

    door_of(spark).cores      2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pyspark.sql import DataFrame

from evercurrent.errors import QueryError, UnsupportedError

DESCRIPTION = "spark.job.description"


class Door(Protocol):
    """A session, and what can be asked of it."""

    session: Any
    connect: bool  # whether it is one of Spark Connect

    def new_session(self) -> Any:
        """Another session on the same cluster, with settings of its own."""

    def close_session(self) -> None:
        """Release a session that `new_session` has returned."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""

    def is_local(self) -> bool:
        """Whether executors and driver are one process, or run on one machine with one file system."""

    def on_executors(self, function: Callable[[str], Any], values: Sequence[str], kind: str) -> list[Any]:
        """The values of a function that tasks call, one task for each; `kind` is the type of its result in SQL."""

    def one_task_each(self, rows: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
        """Rows as a frame that has a partition for each."""

    def guard(self) -> AbstractContextManager[None]:
        """While we work in this thread: what others see of the session afterwards is as it was."""

    def describe(self, text: str) -> None:
        """Say what the jobs of this thread are for, from here on."""

    def begin_counting(self) -> None:
        """Count the jobs that this thread starts from here on."""

    def count_jobs(self) -> int:
        """How many there were so far; 0 if it is not known."""

    def end_counting(self) -> None: ...

    def tasks(self) -> tuple[int, int] | None:
        """Finished tasks and all tasks of what is running; None if nothing is, or if it is not known."""

    def is_scan(self, frame: DataFrame) -> bool:
        """Whether a frame does nothing but read files of known size."""

    def parquet_columns(self, frame: DataFrame) -> tuple[list[str], dict[str, str], dict[str, str]] | None:
        """The local Parquet files of which a frame reads columns as they are: paths, the files' names of its columns, constant texts."""

    def bytes_of(self, frame: DataFrame) -> int:
        """What Spark takes the size of a frame to be."""

    def list_files(self, path: str) -> dict[str, list[int]]:
        """The files of a folder that the session can reach, by their names from there: size, time of the last change."""

    def stream_of(self, batch: DataFrame) -> str:
        """The identity of the streaming query that a micro-batch belongs to."""

    def refuse(self, what: str, why: str) -> None:
        """Refuses what this kind of session cannot do."""


def door_of(session: Any) -> Door:
    """The door to a session."""
    known: Door | None = getattr(session, "_evercurrent_door", None)
    if known is not None and known.session is session:
        return known
    from evercurrent.engine.spark.doors.classic import ClassicDoor
    from evercurrent.engine.spark.doors.connect import ConnectDoor, is_connect

    found: Door = ConnectDoor(session) if is_connect(session) else ClassicDoor(session)
    session._evercurrent_door = found
    return found


def require_session(spark: Any) -> None:
    """Refuses what is no session of Spark."""
    from pyspark.sql import SparkSession

    from evercurrent.engine.spark.doors.connect import is_connect

    if not isinstance(spark, SparkSession) and not is_connect(spark):
        raise QueryError("spark must be a SparkSession", hint="ec.connect(spark=spark, path=...)")


def not_over_connect(what: str, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is not possible over Spark Connect: {why}", hint="use a session in the driver's own process"
    )
