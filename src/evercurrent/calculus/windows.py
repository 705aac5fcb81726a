"""Window functions over a sorted partition; the engines use these functions too.

A partition is a list of rows in the order of the function. The order is total: rows that are equal in it (peers) are
settled by the whole row, ascending, NULLs first. Positions count from 0. Peers share rank and the bounds of RANGE frames.

    rows (k)         10  20  20  30
    row_number        1   2   3   4
    rank              1   2   2   4
    dense_rank        1   2   2   3
    sum, running     10  50  50  80        RANGE UNBOUNDED PRECEDING: with all peers

`value(term, row)` returns the value of a term for a row; the caller decides how a term is evaluated over a row.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from evercurrent.calculus.frames import Frames
from evercurrent.data.order import sort_key
from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.nodes import Aggregate, SortKey, Term, WindowFunction

Value = Callable[[Term, Row], Any]


# --- order -------------------------------------------------------------------------------------------------


def order_of(order: tuple[SortKey, ...], value: Value) -> Callable[[Row], Row]:
    """What rows are compared by: the sort keys' values."""
    keys = [(k.term, sort_key(k.term.type, k.descending, k.nulls_first)) for k in order]
    return lambda row: tuple(key(value(term, row)) for term, key in keys)


def total_order(order: tuple[SortKey, ...], types: tuple[Type, ...], value: Value) -> Callable[[Row], Row]:
    """The sort keys' values, then the whole row."""
    first = order_of(order, value)
    rest = [sort_key(t) for t in types]
    return lambda row: (*first(row), *(key(member) for key, member in zip(rest, row, strict=True)))


def sort_rows(
    order: tuple[SortKey, ...], entries: Iterable[tuple[Row, int]], types: tuple[Type, ...], value: Value
) -> list[tuple[Row, int]]:
    key = total_order(order, types, value)
    return sorted(entries, key=lambda entry: key(entry[0]))


T = TypeVar("T")


def choose_first(
    entries: Iterable[tuple[T, int]], limit: int | None, offset: int, ties: str, peers: Callable[[T], Any]
) -> Iterator[tuple[T, int]]:
    """Of rows in order, with weights: those whose place is beyond the offset and within the limit; see `Top.ties`.

    >>> rows = [((9, "a"), 1), ((8, "b"), 1), ((8, "c"), 1), ((7, "d"), 1)]
    >>> [len(list(choose_first(rows, 2, 0, ties, lambda row: row[0]))) for ties in ("rows", "rank", "dense_rank")]
    [2, 3, 3]
    """
    if ties == "rows" or limit is None:
        skip, left = offset, limit
        for row, weight in entries:
            if left == 0:
                return
            skipped = min(skip, weight)
            taken = weight - skipped if left is None else min(weight - skipped, left)
            skip -= skipped
            left = None if left is None else left - taken
            if taken:
                yield row, taken
        return
    assert offset == 0
    rank, seen, last = 0, 0, None
    for row, weight in entries:
        peer = peers(row)
        if seen == 0 or peer != last:
            rank, last = rank + 1 if ties == "dense_rank" else seen + 1, peer
            if rank > limit:
                return
        seen += weight
        yield row, weight


def same_windows(functions: Sequence[WindowFunction]) -> list[list[int]]:
    """Positions of functions with one partition and order, in the order in which the windows first come."""
    groups: dict[tuple[object, object], list[int]] = {}
    for i, function in enumerate(functions):
        groups.setdefault((function.partition, function.order), []).append(i)
    return list(groups.values())


