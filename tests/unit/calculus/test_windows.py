"""Window functions over sorted partitions, against results worked out by hand."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from evercurrent.calculus.frames import add_months
from evercurrent.data.types import BIGINT, DATE, DAYS, DOUBLE, INT, MONTHS, Interval, Type
from evercurrent.data.values import NAN
from evercurrent.term.nodes import RUNNING, WHOLE, Frame, Literal, SortKey, Term, WindowFunction
from tests.unit.calculus.writing import as_term, asc, desc, gt, relation, run, var, window

R = relation("r", k=INT, x=INT)
r = var("r", R)


def over(
    function: str,
    *args: Any,
    type: Type = INT,
    partition: tuple[Term, ...] = (),
    order: tuple[SortKey, ...] = (),
    frame: Frame | None = None,
    **options: Any,
) -> WindowFunction:
    frame = frame or (RUNNING if order else WHOLE)
    return WindowFunction(function, tuple(map(as_term, args)), type, partition, order, frame, **options)


def results(function: WindowFunction, rows: list[tuple[Any, Any]]) -> list[Any]:
    """The function's values, rows being sorted by k and x."""
    found = run(window(r, R, f=function), {"r": rows})
    key = [(row[0] is not None, row[0] or 0, row[1] is not None, row[1] or 0) for row in found]
    return [row[2] for _, row in sorted(zip(key, found, strict=True), key=lambda pair: pair[0])]


BY_K = (asc(r.k),)
ROWS = [(10, 1), (20, 2), (20, 3), (30, None), (40, 5)]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("row_number", [1, 2, 3, 4, 5]),
        ("rank", [1, 2, 2, 4, 5]),
        ("dense_rank", [1, 2, 2, 3, 4]),
        ("percent_rank", [0.0, 0.25, 0.25, 0.75, 1.0]),
        ("cume_dist", [0.2, 0.6, 0.6, 0.8, 1.0]),
    ],
)
def test_ranking(function: str, expected: list[Any]) -> None:
    assert results(over(function, order=BY_K), ROWS) == expected


def test_ranking_of_one_row_and_of_equal_rows() -> None:
    assert results(over("percent_rank", order=BY_K), [(1, 1)]) == [0.0]
    assert results(over("row_number", order=BY_K), [(1, 1), (1, 1)]) == [1, 2]
    assert results(over("rank", order=BY_K), [(1, 1), (1, 1)]) == [1, 1]


def test_ties_are_settled_by_the_whole_row_nulls_first() -> None:
    assert results(over("row_number", order=BY_K), [(1, 7), (1, None), (1, 3)]) == [1, 2, 3]
    descending = over("row_number", order=(desc(r.k),))
    assert results(descending, [(1, 7), (1, None), (2, 0)]) == [2, 3, 1]


def test_ntile() -> None:
    assert results(over("ntile", 3, order=BY_K), [(i, 0) for i in range(7)]) == [1, 1, 1, 2, 2, 3, 3]
    assert results(over("ntile", 5, order=BY_K), [(i, 0) for i in range(2)]) == [1, 2]


def test_lag_and_lead() -> None:
    assert results(over("lag", r.x, order=BY_K), ROWS) == [None, 1, 2, 3, None]
    assert results(over("lead", r.x, order=BY_K), ROWS) == [2, 3, None, 5, None]
    assert results(over("lag", r.x, 2, -1, order=BY_K), ROWS) == [-1, -1, 1, 2, 3]
    assert results(over("lead", r.x, -1, order=BY_K), ROWS) == [None, 1, 2, 3, None]
    assert results(over("lag", r.x, 0, order=BY_K), ROWS) == [1, 2, 3, None, 5]
    assert results(over("lag", r.x, 9, r.k, order=BY_K), ROWS) == [10, 20, 20, 30, 40]


def test_lag_and_lead_ignoring_nulls() -> None:
    rows = [(1, 1), (2, None), (3, None), (4, 4), (5, None)]
    assert results(over("lag", r.x, order=BY_K, ignore_nulls=True), rows) == [None, 1, 1, 1, 4]
    assert results(over("lead", r.x, order=BY_K, ignore_nulls=True), rows) == [4, 4, 4, None, None]
    assert results(over("lag", r.x, 2, order=BY_K, ignore_nulls=True), rows) == [None, None, None, None, 1]


