"""What is measured when, what a measurement is, and whether a result is right.

Half of the stream is loaded before the clock starts, in batches of 10,000; then events are measured in batches of one size; the
rest is processed without the clock, so that every peer ends with the same rows, which are compared with DuckDB's.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench import queries
from bench.handwritten import money
from bench.history import Missing
from bench.peers.events_file import DAY_ZERO, Streams
from tests.duck import difference

SIZES = (1, 100, 10_000)
LOADING = 10_000
SINGLE = 10_000
"""So many events are measured one by one, at most."""


class Window(NamedTuple):
    """The first event that is measured, and how many are."""

    start: int
    timed: int


def window(count: int, batch: int) -> Window:
    """Whole batches of the second half of the stream."""
    start = count // 2 // LOADING * LOADING
    largest = (count - start) // LOADING * LOADING
    return Window(start, min(largest, SINGLE) if batch == 1 else largest)


class Failed(Exception):
    """The program of a peer ended with an error."""


@dataclass(frozen=True)
class Measured:
    """Seconds of processor time for so many rows, and the rows of the result."""

    seconds: float
    rows: int
    answer: list[tuple[Any, ...]]

    @property
    def microseconds(self) -> float:
        return self.seconds / self.rows * 1e6


@dataclass(frozen=True)
class Peer:
    """An engine, or one way into it. `measure` takes a query and the size of a batch, and raises Missing where there is none."""

    name: str
    version: str
    measure: Callable[[str, int, Streams], Measured]


def decode(query: str, text: str) -> tuple[Any, ...]:
    """A row of a result file, as DuckDB has it."""
    match query, text.split("|"):
        case "Q3", [key, amount, date, priority]:
            return int(key), money(int(amount), 4), day(date), int(priority)
        case "Q5", [name, amount]:
            return name, money(int(amount), 4)
        case "Q17", [price]:
            return (int(price) / 700,)
        case "Q18", [name, customer, order, date, price, quantity]:
            return name, int(customer), int(order), day(date), money(int(price), 2), money(int(quantity), 2)
    raise AssertionError(f"{query} has no row like {text!r}")


def day(text: str) -> datetime.date:
    return DAY_ZERO + datetime.timedelta(days=int(text))


def by_program(
    command: Sequence[str],
    query: str,
    batch: int,
    streams: Streams,
    environment: dict[str, str] | None = None,
) -> Measured:
    """Runs a program in another process: `command QUERY STREAM BATCH START TIMED RESULT`, and reads what it says."""
    start, timed = window(len(streams.of(query)), batch)
    with tempfile.TemporaryDirectory(prefix="evercurrent-peer-") as folder:
        result = Path(folder) / "result.txt"
        call = [*command, query, str(streams.file), str(batch), str(start), str(timed), str(result)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
        if done.returncode == 75:
            raise Missing(done.stderr.strip().splitlines()[-1])
        if done.returncode:
            raise Failed(f"{command[-1]} failed at {query}:\n{done.stderr[-3000:]}")
        said = json.loads(done.stdout.strip().splitlines()[-1])
        lines = result.read_text(encoding="utf-8").splitlines()
    rows = [decode(query, line) for line in lines] or ([(None,)] if query == "Q17" else [])
    return Measured(said["seconds"], said["rows"], rows)


def is_right(query: str, answer: list[tuple[Any, ...]], streams: Streams) -> bool:
    return not difference(answer, streams.recompute.rows(queries.QUERIES[query]))
