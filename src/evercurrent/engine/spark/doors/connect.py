"""A session of Spark Connect: the server answers, as far as its protocol goes.

There is no context and no JVM here. A query counts how many tasks run at a time, sizes of frames are read from what EXPLAIN says,
folders are listed by Spark's reader of binary files, and the operations that the server ran are counted for jobs.

>>> SIZE.search("LocalRelation [a#0], Statistics(sizeInBytes=12.0 KiB, rowCount=512)").groups()
('12.0', 'KiB')
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.engine.spark.doors.door import not_over_connect

UNITS = {
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "PiB": 1 << 50,
    "EiB": 1 << 60,
}
SIZE = re.compile(r"sizeInBytes=([\d.E+]+) ([KMGTPE]?i?B)")
ASKED_ROWS = 1 << 16
"""A frame of this number of rows has a partition for each task that runs at a time."""


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect, without importing what only that needs."""
    return any(c.__module__.startswith("pyspark.sql.connect") for c in type(session).__mro__)


def close_connection(client: Any) -> None:
    """Closes the connection of a client, without a call to the server, which may be gone. Idempotent."""
    if not getattr(client, "is_closed", False):
        with suppress(Exception):
            client.close()


class ConnectDoor:
    """The door to a session whose server is elsewhere."""

    connect = True

    def __init__(self, session: Any) -> None:
        self.session = session
        self.tag = ""
        self.operations: dict[
            str, tuple[int, int, bool]
        ] = {}  # finished tasks, all tasks, whether it is over

    def new_session(self) -> Any:
        """The protocol has one from Spark 4.3 on; before, another connection with the same address and user is one.

        Its connection is closed when the program ends, at the latest. PySpark closes a forgotten session when the interpreter is already
        gone; a call that is still under way then never ends, and neither does the program.
        """
        made = self._open_session()
        weakref.finalize(made, close_connection, made.client)
        return made

    def _open_session(self) -> Any:
        own = getattr(type(self.session), "newSession", None)
        if own is not None:
            with suppress(NotImplementedError):
                return own(self.session)
        client = self.session.client
        return type(self.session)(client._builder, client._user_id)

    def close_session(self) -> None:
        with suppress(Exception):
            self.session.client.release_session()
        close_connection(self.session.client)

    @cached_property
    def cores(self) -> int:
        numbers = self.session.range(ASKED_ROWS).select(F.spark_partition_id().alias("n")).distinct()
        return max(1, int(numbers.count()))

    def is_local(self) -> bool:
        return False  # the server may be anywhere

    # --- tasks ---------------------------------------------------------------------------------------------

    def on_executors(self, function: Callable[[str], Any], values: Sequence[str], kind: str) -> list[Any]:
        def call(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            for batch in batches:
                for row in batch.to_pylist():
                    found = {"place": row["place"], "found": function(row["value"])}
                    yield pyarrow.RecordBatch.from_pylist([found])

        rows = [(i, value) for i, value in enumerate(values)]
        if not rows:
            return []
        frame = self.one_task_each(rows, "place bigint, value string")
        made = frame.mapInArrow(call, f"place bigint, found {kind}").collect()
        return [row["found"] for row in sorted(made, key=lambda r: int(r["place"]))]

    def one_task_each(self, rows: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
        found: DataFrame = self.session.createDataFrame(list(rows), schema)
        return found.repartition(max(1, len(rows)))

    # --- what others see -----------------------------------------------------------------------------------

    @contextmanager
    def guard(self) -> Iterator[None]:
        """A session of our own has its own tags, and there is no active session to restore."""
        try:
            yield
        finally:
            self.untag()

    def describe(self, text: str) -> None:
        """A tag is all that jobs of Spark Connect can be given; it has no commas."""
        self.untag()
        with suppress(Exception):
            self.tag = f"evercurrent: {text}".replace(",", " ")
            self.session.addTag(self.tag)

    def untag(self) -> None:
        if self.tag:
            with suppress(Exception):
                self.session.removeTag(self.tag)
        self.tag = ""

    # --- jobs ----------------------------------------------------------------------------------------------

    def notice(self, stages: Any, inflight_tasks: int, operation_id: str, done: bool) -> None:
        """Is called by the client with the progress of each operation."""
        known = list(stages or ())
        finished, whole = sum(s.num_completed_tasks for s in known), sum(s.num_tasks for s in known)
        before = self.operations.get(operation_id, (0, 0, False))
        self.operations[operation_id] = (max(finished, before[0]), max(whole, before[1]), done or before[2])

    def begin_counting(self) -> None:
        self.operations.clear()
        with suppress(Exception):
            self.session.registerProgressHandler(self.notice)

    def end_counting(self) -> None:
        with suppress(Exception):
            self.session.removeProgressHandler(self.notice)

    def count_jobs(self) -> int:
        return len(self.operations)

    def tasks(self) -> tuple[int, int] | None:
        running = [o for o in list(self.operations.values()) if not o[2] and o[1]]
        return (sum(o[0] for o in running), sum(o[1] for o in running)) if running else None

    # --- plans and files -----------------------------------------------------------------------------------

    def is_scan(self, frame: DataFrame) -> bool:
        return False  # the plan is the server's: the frame is written down first, which is right for any

    def parquet_columns(self, frame: DataFrame) -> tuple[list[str], dict[str, str], dict[str, str]] | None:
        return None  # its files are the server's

    def bytes_of(self, frame: DataFrame) -> int:
        """The first size that EXPLAIN COST shows: that of the whole plan."""
        found = SIZE.search(str(frame._explain_string(mode="cost")))  # type: ignore[operator]
        return int(float(found[1]) * UNITS.get(found[2], 1)) if found else 0

    def list_files(self, path: str) -> dict[str, list[int]]:
        read = self.session.read.format("binaryFile").option("recursiveFileLookup", "true")
        listed = read.load(path).select("path", "length", F.unix_millis("modificationTime").alias("at"))
        root = re.sub(r"^[A-Za-z][\w+.-]*:(//[^/]*)?", "", path).rstrip("/") + "/"
        return {
            row["path"].split(root, 1)[-1]: [int(row["length"]), int(row["at"])] for row in listed.collect()
        }

    def stream_of(self, batch: DataFrame) -> str:
        raise not_over_connect("db.stream", "Spark runs its micro-batches in the server")

    def refuse(self, what: str, why: str) -> None:
        raise not_over_connect(what, why)
