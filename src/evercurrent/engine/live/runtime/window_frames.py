"""Window functions over frames: sums, extremes, and whatever else an aggregate can be.

Law. The frame of a row covers a changed row only if the row lies within the frame's reach of it; all other values stay:

    ROWS BETWEEN 2 PRECEDING AND CURRENT ROW      a change reaches the two rows behind it
    RANGE UNBOUNDED PRECEDING                     a change reaches its peers and all rows behind them

A sum over a frame is the difference of two running sums, which are exact. The running sum in front of a span comes from the summaries
of chunks, so a row at the end of a long partition costs little.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evercurrent.calculus.frames import Frames, shift
from evercurrent.calculus.windows import pick_rows
from evercurrent.data import exact
from evercurrent.data.order import sort_key
from evercurrent.data.types import Float
from evercurrent.data.types import Interval as IntervalType
from evercurrent.data.zset import Row
from evercurrent.delta.aggregates import Parts, read
from evercurrent.delta.program import weight_column
from evercurrent.engine.live.runtime.chunks import TOP, Bound, Chunks, Item, Sort
from evercurrent.engine.live.runtime.window_ranks import EVERYTHING, Change, Interval, Span, Value
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.emit.functions import order_function
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Aggregate, Column, Literal, SortKey, WindowFunction
from evercurrent.term.nullable import nullable

PICKED = frozenset(("first_value", "last_value", "nth_value", "first", "last", "any_value"))


def aggregate_of(f: WindowFunction) -> Aggregate:
    return Aggregate(f.function, f.args, f.type, f.distinct, f.where, (), f.options)


# --- how far a frame reaches ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Reach:
    """The frame of a function over chunks: what a change reaches, and which rows a span needs around it."""

    function: WindowFunction
    value: Value
    key: Callable[[Row], Sort] = field(init=False)
    """From the value of the only sort key to what it is compared by."""

    def __post_init__(self) -> None:
        order = self.function.order
        if order:
            column = Column("v", order[0].term.type, nullable(order[0].term))
            by = SortKey(column, order[0].descending, order[0].nulls_first)
            self.key = order_function([column], [by], [])

    @property
    def width(self) -> int:
        return len(self.function.order)

    @property
    def exact(self) -> bool:
        """Whether the reach is known: not of GROUPS, nor of months and floats, whose addition has no exact inverse."""
        frame = self.function.frame
        if frame.kind == "rows":
            return True
        offsets = [b for b in (frame.start, frame.end) if b not in (None, 0)]
        months = [b for b in offsets if isinstance(b, Literal) and b.type == IntervalType("months")]
        inexact = bool(offsets) and isinstance(self.function.order[0].term.type, Float)
        return frame.kind == "range" and not months and not inexact

    def of_change(self, rows: Chunks, change: Change) -> Interval:
        """Returns between which bounds the frames of rows cover the changed row."""
        frame = self.function.frame
        low = (
            None
            if frame.end is None
            else self._find_furthest(rows, change.sort, change.row, frame.end, False)
        )
        high = (
            None
            if frame.start is None
            else self._find_furthest(rows, change.sort, change.row, frame.start, True)
        )
        return low, high

    def _find_furthest(self, rows: Chunks, sort: Sort, row: Row, offset: Any, up: bool) -> Bound:
        """The furthest row that sees this one at the offset of a bound of its frame."""
        if self.function.frame.kind == "rows":
            if up:
                return rows.forward(sort, max(-offset, 0))
            return rows.back(sort, max(offset, 0))
        if offset == 0:
            peers = sort[: self.width]
            return (*peers, TOP) if up else peers
        return self._shift(row, offset, up, inverse=True)

    def _shift(self, row: Row, offset: Any, up: bool, inverse: bool = False) -> Bound:
        by = self.function.order[0]
        held = self.value(by.term, row)
        moved = shift(by.term.type, held, offset, by.descending is not inverse)
        bound = self.key((moved,))
        return (*bound, TOP) if up else bound

    def around(self, rows: Chunks, span: Span) -> Interval:
        """Returns the bounds of the rows that the frames of a span cover; None where a frame is unbounded."""
        frame = self.function.frame
        if frame.kind == "rows":
            before = max((-b for b in (frame.start, frame.end) if b is not None), default=0)
            behind = max((b for b in (frame.start, frame.end) if b is not None), default=0)
            return rows.back(span.low, max(before, 0)), rows.forward(span.high, max(behind, 0))
        if not span.sorts:
            return span.low, span.high
        first, last = span.sorts[0][: self.width], (*span.sorts[-1][: self.width], TOP)
        lows, highs = [first], [last]
        for offset in (frame.start, frame.end):
            if offset not in (None, 0):
                low, high = (
                    self._shift(span.rows[0], offset, False),
                    self._shift(span.rows[-1], offset, True),
                )
                assert low is not None and high is not None
                lows.append(low)
                highs.append(high)
        return min(lows), max(highs)


@dataclass(slots=True)
class Around:
    """The rows around a span, with the place of the span's first row among them, and their frames."""

    low: Bound
    rows: list[Row]
    first: int
    frames: Frames

    def bounds(self, i: int) -> tuple[int, int]:
        """The half-open range of places that the frame of the i-th row of the span covers; unbounded: up to the edges."""
        frame, n = self.frames.frame, len(self.rows)
        start = 0 if frame.start is None else self.frames.edge(self.first + i, frame.start, end=False)
        end = n if frame.end is None else self.frames.edge(self.first + i, frame.end, end=True)
        return min(max(start, 0), n), min(max(end, 0), n)


