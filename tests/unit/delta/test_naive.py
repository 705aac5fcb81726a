"""The derivation that is evidently right."""

from __future__ import annotations

import pytest

from evercurrent.data.types import INT
from evercurrent.data.zset import ZSet
from evercurrent.delta.naive import Naive
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import aggregate
from tests.unit.calculus.writing import bag, div, eq, group, relation, scalar, var

R = relation("r", a=INT, b=INT)
S = relation("s", a=INT, b=INT)
r, s = var("r", R), var("s", S)


def test_the_delta_of_a_join_over_both_inputs_at_once() -> None:
    view = Naive(
        bag(r <= R, s <= S, eq(r.a, s.a), x=r.b, y=s.b), {"r": ZSet.of([(1, 1)]), "s": ZSet.of([(1, 5)])}
    )
    assert view.rows == ZSet.of([(1, 5)])
    delta = view.apply({"r": ZSet({(1, 1): -1, (2, 2): 1}), "s": ZSet({(2, 6): 2})})
    assert delta == ZSet({(1, 5): -1, (2, 6): 2})
    assert view.rows == ZSet({(2, 6): 2})


def test_the_delta_is_minimal() -> None:
    view = Naive(group(r, R, {"a": r.a}, m=aggregate("max", [r.b])), {"r": ZSet.of([(1, 5), (1, 3)])})
    assert view.apply({"r": ZSet({(1, 3): -1, (1, 4): 1})}) == ZSet()
    assert view.apply({"r": ZSet({(1, 5): -1})}) == ZSet({(1, 5): -1, (1, 4): 1})


def test_an_aggregate_over_nothing_has_its_row_before_the_first_insert() -> None:
    view = Naive(group(r, R, {}, c=aggregate("count", []), s=aggregate("sum", [r.b])))
    assert view.rows == ZSet.of([(0, None)])
    assert view.apply({"r": ZSet.of([(1, 2)])}) == ZSet({(0, None): -1, (1, 2): 1})
    assert view.apply({"r": -ZSet.of([(1, 2)])}) == ZSet({(0, None): 1, (1, 2): -1})


def test_an_error_changes_nothing() -> None:
    view = Naive(bag(r <= R, x=div(r.a, r.b)), {"r": ZSet.of([(4, 2)])})
    with pytest.raises(EvaluationError):
        view.apply({"r": ZSet.of([(1, 0)])})
    assert view.rows == ZSet.of([(2.0,)])
    assert view.apply({"r": ZSet.of([(1, 1)])}) == ZSet.of([(1.0,)])


def test_two_rows_in_a_scalar_subquery_are_an_error() -> None:
    view = Naive(bag(r <= R, x=scalar(bag(s <= S, b=s.b))), {"r": ZSet.of([(1, 1)])})
    assert view.rows == ZSet.of([(None,)])
    assert view.apply({"s": ZSet.of([(1, 7)])}) == ZSet({(None,): -1, (7,): 1})
    with pytest.raises(EvaluationError):
        view.apply({"s": ZSet.of([(1, 8)])})
