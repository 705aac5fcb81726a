"""Window frames: which rows of a sorted partition a function sees at each row.

    ROWS     counts rows                       ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    GROUPS   counts groups of peers
    RANGE    adds to the sort key              RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW

A bound is an offset (negative: preceding, 0: the current row, in RANGE and GROUPS with its peers) or None: unbounded. An
offset of a RANGE frame is a literal in the type that is added to the one sort key. A NULL key plus an offset is NULL: it
is in range of its peers and of nothing else.
"""

from __future__ import annotations

import datetime
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from evercurrent.data.order import sort_key
from evercurrent.data.types import Date, Interval, Type
from evercurrent.data.zset import Row
from evercurrent.term.nodes import Literal, Term, WindowFunction

Value = Callable[[Term, Row], Any]


class Frames:
    """The frames of one function over one sorted partition; `keys` are what its rows are sorted by."""

    def __init__(
        self, function: WindowFunction, rows: Sequence[Row], keys: Sequence[Row], value: Value
    ) -> None:
        self.frame = function.frame
        self.order = function.order
        self.keys = keys
        self.values: list[Any] = []
        if self.frame.kind == "range" and any(b not in (None, 0) for b in (self.frame.start, self.frame.end)):
            self.values = [value(self.order[0].term, row) for row in rows]
        self.group: list[int] = []
        self.first: list[int] = []  # where each group of peers begins; at the end, the number of rows
        if self.frame.kind == "groups":
            for i, key in enumerate(keys):
                if i == 0 or key != keys[i - 1]:
                    self.first.append(i)
                self.group.append(len(self.first) - 1)
            self.first.append(len(keys))

    def bounds(self, i: int) -> tuple[int, int]:
        """The half-open range of positions that the frame of row `i` covers."""
        n = len(self.keys)
        start = 0 if self.frame.start is None else self.edge(i, self.frame.start, end=False)
        end = n if self.frame.end is None else self.edge(i, self.frame.end, end=True)
        start, end = max(start, 0), min(end, n)
        return (start, end) if start < end else (0, 0)

    def edge(self, i: int, offset: Any, end: bool) -> int:
        if self.frame.kind == "rows":
            return i + int(offset) + end
        if self.frame.kind == "groups":
            group = self.group[i] + int(offset) + end
            return self.first[min(max(group, 0), len(self.first) - 1)]
        if offset == 0:
            key = self.keys[i]
        else:
            sort = self.order[0]
            moved = shift(sort.term.type, self.values[i], offset, sort.descending)
            key = (sort_key(sort.term.type, sort.descending, sort.nulls_first)(moved),)
        return bisect_right(self.keys, key) if end else bisect_left(self.keys, key)


def shift(t: Type, value: Any, offset: Any, backwards: bool) -> Any:
    """A sort key moved by the offset of a frame, in the direction of the order."""
    if value is None:
        return None
    kind = offset.type if isinstance(offset, Literal) else None
    amount = offset.value if isinstance(offset, Literal) else offset
    if backwards:
        amount = -amount
    if not isinstance(value, datetime.date):
        return value + amount
    try:
        match kind:
            case Interval("months"):
                return add_months(value, amount)
            case Interval():
                moved = value + datetime.timedelta(microseconds=amount)
                if isinstance(t, Date) and amount % 86_400_000_000:
                    raise AssertionError("a date can be shifted by whole days only")
                return moved
            case _:
                return value + datetime.timedelta(days=amount)
    except OverflowError:
        return type(value).max if amount > 0 else type(value).min


def add_months(value: datetime.date, months: int) -> datetime.date:
    """The same day of another month, or its last day.

    >>> add_months(datetime.date(2024, 1, 31), 1)
    datetime.date(2024, 2, 29)
    """
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("out of the calendar")
    following = (
        datetime.date(year + (month == 11), (month + 1) % 12 + 1, 1) if (year, month) != (9999, 11) else None
    )
    last = 31 if following is None else (following - datetime.timedelta(days=1)).day
    return value.replace(year=year, month=month + 1, day=min(value.day, last))
