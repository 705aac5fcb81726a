"""The stream of events as a text file that every peer reads before its clock starts.

A line is `table|sign|columns`: the columns that one of the four queries reads, and the number of a line item, which is part of
its key. Money, quantities and rates are integers of hundredths, dates are days since 1970:

    orders|1|7|392|25200465|9507|0
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench import queries, tpch
from bench.duck import Recompute
from bench.streams import Event, events, of_tables

COLUMNS = {
    "region": (0, 1),
    "nation": (0, 1, 2),
    "supplier": (0, 3),
    "part": (0, 3, 6),
    "customer": (0, 1, 3, 6),
    "orders": (0, 1, 3, 4, 7),
    "lineitem": (0, 3, 1, 2, 4, 5, 6, 10),
}
"""Places of the columns that are written."""
DAY_ZERO = datetime.date(1970, 1, 1)


def text(value: Any) -> str:
    return str((value - DAY_ZERO).days) if isinstance(value, datetime.date) else str(value)


def line(event: Event) -> str:
    table, sign, row = event
    return "|".join((table, str(sign), *(text(row[i]) for i in COLUMNS[table])))


@dataclass(frozen=True)
class Streams:
    """The stream at one scale factor: as a file, as rows, and what DuckDB says is left."""

    sf: float
    folder: Path

    @cached_property
    def internal(self) -> list[Event]:
        """Decimals are integers of hundredths."""
        return events(tpch.internal(self.sf))

    @cached_property
    def python(self) -> list[Event]:
        """The same events, in Python's own types."""
        return events(tpch.tables(self.sf))

    @cached_property
    def file(self) -> Path:
        path = self.folder / f"events-{self.sf:g}.txt"
        kept = [event for event in self.internal if event[0] in COLUMNS]
        path.write_text("\n".join(map(line, kept)) + "\n", encoding="utf-8")
        return path

    @cached_property
    def recompute(self) -> Recompute:
        found = Recompute(self.sf)
        found.after(self.internal)
        return found

    def of(self, query: str, *, python: bool = False) -> list[Event]:
        return of_tables(self.python if python else self.internal, set(queries.TABLES[query]))