def partitions(
    function: WindowFunction, rows: Sequence[Row], types: tuple[Type, ...], value: Value
) -> Iterable[list[int]]:
    """The positions of the rows of each partition, in order."""
    groups: dict[Row, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(tuple(value(p, row) for p in function.partition), []).append(i)
    key = total_order(function.order, types, value)
    for places in groups.values():
        places.sort(key=lambda i: key(rows[i]))
    return groups.values()


# --- functions ---------------------------------------------------------------------------------------------


def window_values(function: WindowFunction, rows: Sequence[Row], value: Value) -> list[Any]:
    """The function's value for each row of one sorted partition."""
    key = order_of(function.order, value)
    keys = [key(row) for row in rows]
    match function.function:
        case "row_number":
            return list(range(1, len(rows) + 1))
        case "rank" | "dense_rank" | "percent_rank" | "cume_dist":
            return ranking(function.function, keys)
        case "ntile":
            return ntile(len(rows), value(function.args[0], rows[0])) if rows else []
        case "lag" | "lead":
            return compute_shift(function, rows, value)
        case "first_value" | "last_value" | "nth_value" | "first" | "last" | "any_value":
            return pick_rows(function, rows, keys, value)
        case _:
            return aggregate_frames(function, rows, keys, value)


def ranking(name: str, keys: Sequence[Row]) -> list[Any]:
    """1 + rows before the first peer; 1 + groups before; (rank - 1) / (n - 1); rows up to the last peer / n."""
    n = len(keys)
    results: list[Any] = []
    dense = 0
    for i, key in enumerate(keys):
        new = i == 0 or key != keys[i - 1]
        dense += new
        if name == "dense_rank":
            results.append(dense)
        elif name == "rank":
            results.append(i + 1 if new else results[-1])
        elif name == "percent_rank":
            results.append((i / (n - 1) if n > 1 else 0.0) if new else results[-1])
        else:
            results.append(bisect_right(keys, key, lo=i) / n if new else results[-1])
    return results


def ntile(n: int, buckets: int) -> list[int]:
    """Buckets of equal size, the first n % buckets of them one larger."""
    size, larger = divmod(n, buckets)
    results: list[int] = []
    for bucket in range(buckets):
        results.extend([bucket + 1] * (size + (bucket < larger)))
    return results


def compute_shift(function: WindowFunction, rows: Sequence[Row], value: Value) -> list[Any]:
    """lag, lead (x, offset 1, default NULL); with IGNORE NULLS the offset counts only rows whose x is not NULL."""
    args = function.args
    values = [value(args[0], row) for row in rows]
    present = [i for i, v in enumerate(values) if v is not None or not function.ignore_nulls]
    results: list[Any] = []
    for i, row in enumerate(rows):
        offset = value(args[1], row) if len(args) > 1 else 1
        offset = -offset if function.function == "lag" else offset
        if offset == 0:
            target = i
        elif offset > 0:
            target = bisect_right(present, i) + offset - 1
            target = present[target] if target < len(present) else -1
        else:
            target = bisect_left(present, i) + offset
            target = present[target] if target >= 0 else -1
        if target >= 0:
            results.append(values[target])
        else:
            results.append(value(args[2], row) if len(args) > 2 else None)
    return results


def pick_rows(function: WindowFunction, rows: Sequence[Row], keys: Sequence[Row], value: Value) -> list[Any]:
    """The first, last or n-th row of the frame (whose x is not NULL, with IGNORE NULLS); NULL if there is none."""
    values = [value(function.args[0], row) for row in rows]
    present = [i for i, v in enumerate(values) if v is not None or not function.ignore_nulls]
    frames = Frames(function, rows, keys, value)
    results: list[Any] = []
    for i, row in enumerate(rows):
        start, end = frames.bounds(i)
        low, high = bisect_left(present, start), bisect_left(present, end)
        if function.function in ("last_value", "last"):
            place = high - 1
        elif function.function == "nth_value":
            place = low + value(function.args[1], row) - 1
        else:
            place = low
        results.append(values[present[place]] if low <= place < high else None)
    return results


def aggregate_frames(
    function: WindowFunction, rows: Sequence[Row], keys: Sequence[Row], value: Value
) -> list[Any]:
    """An aggregate over the frame; neighbours with the same frame share its value."""
    aggregate = Aggregate(
        function.function, function.args, function.type, function.distinct, None, (), function.options
    )
    inputs = [
        (tuple(value(arg, row) for arg in function.args), (), 1)
        if function.where is None or value(function.where, row) is True
        else None
        for row in rows
    ]
    frames = Frames(function, rows, keys, value)
    results: list[Any] = []
    known: tuple[int, int] | None = None
    for i in range(len(rows)):
        bounds = frames.bounds(i)
        if bounds != known:
            known = bounds
            current = evaluate_aggregate(
                aggregate, [x for x in inputs[bounds[0] : bounds[1]] if x is not None], ordered=True
            )
        results.append(current)
    return results
