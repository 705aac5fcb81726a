"""The order of values."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.data.order import compare, sort_key
from evercurrent.data.types import BOOLEAN, DATE, DOUBLE, INT, STRING, Array, Map, Member, Struct, Type
from evercurrent.data.values import NAN, FrozenMap
from tests.unit.data.test_values import TYPES, values_of

ASCENDING: list[tuple[Type, list[Any]]] = [
    (INT, [None, -1, 0, 5]),
    (DOUBLE, [None, -math.inf, -1.5, 0.0, 2.0, math.inf, NAN]),
    (BOOLEAN, [None, False, True]),
    (STRING, [None, "", "B", "a", "ab", "é", "￿", "😀"]),
    (Array(INT), [None, (), (None,), (None, 5), (1,), (1, None), (1, 2), (2,)]),
    (
        Struct((Member("a", INT), Member("b", DOUBLE))),
        [None, (None, 1.0), (1, None), (1, 2.0), (1, NAN), (2, 0.0)],
    ),
    (Map(STRING, INT), [None, FrozenMap(), FrozenMap({"a": 1}), FrozenMap({"a": 2}), FrozenMap({"b": 0})]),
]


@pytest.mark.parametrize(("t", "values"), ASCENDING, ids=lambda x: str(x)[:20])
def test_values_sort_as_spark_sorts_them(t: Type, values: list[Any]) -> None:
    known = values[1:]
    assert sorted(reversed(values), key=sort_key(t)) == values
    assert sorted(reversed(values), key=sort_key(t, nulls_first=False)) == [*known, None]
    assert sorted(values, key=sort_key(t, descending=True, nulls_first=False)) == [*known[::-1], None]
    assert sorted(values, key=sort_key(t, descending=True)) == [None, *known[::-1]]


def test_negative_zero_equals_zero() -> None:
    assert compare(DOUBLE, -0.0, 0.0) == 0


@given(data=st.data())
def test_the_order_is_total_and_agrees_with_equality(data: st.DataObject) -> None:
    t = data.draw(TYPES)
    a, b, c = (data.draw(values_of(t)) for _ in range(3))
    assert compare(t, a, b) == -compare(t, b, a)
    assert (compare(t, a, b) == 0) == ((a,) == (b,))
    if compare(t, a, b) <= 0 and compare(t, b, c) <= 0:
        assert compare(t, a, c) <= 0
    down = sort_key(t, descending=True)
    if a is not None and b is not None:
        assert (down(a) < down(b)) == (compare(t, b, a) < 0)


def test_dates_compare() -> None:
    import datetime

    assert compare(DATE, datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)) == -1


@pytest.mark.parametrize("descending", [False, True])
def test_keys_of_nested_values_can_be_hashed(descending: bool) -> None:
    """Ranks count rows by their keys."""
    key = sort_key(Map(INT, Array(INT)), descending)
    value = FrozenMap({2: (1,), 1: (3, None)})
    assert hash(key(value)) == hash(key(value)) and hash(key(None)) is not None
