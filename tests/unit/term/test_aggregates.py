"""Aggregates: NULL rules, exactness, and independence of the order in which rows come."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.data.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Array, Decimal, Map
from evercurrent.data.values import NAN
from evercurrent.errors import EvaluationError, QueryError
from evercurrent.term.aggregates import TABLE, aggregate, evaluate_aggregate, find_aggregate, result_type
from evercurrent.term.nodes import Aggregate, Column, SortKey

N, M = Column("n", INT), Column("m", INT)
X, S, P = Column("x", DOUBLE), Column("s", STRING), Column("p", BOOLEAN)


def over(a: Aggregate, *values: Any, **options: Any) -> Any:
    rows = [v if isinstance(v, tuple) else (v,) for v in values]
    return evaluate_aggregate(a, [(row, (), 1) for row in rows], **options)


def test_results_are_typed() -> None:
    assert result_type("sum", (INT,)) == BIGINT
    assert result_type("sum", (Decimal(12, 2),)) == Decimal(22, 2)
    assert result_type("sum", (Decimal(38, 2),)) == Decimal(38, 2)
    assert result_type("avg", (INT,)) == DOUBLE
    assert result_type("avg", (Decimal(12, 2),)) == Decimal(16, 6)
    assert result_type("count", ()) == BIGINT
    assert result_type("max", (STRING,)) == STRING
    assert result_type("collect_list", (INT,)) == Array(INT)
    assert result_type("percentile", (INT,), ((0.1, 0.9),)) == Array(DOUBLE)
    assert result_type("stddev", (INT,)) == DOUBLE


def test_nulls_do_not_count() -> None:
    for name in ("sum", "avg", "min", "max", "median", "mode", "var_samp"):
        a = aggregate(name, [N])
        assert over(a) is None and over(a, None, None) is None
    assert over(aggregate("count", [N]), None, 1) == 1
    assert over(aggregate("count", []), (), ()) == 2
    assert over(aggregate("count", [N, M]), (1, None), (1, 2)) == 1
    assert over(aggregate("collect_list", [N]), None) == ()
    assert over(aggregate("count_if", [P]), None, True, False) == 1
    assert over(aggregate("bool_and", [P]), None, True) is True
    assert over(aggregate("bool_or", [P]), None) is None


def test_weights_are_multiplicities() -> None:
    assert evaluate_aggregate(aggregate("sum", [N]), [((5,), (), 3), ((1,), (), 1)]) == 16
    assert evaluate_aggregate(aggregate("sum", [N], distinct=True), [((5,), (), 3)]) == 5


def test_distinct_is_dropped_where_it_says_nothing() -> None:
    assert not aggregate("max", [N], distinct=True).distinct
    assert aggregate("count", [N], distinct=True).distinct


def test_overflow_is_an_error() -> None:
    with pytest.raises(EvaluationError):
        over(aggregate("sum", [Column("b", BIGINT)]), 2**63 - 1, 1)
    assert over(aggregate("sum", [Column("b", BIGINT)]), 2**63 - 1, 1, -1) == 2**63 - 1


def test_averages_of_decimals_are_rounded_half_up() -> None:
    a = aggregate("avg", [Column("d", Decimal(5, 0))])
    assert a.type == Decimal(9, 4) and over(a, 1, 1, 0) == 6667 and over(a, -1, -1, 0) == -6667


def test_ties_are_settled_by_value() -> None:
    assert over(aggregate("mode", [N]), 3, 1, 3, 1, 2) == 1
    assert over(aggregate("min_by", [N, M]), (5, 1), (4, 1), (None, 1), (1, 2)) == 4
    assert over(aggregate("max_by", [N, M]), (5, 1), (4, None)) == 5
    assert over(aggregate("first", [N]), 3, None, 1) == 1 and over(aggregate("last", [N]), 3, None, 1) == 3
    assert over(aggregate("any_value", [N]), None) is None


def test_a_window_keeps_its_own_order() -> None:
    assert over(aggregate("collect_list", [N]), 3, 1, 2, ordered=True) == (3, 1, 2)
    assert over(aggregate("first", [N]), None, 1, ordered=True) is None
    assert over(aggregate("first", [N], options=(True,)), None, 1, ordered=True) == 1


def test_ordered_aggregates_follow_their_keys() -> None:
    joined = aggregate("listagg", [S], options=("-",), order=[SortKey(N, True, False)])
    rows = [(("a",), (1,), 1), (("b",), (2,), 1), ((None,), (9,), 1), (("c",), (None,), 1)]
    assert evaluate_aggregate(joined, rows) == "b-a-c"
    assert evaluate_aggregate(aggregate("collect_set", [N]), [((2,), (), 1), ((1,), (), 2)]) == (1, 2)


FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6)


@given(FLOATS)
def test_sums_of_floats_are_exact(values: list[float]) -> None:
    found = over(aggregate("sum", [X]), *values)
    if not values:
        assert found is None
    else:
        exact = sum(map(Fraction, values))
        assert math.isinf(found) or abs(Fraction(found) - exact) <= abs(Fraction(math.ulp(found))) / 2


@given(st.permutations([1e16, 1.0, -1e16, 0.5, 3.25]))
def test_the_order_of_rows_does_not_matter(values: list[float]) -> None:
    for name in (
        "sum",
        "avg",
        "var_pop",
        "stddev_samp",
        "skewness",
        "kurtosis",
        "median",
        "collect_list",
        "first",
    ):
        a = aggregate(name, [X])
        assert over(a, *values) == over(a, *sorted(values))


def test_what_is_not_finite_adds_as_it_does() -> None:
    total = aggregate("sum", [X])
    assert over(total, math.inf, 1.0) == math.inf
    assert over(total, math.inf, -math.inf) is NAN
    assert over(total, NAN, 1.0) is NAN
    assert over(aggregate("max", [X]), NAN, math.inf) is NAN
    assert over(aggregate("min", [X]), NAN, math.inf) == math.inf
    assert over(aggregate("var_pop", [X]), math.inf, 1.0) is NAN


def test_percentiles() -> None:
    assert over(aggregate("median", [N]), 1, 2, 4, 3) == 2.5
    assert over(aggregate("percentile_disc", [N], options=(0.5,)), 1, 2, 4, 3) == 2.0
    assert over(aggregate("percentile_cont", [N], options=(0.25, True)), 1, 2, 3) == 2.5
    assert over(aggregate("percentile", [Column("d", Decimal(4, 2))], options=((0.0, 1.0),)), 150, 250) == (
        1.5,
        2.5,
    )


@pytest.mark.parametrize(
    ("name", "args", "options", "message"),
    [
        ("nothing", [N], (), "no aggregate function NOTHING"),
        ("sum", [N, M], (), "1 argument expected, 2 given"),
        ("sum", [P], (), "a number is needed, not BOOLEAN"),
        ("bool_and", [N], (), "a condition is needed"),
        ("max", [Column("m", Map(INT, INT))], (), "have no order"),
        ("collect_set", [Column("m", Map(INT, INT))], (), "cannot be compared"),
        ("percentile", [N], (1.5,), "between 0 and 1"),
        ("bit_and", [X], (), "an integer is needed"),
    ],
)
def test_what_does_not_fit_is_an_error(
    name: str, args: list[Column], options: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(QueryError, match=message):
        aggregate(name, args, options=options)


def test_names_are_found() -> None:
    assert find_aggregate("STDDEV") is TABLE["stddev_samp"] and find_aggregate("nothing") is None
    assert find_aggregate("string_agg") is TABLE["listagg"]