def surround(reach: Reach, rows: Chunks, span: Span, to_start: bool, to_end: bool) -> Around:
    """Returns what the frames of a span cover; `to_start` and `to_end`: with all rows in front, and behind."""
    frame = reach.function.frame
    low, high = reach.around(rows, span) if reach.exact else (None, None)
    low = None if to_start and frame.start is None else low
    high = None if to_end and frame.end is None else high
    pairs = list(rows.between(low, high))
    first = rows.before(span.low).weight if span.low is not None else 0
    first -= rows.before(low).weight if low is not None else 0
    order = reach.function.order
    around = [row for _, row in pairs]
    keys: list[Row] = []
    if frame.kind != "rows":
        by = [(k.term, sort_key(k.term.type, k.descending, k.nulls_first)) for k in order]
        keys = [tuple(key(reach.value(term, row)) for term, key in by) for row in around]
    else:
        keys = [()] * len(around)
    return Around(low, around, first, Frames(reach.function, around, keys, reach.value))


# --- sums ----------------------------------------------------------------------------------------------------


Read = Callable[[Row], Any]


@dataclass(slots=True)
class Amounts:
    """What rows add to the accumulators of an aggregate, and how its value is read from them."""

    terms: tuple[tuple[Read | None, Read, bool], ...]
    """For each accumulator a condition, an amount, and whether it is a float."""
    reading: Read

    def add(self, totals: Sequence[Any], row: Row) -> list[Any]:
        """Returns the totals with one more row."""
        added = list(totals)
        for i, (where, amount, inexact) in enumerate(self.terms):
            if where is None or where(row) is True:
                added[i] = exact.add(added[i], amount(row)) if inexact else added[i] + amount(row)
        return added

    def total(self, items: Sequence[Item]) -> list[Any]:
        """Returns the totals over some rows."""
        totals: list[Any] = []
        for where, amount, inexact in self.terms:
            total: Any = 0
            for _, row, weight in items:
                if where is None or where(row) is True:
                    total = exact.add(total, amount(row), weight) if inexact else total + amount(row) * weight
            totals.append(total)
        return totals

    def join(self, left: Sequence[Any], right: Sequence[Any], sign: int = 1) -> list[Any]:
        """Returns the sum of two totals, or with sign -1 their difference."""
        joined = []
        for a, b, (_, _, inexact) in zip(left, right, self.terms, strict=True):
            if inexact:
                joined.append(exact.join(a, b if sign > 0 else negative(b)))
            else:
                joined.append(a + b * sign)
        return joined

    def read(self, weight: int, totals: Sequence[Any]) -> Any:
        """Returns the value of the aggregate over so many rows with these totals."""
        values = [
            exact.value(t) if inexact else t for t, (_, _, inexact) in zip(totals, self.terms, strict=True)
        ]
        return self.reading((weight, *values))


def negative(total: exact.Total) -> exact.Total:
    """The total that takes this one away."""
    return -total if isinstance(total, int) else tuple(-part for part in total)  # type: ignore[return-value]


def amounts_of(f: WindowFunction, columns: Sequence[Column]) -> Amounts | None:
    """Returns what rows add to an aggregate, if its value is read from sums."""
    if f.function in PICKED:
        return None
    parts = Parts()
    reading = read(aggregate_of(f), parts, scalar=True)
    if any(p.accumulator.kind != "sum" for p in parts.parts):
        return None
    terms = tuple(
        (
            None if p.where is None else compile_term(p.where, columns),
            compile_term(p.args[0], columns),
            isinstance(p.accumulator.type, Float),
        )
        for p in parts.parts
    )
    named = [weight_column(), *(Column(p.accumulator.name, p.accumulator.type, False) for p in parts.parts)]
    return Amounts(terms, compile_term(reading, named))


