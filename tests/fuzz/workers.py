"""Processes that run scenarios, so that one that hangs or dies can be stopped and is reported.

worker = Worker(spark=False)
worker.start("views", 17)
outcome = worker.outcome()      # None until it is there
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import monotonic, perf_counter
from typing import Any

from evercurrent.errors import CostWarning
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.roster import campaign

LIMIT = 300.0
"""Seconds after which a scenario is taken for one that hangs. Minimising a difference takes up to 40 of them."""

SPARK_LIMIT = 600.0


@dataclass
class Outcome:
    """What a scenario came to. `message` is empty if nothing differed; `case` is empty where there is no script."""

    campaign: str
    seed: int
    tally: Tally
    seconds: float
    message: str = ""
    case: str = ""


def run_one(name: str, seed: int) -> Outcome:
    """Runs one scenario; whatever it raises is a difference."""
    tally, start = Tally(), perf_counter()
    message = case = ""
    try:
        campaign(name).run(seed, tally)
    except Difference as difference:
        message, case = str(difference), difference.case
    except Exception:
        message = traceback.format_exc()
    return Outcome(name, seed, tally, perf_counter() - start, message, case)


def serve(connection: Connection, spark: bool) -> None:
    """The loop of a process: takes names and seeds, sends outcomes, until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it is over
    os.environ.setdefault("EVERCURRENT_CHECK_PLANS", "1")
    warnings.simplefilter("ignore", CostWarning)  # windows over whole tables are drawn on purpose
    session = None
    if spark:
        from pyspark.logger import PySparkLogger

        from tests.spark_session import small_session

        PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")  # refusals are expected
        session = small_session("evercurrent-fuzz")
    with contextlib.suppress(EOFError, BrokenPipeError):
        while (task := connection.recv()) is not None:
            connection.send(run_one(*task))
    if session is not None:
        session.stop()


@dataclass
class Worker:
    """One process. It is started again if it was stopped or has died."""

    spark: bool
    task: tuple[str, int] | None = None
    since: float = 0.0
    process: Any = None
    connection: Any = None
    limit: float = field(init=False)

    def __post_init__(self) -> None:
        self.limit = SPARK_LIMIT if self.spark else LIMIT

    def start(self, name: str, seed: int) -> None:
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.connection, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other, self.spark), daemon=True)
            self.process.start()
            other.close()
        self.task, self.since = (name, seed), monotonic()
        self.connection.send(self.task)

    def outcome(self) -> Outcome | None:
        """Returns the outcome of the task if there is one; a process that hangs or died has one too."""
        assert self.task is not None
        name, seed = self.task
        seconds = monotonic() - self.since
        if self.connection.poll():
            with contextlib.suppress(EOFError, ConnectionError):
                found: Outcome = self.connection.recv()
                self.task = None
                return found
            self.process.join(5)
            return self.failed(name, seed, seconds, f"the process died with {self.process.exitcode}")
        if seconds > self.limit:
            return self.failed(name, seed, seconds, f"no answer after {self.limit:.0f} seconds")
        return None

    def failed(self, name: str, seed: int, seconds: float, message: str) -> Outcome:
        self.stop()
        return Outcome(name, seed, Tally(), seconds, message)

    def stop(self) -> None:
        """Ends the process at once."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process, self.connection, self.task = None, None, None

    def finish(self) -> None:
        """Lets an idle process end by itself."""
        if self.process is not None and self.task is None:
            with contextlib.suppress(OSError):
                self.connection.send(None)
            self.process.join(10)
        self.stop()
