"""Window functions that depend on positions alone: row numbers, ranks, tiles; and values of neighbours.

A *window function over chunks* answers two questions, so that a change costs what it changes:

    reach(rows, changes, now)     between which bounds values may have changed
    values(rows, span)            the values of the rows of a span

`reach` is asked twice, of the rows as they are and as they were, and may name too much but never too little.

    one player moves from place 7 to place 3       ranks change from place 3 to place 7, and nowhere else
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evercurrent.data.zset import Row
from evercurrent.engine.live.runtime.chunks import TOP, Bound, Chunks, Sort
from evercurrent.term.nodes import Literal, Term, WindowFunction

Value = Callable[[Term, Row], Any]
Interval = tuple[Bound, Bound]
EVERYTHING: Interval = (None, None)


@dataclass(frozen=True, slots=True)
class Change:
    """A row whose weight has changed by `by`."""

    sort: Sort
    row: Row
    by: int


@dataclass(slots=True)
class Span:
    """The rows between two bounds, in order."""

    low: Bound
    high: Bound
    sorts: list[Sort]
    rows: list[Row]


class Evaluator(Protocol):
    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]: ...

    def values(self, rows: Chunks, span: Span) -> list[Any]: ...

    def mark(self, rows: Chunks) -> Any:
        """Something whose change means that all values have changed."""


def shifts(changes: Sequence[Change]) -> Iterator[Interval]:
    """Yields where the number of rows in front has changed."""
    moved = 0
    for i, change in enumerate(changes):
        moved += change.by
        if moved:
            yield change.sort, changes[i + 1].sort if i + 1 < len(changes) else None


@dataclass(slots=True)
class Numbers:
    """row_number, and ntile of a constant number of tiles."""

    tiles: int | None = None

    def mark(self, rows: Chunks) -> Any:
        return None if self.tiles is None else rows.size

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        yield from shifts(changes)

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        first = rows.before(span.low).weight if span.low is not None else 0
        places = range(first, first + len(span.rows))
        if self.tiles is None:
            return [i + 1 for i in places]
        size, larger = divmod(rows.size, self.tiles)
        large = larger * (size + 1)
        return [
            i // (size + 1) + 1 if i < large else larger + (i - large) // max(size, 1) + 1 for i in places
        ]


@dataclass(slots=True)
class Ranks:
    """rank, dense_rank, percent_rank and cume_dist; `width` is the number of sort keys before the ties."""

    name: str
    width: int

    def mark(self, rows: Chunks) -> Any:
        return rows.size if self.name in ("percent_rank", "cume_dist") else None

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        if not now:
            return
        groups: dict[Sort, int] = {}
        for change in changes:
            key = change.sort[: self.width]
            groups[key] = groups.get(key, 0) + change.by
        moved, keys = 0, list(groups)
        for i, key in enumerate(keys):
            top = (*key, TOP)
            if moved and i:
                yield (*keys[i - 1], TOP), top
            step = groups[key]
            if self.name == "dense_rank":
                there = rows.before(top).weight - rows.before(key).weight
                step = (there > 0) - (there - groups[key] > 0)
            if self.name == "cume_dist" and step:
                yield key, top
            moved += step
        if moved:
            yield (*keys[-1], TOP), None

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        if not span.sorts:
            return []
        width = self.width
        key = span.sorts[0][:width]
        before = rows.before(key)
        rank, dense = before.weight + 1, before.peers + 1
        place = rows.before(span.low).weight if span.low is not None else 0
        total = rows.size
        results: list[Any] = []
        for sort in span.sorts:
            place += 1
            if sort[:width] != key:
                key, rank, dense = sort[:width], place, dense + 1
            results.append(dense if self.name == "dense_rank" else rank)
        if self.name == "percent_rank":
            return [(rank - 1) / (total - 1) if total > 1 else 0.0 for rank in results]
        if self.name == "cume_dist":
            return self._shares(rows, span, total)
        return results

    def _shares(self, rows: Chunks, span: Span, total: int) -> list[Any]:
        """The share of rows up to the last peer."""
        results: list[Any] = []
        key: Sort | None = None
        share = 0.0
        for sort in span.sorts:
            if sort[: self.width] != key:
                key = sort[: self.width]
                share = rows.before((*key, TOP)).weight / total
            results.append(share)
        return results


@dataclass(slots=True)
class Neighbours:
    """lag and lead by a constant offset; `offset` counts forward."""

    function: WindowFunction
    offset: int
    value: Value

    def mark(self, rows: Chunks) -> Any:
        return None

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        far = abs(self.offset)
        for change in changes:
            yield rows.back(change.sort, far), rows.forward(change.sort, far)

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        far = abs(self.offset)
        low, high = rows.back(span.low, far), rows.forward(span.high, far)
        around = [row for _, row in rows.between(low, high)]
        first = 0
        if span.low is not None:
            first = rows.before(span.low).weight - (rows.before(low).weight if low is not None else 0)
        args, results = self.function.args, []
        for i, row in enumerate(span.rows):
            place = first + i + self.offset
            if 0 <= place < len(around):
                results.append(self.value(args[0], around[place]))
            else:
                results.append(self.value(args[2], row) if len(args) > 2 else None)
        return results


def constant_offset(function: WindowFunction) -> int | None:
    """Returns by how many rows lag or lead looks forward, if that is the same for all rows."""
    offset = 1
    if len(function.args) > 1:
        match function.args[1]:
            case Literal(int() as offset):
                pass
            case _:
                return None
    return -offset if function.function == "lag" else offset