@dataclass(slots=True)
class Sums:
    """Aggregates that are read from sums; `at` is where the summaries of chunks hold their totals."""

    reach_of: Reach
    amounts: Amounts
    at: int | None = None

    def mark(self, rows: Chunks) -> Any:
        return None

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        for change in changes:
            yield self.reach_of.of_change(rows, change)

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        frame = self.reach_of.function.frame
        around = surround(self.reach_of, rows, span, to_start=False, to_end=False)
        zero: list[Any] = [0] * len(self.amounts.terms)
        count, totals = 0, zero
        if around.low is not None and (frame.start is None or frame.end is None):
            count, totals = self._before(rows, around.low)
        running = [(count, totals)]
        for row in around.rows:
            count, totals = count + 1, self.amounts.add(totals, row)
            running.append((count, totals))
        whole = self._before(rows, None) if frame.end is None else (0, zero)
        results: list[Any] = []
        known: tuple[int, int] | None = None
        current: Any = None
        for i in range(len(span.rows)):
            bounds = around.bounds(i)
            if bounds != known:
                known = bounds
                n, total = whole if frame.end is None else running[bounds[1]]
                if frame.start is not None:
                    m, less = running[bounds[0]]
                    n, total = n - m, self.amounts.join(total, less, -1)
                current = self.amounts.read(n, total) if n > 0 else self.amounts.read(0, zero)
            results.append(current)
        return results

    def _before(self, rows: Chunks, bound: Bound) -> tuple[int, list[Any]]:
        """The number of rows in front, and their totals."""
        assert self.at is not None
        summary = rows.before(bound)
        zero = [0] * len(self.amounts.terms)
        return summary.weight, list(summary.totals[self.at]) if summary.totals else zero


# --- everything else -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Edge:
    """The first row of a frame that begins with the partition, or the last of one that ends with it."""

    function: WindowFunction
    value: Value
    last: bool

    def mark(self, rows: Chunks) -> Any:
        return rows.edge(self.last)

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        return iter(())

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        edge = rows.edge(self.last)
        value = None if edge is None else self.value(self.function.args[0], edge[1])
        return [value] * len(span.rows)


@dataclass(slots=True)
class Framed:
    """Any function of the rows of a frame, evaluated frame by frame."""

    reach_of: Reach
    value: Value

    def mark(self, rows: Chunks) -> Any:
        return None

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        for change in changes:
            yield self.reach_of.of_change(rows, change) if self.reach_of.exact else EVERYTHING

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        f = self.reach_of.function
        if not self.reach_of.exact:
            span = Span(None, None, span.sorts, span.rows)  # all rows are reached, so the span is everything
        around = surround(self.reach_of, rows, span, to_start=True, to_end=True)
        end = around.first + len(span.rows)
        if f.function in PICKED:
            return pick_rows(f, around.rows, around.frames.keys, self.value)[around.first : end]
        inputs = [self._input(f, row) for row in around.rows]
        if f.function in ("min", "max") and not f.distinct:
            return slide(f, inputs, [around.bounds(i) for i in range(len(span.rows))])
        results: list[Any] = []
        known: tuple[int, int] | None = None
        current: Any = None
        for i in range(len(span.rows)):
            bounds = around.bounds(i)
            if bounds != known:
                known = bounds
                inside = [(x, (), 1) for x in inputs[bounds[0] : bounds[1]] if x is not None]
                current = evaluate_aggregate(aggregate_of(f), inside, ordered=True)
            results.append(current)
        return results

    def _input(self, f: WindowFunction, row: Row) -> Row | None:
        """The arguments of a row, or None if the filter leaves it out."""
        if f.where is not None and self.value(f.where, row) is not True:
            return None
        return tuple(self.value(arg, row) for arg in f.args)


def slide(f: WindowFunction, inputs: Sequence[Row | None], bounds: Sequence[tuple[int, int]]) -> list[Any]:
    """The minimum or maximum of each frame; bounds never fall, so each row enters once and leaves once."""
    key = sort_key(f.args[0].type, descending=f.function == "max")
    best: deque[tuple[Any, int, Any]] = deque()
    results: list[Any] = []
    entered = 0
    for start, end in bounds:
        entered = max(entered, start)
        while entered < end:
            x = inputs[entered]
            if x is not None and x[0] is not None:
                k = key(x[0])
                while best and not best[-1][0] < k:
                    best.pop()
                best.append((k, entered, x[0]))
            entered += 1
        while best and best[0][1] < start:
            best.popleft()
        results.append(best[0][2] if best and start < end else None)
    return results


def is_edge(f: WindowFunction) -> bool | None:
    """Whether the function reads the last row of the partition (True), the first (False), or neither (None)."""
    if f.ignore_nulls or f.where is not None:
        return None
    frame = f.frame
    if f.function in ("first_value", "first", "any_value") and frame.start is None and frame.end in (0, None):
        return False
    if f.function in ("last_value", "last") and frame.end is None and frame.start in (0, None):
        return True
    return None
