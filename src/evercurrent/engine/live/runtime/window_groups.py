"""Partitions of window functions: for a changed row, only the rows whose values may have changed are evaluated.

Delta:   the values between the bounds that a change reaches, after it minus before it
State:   for each partition its rows in order, in chunks with sums (`chunks`)
Cost:    O(n / 256 + 512) for each changed row, and the rows within its reach: two rows for LAG, the rows between the old and
         the new place for RANK, the frame for ROWS BETWEEN 6 PRECEDING AND CURRENT ROW, all later rows for a running sum
Correct  because values outside the reach are equal before and after, so they cancel.

    lag(n) over 10, 20, 40, then insert 30      -(40, 20), +(30, 20), +(40, 30); the row of 20 is not evaluated

The rows before the change are the rows after it with the change taken back: it is taken back, the rows are evaluated, and it is
made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.delta.program import Keyed, Windowed
from evercurrent.engine.live.runtime.chunks import Bound, Chunks, Item, Sort, Summary
from evercurrent.engine.live.runtime.deltas import difference
from evercurrent.engine.live.runtime.window_frames import (
    Amounts,
    Edge,
    Framed,
    Reach,
    Sums,
    amounts_of,
    is_edge,
)
from evercurrent.engine.live.runtime.window_ranks import (
    EVERYTHING,
    Change,
    Evaluator,
    Interval,
    Neighbours,
    Numbers,
    Ranks,
    Span,
    constant_offset,
)
from evercurrent.engine.live.storages import Storage
from evercurrent.term.emit.functions import order_function, row_function
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Literal, Term, WindowFunction

Weights = dict[Row, int]

MANY = 4
"""If a change has more than one in so many rows of a partition, all of it is evaluated."""


class WindowGroups:
    """The partitions of one relation of window functions."""

    def __init__(self, relation: Keyed, storage: Storage) -> None:
        function = relation.function
        assert isinstance(function, Windowed)
        state = storage.layout.state
        self.relation = relation
        self.storage = storage
        self.key = tuple(storage.layout.position(name) for name in relation.key)
        self.columns = [*state.columns, *state.dependents]
        self.functions = [f for _, f in function.functions]
        order = self.functions[0].order if self.functions else ()
        self.width = len(order)
        self.sort = order_function(self.columns, order, state.columns)
        self.out = row_function(
            [*self.columns, *(column for column, _ in function.functions)], function.outputs
        )
        self.groups: dict[Any, Chunks] = {}
        self._compiled: dict[Term, Callable[[Row], Any]] = {}
        self.summed: list[Amounts] = []
        self.evaluators = [self._evaluator(f) for f in self.functions]
        self.dense = any(f.function == "dense_rank" for f in self.functions)

    def _value(self, term: Term, row: Row) -> Any:
        read = self._compiled.get(term)
        if read is None:
            read = self._compiled[term] = compile_term(term, self.columns)
        return read(row)

    def _evaluator(self, f: WindowFunction) -> Evaluator:
        match f.function:
            case "row_number":
                return Numbers()
            case "ntile" if isinstance(f.args[0], Literal):
                return Numbers(f.args[0].value)
            case "rank" | "dense_rank" | "percent_rank" | "cume_dist":
                return Ranks(f.function, self.width)
            case "lag" | "lead" if not f.ignore_nulls and (offset := constant_offset(f)) is not None:
                return Neighbours(f, offset, self._value)
            case "ntile" | "lag" | "lead":
                return Whole(f, self._value)
        reach = Reach(f, self._value)
        if (last := is_edge(f)) is not None:
            return Edge(f, self._value, last)
        amounts = amounts_of(f, self.columns) if reach.exact else None
        if amounts is None:
            return Framed(reach, self._value)
        sums = Sums(reach, amounts)
        if f.frame.start is None or f.frame.end is None:
            sums.at = len(self.summed)
            self.summed.append(amounts)
        return sums

    # --- summaries of chunks ---------------------------------------------------------------------------------

    def _measure(self, items: Sequence[Item]) -> Summary:
        peers = 0
        if self.dense:
            peers = 1 + sum(a[0][: self.width] != b[0][: self.width] for a, b in pairwise(items))
        totals = tuple(amounts.total(items) for amounts in self.summed)
        return Summary(sum(weight for _, _, weight in items), peers, totals)

    def _join(self, left: Summary, last: Sort | None, right: Summary, first: Sort) -> Summary:
        peers = left.peers + right.peers
        if self.dense and last is not None and last[: self.width] == first[: self.width]:
            peers -= 1
        totals = right.totals
        if left.totals:
            totals = tuple(
                a.join(x, y) for a, x, y in zip(self.summed, left.totals, right.totals, strict=True)
            )
        return Summary(left.weight + right.weight, peers, totals)

    # --- placing rows ----------------------------------------------------------------------------------------

    def place(self, key: Any, row: Row, weight: int) -> None:
        """Sets the weight of an entry's row; 0 removes it."""
        group = self.groups.get(key)
        if group is None:
            if not weight:
                return
            group = self.groups[key] = Chunks(self._measure, self._join)
        group.place(self.sort(row), row, weight)
        if not group:
            self.groups.pop(key, None)

    def put_back(self, key: Any, old: tuple[Row, int]) -> None:
        """Undoes `place`: sets a row's old weight."""
        self.place(key, *old)

    def refill(self) -> None:
        """Rebuilds all partitions from the state."""
        self.groups.clear()
        for key, row, weight in self.storage.whole_rows(self.key):
            self.place(key, row, weight)

    # --- reading ---------------------------------------------------------------------------------------------

    def note(self, touched: dict[Any, Weights], key: Any, row: Row) -> None:
        """Before a row changes: remembers its weight, unless it is known from an earlier change."""
        noted = touched.get(key)
        if noted is None:
            noted = touched[key] = {}
        if row not in noted:
            group = self.groups.get(key)
            noted[row] = group.weight(self.sort(row), row) if group is not None else 0

    def change(self, key: Any, noted: Weights, delta: Weights) -> None:
        """Adds to the delta what the change of some rows, whose old weights are given, changes in the output."""
        changed = []
        group = self.groups.get(key)
        for row, old in noted.items():
            sort = self.sort(row)
            now = 0 if group is None else group.weight(sort, row)
            if now != old:
                changed.append((sort, row, old, now))
        if not changed:
            return
        changed.sort(key=_sort_of)
        if group is None:
            group = Chunks(self._measure, self._join)
        changes = [Change(sort, row, now - old) for sort, row, old, now in changed]
        if len(changes) * MANY > group.size:
            spans: list[Interval] = [EVERYTHING]
            replace_rows(group, changed, back=True)
        else:
            reached = [r for e in self.evaluators for r in e.reach(group, changes, True)]
            marks = [e.mark(group) for e in self.evaluators]
            replace_rows(group, changed, back=True)
            reached += [r for e in self.evaluators for r in e.reach(group, changes, False)]
            if marks != [e.mark(group) for e in self.evaluators]:
                reached = [EVERYTHING]
            spans = merge_intervals([*reached, *((c.sort, c.sort) for c in changes)])
        before = self._evaluate(group, spans)
        replace_rows(group, changed, back=False)
        difference(self._evaluate(group, spans), before, delta)

    def output(self, key: Any) -> Weights:
        """Returns the rows of a partition with their values, and their multiplicities."""
        group = self.groups.get(key)
        return {} if group is None else self._evaluate(group, [EVERYTHING])

    def _evaluate(self, group: Chunks, spans: Sequence[Interval]) -> Weights:
        result: Weights = {}
        for low, high in spans:
            pairs = list(group.between(low, high))
            if not pairs:
                continue
            span = Span(low, high, [sort for sort, _ in pairs], [row for _, row in pairs])
            columns = [e.values(group, span) for e in self.evaluators]
            for row, *values in zip(span.rows, *columns, strict=True):
                out = self.out((*row, *values))
                result[out] = result.get(out, 0) + 1
        return result

    def rows(self) -> Iterator[tuple[Row, int]]:
        for key in list(self.groups):
            yield from self.output(key).items()