def test_first_last_and_nth_value() -> None:
    two = Frame("rows", -1, 0)
    assert results(over("first_value", r.x, order=BY_K, frame=two), ROWS) == [1, 1, 2, 3, None]
    assert results(over("last_value", r.x, order=BY_K, frame=two), ROWS) == [1, 2, 3, None, 5]
    assert results(over("last_value", r.x, order=BY_K), ROWS) == [1, 3, 3, None, 5]
    assert results(over("last_value", r.x, order=BY_K, ignore_nulls=True), ROWS) == [1, 3, 3, 3, 5]
    assert results(over("nth_value", r.x, 2, order=BY_K), ROWS) == [None, 2, 2, 2, 2]
    empty = Frame("rows", 2, 3)
    assert results(over("first_value", r.x, order=BY_K, frame=empty), ROWS) == [3, None, 5, None, None]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (RUNNING, [1, 6, 6, 6, 11]),
        (WHOLE, [11, 11, 11, 11, 11]),
        (Frame("rows", None, 0), [1, 3, 6, 6, 11]),
        (Frame("rows", -1, 1), [3, 6, 5, 8, 5]),
        (Frame("rows", 1, None), [10, 8, 5, 5, None]),
        (Frame("rows", -2, -1), [None, 1, 3, 5, 3]),
        (Frame("groups", -1, 0), [1, 6, 6, 5, 5]),
        (Frame("groups", 1, 1), [5, None, None, 5, None]),
        (Frame("range", -10, 0), [1, 6, 6, 5, 5]),
        (Frame("range", 0, 10), [6, 5, 5, 5, 5]),
        (Frame("range", 5, 15), [5, None, None, 5, None]),
        (Frame("range", 0, None), [11, 10, 10, 5, 5]),
    ],
)
def test_sum_over_frames(frame: Frame, expected: list[Any]) -> None:
    assert results(over("sum", r.x, type=BIGINT, order=BY_K, frame=frame), ROWS) == expected


def test_range_offsets_follow_the_direction_of_the_order() -> None:
    function = over("sum", r.x, type=BIGINT, order=(desc(r.k),), frame=Frame("range", -10, 0))
    assert results(function, ROWS) == [6, 5, 5, 5, 5]


def test_null_keys_are_in_range_of_each_other_only() -> None:
    rows = [(None, 1), (None, 2), (10, 4)]
    near = over("sum", r.x, type=BIGINT, order=BY_K, frame=Frame("range", -10, 10))
    assert results(near, rows) == [3, 3, 4]
    before = over("sum", r.x, type=BIGINT, order=BY_K, frame=Frame("range", None, 10))
    assert results(before, rows) == [3, 3, 7]


def test_count_filter_and_distinct_over_a_window() -> None:
    rows = [(1, 5), (2, 5), (3, 6)]
    assert results(over("count", type=BIGINT, order=BY_K), rows) == [1, 2, 3]
    assert results(over("count", type=BIGINT, order=BY_K, where=gt(r.x, 5)), rows) == [0, 0, 1]
    assert results(over("count", r.x, type=BIGINT, distinct=True), rows) == [2, 2, 2]


def test_partitions_with_null_keys() -> None:
    function = over("sum", r.x, type=BIGINT, partition=(r.k,))
    assert results(function, [(None, 1), (None, 2), (1, 4)]) == [3, 3, 4]


def test_intervals_move_dates() -> None:
    days = relation("days", d=DATE, x=INT)
    d = var("d", days)
    rows = [(datetime.date(2024, 1, 31), 1), (datetime.date(2024, 2, 5), 2), (datetime.date(2024, 2, 29), 4)]

    def total(offset: Any, kind: Interval) -> list[Any]:
        frame = Frame("range", Literal(offset, kind), 0)
        function = over("sum", d.x, type=BIGINT, order=(asc(d.d),), frame=frame)
        return [row[2] for row in sorted(run(window(d, days, s=function), {"days": rows}))]

    day = 86_400_000_000
    assert total(-5 * day, DAYS) == [1, 3, 4]
    assert total(-1, MONTHS) == [1, 3, 7]


def test_months_are_cut_at_their_end() -> None:
    assert add_months(datetime.date(2023, 3, 31), -1) == datetime.date(2023, 2, 28)
    assert add_months(datetime.date(2023, 12, 15), 1) == datetime.date(2024, 1, 15)
    assert add_months(datetime.datetime(2023, 10, 31, 5), -11) == datetime.datetime(2022, 11, 30, 5)
    assert add_months(datetime.date(9999, 11, 30), 1) == datetime.date(9999, 12, 30)


def test_nan_is_the_greatest_and_its_own_peer() -> None:
    floats = relation("f", x=DOUBLE)
    v = var("v", floats)
    function = over("rank", order=(asc(v.x),))
    found = run(window(v, floats, f=function), {"f": [(NAN,), (1.0,), (NAN,), (float("inf"),)]})
    assert sorted(row[1] for row in found) == [1, 2, 3, 3]
    assert {row[1] for row in found if row[0] is NAN} == {3}


def test_one_window_node_may_hold_functions_of_different_orders() -> None:
    query = window(
        r, R, up=over("row_number", order=(asc(r.x),)), down=over("row_number", order=(desc(r.x),))
    )
    assert run(query, {"r": [(0, 1), (0, 2), (0, 3)]}) == [(0, 1, 1, 3), (0, 2, 2, 2), (0, 3, 3, 1)]
