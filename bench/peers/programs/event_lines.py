"""Reads the stream, and runs a program over it: what the programs in Python share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

LOADING = 10_000
CUT, FIRST, LAST = 9204, 8766, 9131
"""15 March 1995, and the first days of 1994 and 1995, as days since 1970."""
TABLES = {
    "Q3": ("customer", "orders", "lineitem"),
    "Q5": ("region", "nation", "supplier", "customer", "orders", "lineitem"),
    "Q17": ("part", "lineitem"),
    "Q18": ("customer", "orders", "lineitem"),
}


class Event(NamedTuple):
    table: str
    sign: int
    values: list[str]


class Arguments(NamedTuple):
    """`QUERY STREAM BATCH START TIMED RESULT`."""

    query: str
    stream: str
    batch: int
    start: int
    timed: int
    result: str


def arguments() -> Arguments:
    query, stream, batch, start, timed, result = sys.argv[1:]
    return Arguments(query, stream, int(batch), int(start), int(timed), result)


def events(given: Arguments) -> list[Event]:
    found = []
    with open(given.stream, encoding="utf-8") as lines:
        for line in lines:
            table, sign, *values = line.rstrip("\n").split("|")
            if table in TABLES[given.query]:
                found.append(Event(table, int(sign), values))
    return found


def batches(part: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(part), size):
        yield part[start : start + size]


def measure(
    given: Arguments, rows: list[Any], step: Callable[[list[Any]], None], clock: Callable[[], float]
) -> str:
    """Steps through all events; returns what the program has to print at its end."""
    end = given.start + given.timed
    for batch in batches(rows[: given.start], LOADING):
        step(batch)
    before = clock()
    for batch in batches(rows[given.start : end], given.batch):
        step(batch)
    spent = clock() - before
    for batch in batches(rows[end:], LOADING):
        step(batch)
    return json.dumps({"seconds": spent, "rows": given.timed})


def write(given: Arguments, rows: list[tuple[object, ...]]) -> None:
    with open(given.result, "w", encoding="utf-8") as file:
        file.writelines("|".join(map(str, row)) + "\n" for row in rows)
