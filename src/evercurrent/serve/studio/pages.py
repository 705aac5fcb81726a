"""Rows of a table or view, a page at a time, filtered and sorted.

    ?offset=200&limit=100&filter=city:york total>10&sort=total&descending=true
    rows 200 to 299 of        those with "york" in their city and a total above 10, the largest total first

A page that is neither filtered nor sorted reads no more rows than it must. For any other, the rows are listed, and the list
serves as many pages as are asked of it. What a list costs is bounded: one that took t seconds to make is used for 20 t
seconds, even if the rows have changed since; the page says which version it shows.
"""

from __future__ import annotations

import operator
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evercurrent.catalog.nodes import Table, View
from evercurrent.data.types import Boolean, Integer, Member, String
from evercurrent.data.values import sort_key
from evercurrent.data.zset import Row, ZSet
from evercurrent.display import value_text
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import row_writer
from evercurrent.serve.encoding import json_value
from evercurrent.serve.studio.inspection import Entries, Inspection, repeat_rows
from evercurrent.statements.order import order_rows

KEPT_LISTS = 8
PATIENCE = 20.0
MOST_ROWS = 1000
"""The longest page."""
COMPARISON = re.compile(r"(?P<column>[\w.]+)\s*(?P<sign>:|!=|<=|>=|=|<|>)\s*(?P<value>\"[^\"]*\"|\S+)")
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Wish:
    """Which rows a page shows."""

    offset: int = 0
    limit: int = 100
    filter: str = ""
    sort: str = ""
    descending: bool = False
    version: int | None = None


@dataclass
class Listed:
    version: int
    rows: list[Row]
    at: float
    took: float

    def is_fresh(self, version: int, now: float) -> bool:
        return self.version == version or now < self.at + PATIENCE * self.took


Earlier = Callable[[int], "list[ZSet] | None"]
"""The changes after a version, in internal representation; None if they are not known."""