class Whole:
    """A function of which only the whole partition is known: lag with IGNORE NULLS, offsets that differ by row."""

    def __init__(self, function: WindowFunction, value: Callable[[Term, Row], Any]) -> None:
        self.function, self.value = function, value

    def mark(self, rows: Chunks) -> Any:
        return None

    def reach(self, rows: Chunks, changes: Sequence[Change], now: bool) -> Iterator[Interval]:
        yield EVERYTHING

    def values(self, rows: Chunks, span: Span) -> list[Any]:
        from evercurrent.calculus.windows import window_values

        return window_values(self.function, span.rows, self.value)


Changed = tuple[Sort, Row, int, int]
"""A row with its place, its old weight and its new one."""


def _sort_of(changed: Changed) -> Sort:
    return changed[0]


def replace_rows(group: Chunks, changed: Sequence[Changed], back: bool) -> None:
    """Sets the old weights of changed rows (`back`) or their new ones: first those that are removed."""
    wanted = [(sort, row, old if back else now) for sort, row, old, now in changed]
    for sort, row, weight in wanted:
        if not weight:
            group.place(sort, row, 0)
    for sort, row, weight in wanted:
        if weight:
            group.place(sort, row, weight)


def merge_intervals(intervals: Sequence[Interval]) -> list[Interval]:
    """Intervals without overlaps, in order."""
    if any(low is None and high is None for low, high in intervals):
        return [EVERYTHING]
    merged: list[Interval] = []
    for low, high in sorted(intervals, key=lambda i: () if i[0] is None else i[0]):
        if merged and not _is_before(merged[-1][1], low):
            merged[-1] = (merged[-1][0], _later(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _is_before(high: Bound, low: Bound) -> bool:
    """Whether an interval that ends here is over before one that begins there."""
    return high is not None and low is not None and high < low


def _later(a: Bound, b: Bound) -> Bound:
    return None if a is None or b is None else max(a, b)
