"""Laws of the monoids, on values of each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.data.monoids import ALL, BAG, LIST, MAX, MIN, MONOIDS, SET, SOME, SUM, Monoid, may_fold
from evercurrent.data.zset import ZSet

SMALL = st.integers(-3, 3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "sum": SMALL,
    "min": SMALL,
    "max": SMALL,
    "all": st.booleans(),
    "some": st.booleans(),
    "set": st.frozensets(SMALL, max_size=3),
    "list": st.lists(SMALL, max_size=3).map(tuple),
    "bag": st.dictionaries(st.tuples(SMALL), st.integers(-2, 2), max_size=3).map(ZSet),
}


@pytest.mark.parametrize("monoid", MONOIDS, ids=lambda m: m.name)
@given(data=st.data())
def test_the_laws_of_its_rung_hold(monoid: Monoid, data: st.DataObject) -> None:
    a, b, c = (data.draw(VALUES[monoid.name]) for _ in range(3))
    f = monoid.combine
    assert f(f(a, b), c) == f(a, f(b, c))
    if monoid.commutative:
        assert f(a, b) == f(b, a)
    if monoid.idempotent:
        assert f(a, a) == a
    if monoid.zero is not None:
        assert f(monoid.zero(), a) == a == f(a, monoid.zero())
    if monoid.negate is not None:
        assert monoid.zero is not None
        assert f(a, monoid.negate(a)) == monoid.zero()


def test_what_is_not_promised_does_not_hold() -> None:
    assert LIST.combine((1,), (2,)) != LIST.combine((2,), (1,))
    assert SUM.combine(1, 1) != 1


def test_folding_nothing_is_zero_or_nothing() -> None:
    assert (SUM.fold([]), ALL.fold([]), SOME.fold([]), LIST.fold([])) == (0, True, False, ())
    assert MIN.fold([]) is None
    assert (MIN.fold([2, 1]), MAX.fold([2, 1])) == (1, 2)


def test_a_fold_must_not_depend_on_what_the_collection_forgot() -> None:
    assert may_fold(LIST, LIST) and may_fold(LIST, SUM) and may_fold(BAG, SUM) and may_fold(SET, MAX)
    assert not may_fold(SET, SUM) and not may_fold(BAG, LIST) and not may_fold(SET, BAG)