class Pages:
    """Reads pages of one database."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.lists: OrderedDict[tuple[object, ...], Listed] = OrderedDict()
        self.counts: dict[tuple[str, str], Listed] = {}

    def read(self, kind: str, declared: Table | View, wish: Wish, earlier: Earlier) -> dict[str, Any]:
        """One page, as JSON."""
        fields, order = declared.fields, getattr(declared, "order", ())
        begin = time.perf_counter()
        if wish.version is None and not (wish.filter or wish.sort or order):
            with self.inspection.hold():
                version = self.inspection.version
                page, count = self.inspection.page(kind, declared.name, wish.offset, wish.limit)
                count = self.count(kind, declared.name, version) if count is None else count
            matching = count
        else:
            listed = self.list_rows(kind, declared, wish, earlier)
            version, matching, count = listed.version, len(listed.rows), None
            page = listed.rows[wish.offset : wish.offset + wish.limit]
        give = row_writer(fields)
        return {
            "version": version,
            "count": matching,
            "total": count,
            "offset": wish.offset,
            "rows": [[json_value(v) for v in give(row)] for row in page],
            "took": time.perf_counter() - begin,
        }

    def count(self, kind: str, name: str, version: int) -> int:
        """How many rows there are; of many rows, a moment ago."""
        known, now = self.counts.get((kind, name)), time.monotonic()
        if known is None or not known.is_fresh(version, now):
            total = sum(weight for _, weight in self.inspection.entries(kind, name))
            known = Listed(version, [], now, time.monotonic() - now)
            known.rows = range(total)  # type: ignore[assignment]
            self.counts[kind, name] = known
        return len(known.rows)

    def list_rows(self, kind: str, declared: Table | View, wish: Wish, earlier: Earlier) -> Listed:
        """The rows that match, in order."""
        key = (kind, declared.name, wish.version, wish.filter, wish.sort, wish.descending)
        now = time.monotonic()
        known = self.lists.get(key)
        present = self.inspection.version if wish.version is None else wish.version
        if known is None or not known.is_fresh(present, now):
            fields = declared.fields
            keep = condition_of(wish.filter, fields)
            with self.inspection.hold():
                version = self.inspection.version if wish.version is None else wish.version
                entries = self.entries_at(kind, declared.name, wish.version, earlier)
                if keep is not None:  # while they are read: what does not match need not fit into memory
                    entries = ((row, weight) for row, weight in entries if keep(row))
                rows = list(repeat_rows(entries))
            known = Listed(version, self.arrange(rows, declared, wish), now, time.monotonic() - now)
            self.lists[key] = known
            while len(self.lists) > KEPT_LISTS:
                self.lists.popitem(last=False)
        return known

    def arrange(self, rows: list[Row], declared: Table | View, wish: Wish) -> list[Row]:
        fields = declared.fields
        order_rows(rows, fields, getattr(declared, "order", ()))
        if wish.sort:
            at = position_of(wish.sort, fields)
            key = sort_key(fields[at].type, wish.descending, False)
            rows.sort(key=lambda row: key(row[at]))
        return rows

    def entries_at(self, kind: str, name: str, version: int | None, earlier: Earlier) -> Entries:
        """The rows at a version: as they are kept, or the present ones without what happened since."""
        if version is None or version == self.inspection.version:
            return self.inspection.entries(kind, name)
        changes = earlier(version)
        if changes is None:
            return self.inspection.entries(kind, name, version)
        rows = ZSet(self.inspection.entries(kind, name))
        for change in changes:
            for row, weight in change.items():
                rows.add(row, -weight)
        return rows.items()


def position_of(column: str, fields: tuple[Member, ...]) -> int:
    for at, field in enumerate(fields):
        if field.name.lower() == column.lower():
            return at
    names = ", ".join(f.name for f in fields)
    raise QueryError(f"there is no column {column[:100]!r}", hint=f"the columns are {names}")


def condition_of(text: str, fields: tuple[Member, ...]) -> Callable[[Row], bool] | None:
    """What a filter asks of a row: `text` in any column, `column:text`, or `column=value` (also != < <= > >=).

    >>> from evercurrent.data.types import BIGINT, STRING
    >>> keep = condition_of("city:yo n>2", (Member("city", STRING), Member("n", BIGINT)))
    >>> [row for row in [("York", 3), ("York", 2), ("Leeds", 5)] if keep(row)]
    [('York', 3)]
    """
    tests: list[Callable[[Row], bool]] = []
    for found in COMPARISON.finditer(text):
        if any(f.name.lower() == found["column"].lower() for f in fields):
            at = position_of(found["column"], fields)
            tests.append(comparison(at, found["sign"], found["value"].strip('"'), fields))
            text = text.replace(found[0], " ", 1)
    give = row_writer(fields)
    for word in text.lower().split():
        tests.append(lambda row, word=word: any(word in value_text(v).lower() for v in give(row)))  # type: ignore[misc]
    if not tests:
        return None
    return lambda row: all(test(row) for test in tests)


def comparison(at: int, sign: str, value: str, fields: tuple[Member, ...]) -> Callable[[Row], bool]:
    """The test of one column: as numbers where both are, as text otherwise."""
    read = value_reader(at, fields)
    if sign == ":":
        part = value.lower()
        return lambda row: part in value_text(read(row)).lower()
    compare, number = SIGNS[sign], number_of(value)

    def test(row: Row) -> bool:
        own = read(row)
        if own is None:
            return sign in ("=", "!=") and (sign == "=") == (value.upper() == "NULL")
        mine = number_of(own) if number is not None else None
        if number is not None and mine is not None:
            return compare(mine, number)
        return compare(value_text(own), value)

    return test


def value_reader(at: int, fields: tuple[Member, ...]) -> Callable[[Row], Any]:
    """The function from a row to the value of a column, as users see it."""
    if isinstance(fields[at].type, Integer | String | Boolean):  # these are kept as they are shown
        return operator.itemgetter(at)
    give = row_writer((fields[at],))
    return lambda row: give((row[at],))[0]


def number_of(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
