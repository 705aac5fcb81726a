"""Values in and out."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    MONTHS,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    Map,
    Member,
    String,
    Struct,
    Time,
    Type,
)
from evercurrent.data.values import (
    NAN,
    BadValue,
    FrozenMap,
    Record,
    decimal_fits,
    float32,
    give_out,
    integer_fits,
    reader,
    take_in,
    writer,
)

POINT = Struct((Member("x", INT), Member("y", DOUBLE)))
NOON = dt.datetime(2024, 2, 29, 12)

ACCEPTED: list[tuple[Type, Any, Any]] = [
    (BOOLEAN, True, True),
    (BOOLEAN, np.bool_(False), False),
    (INT, 5, 5),
    (INT, np.int64(5), 5),
    (INT, 5.0, 5),
    (INT, decimal.Decimal("5"), 5),
    (INT, float("nan"), None),
    (DOUBLE, 1, 1.0),
    (DOUBLE, np.float32(0.5), 0.5),
    (DOUBLE, decimal.Decimal("0.1"), 0.1),
    (FLOAT, 0.1, 0.10000000149011612),
    (FLOAT, 1e39, math.inf),
    (Decimal(12, 2), "9.50", 950),
    (Decimal(12, 2), 9, 900),
    (Decimal(12, 2), decimal.Decimal("9.505"), 951),
    (Decimal(12, 2), decimal.Decimal("-9.505"), -951),
    (Decimal(12, 2), 0.1, 10),
    (Decimal(38, 0), "9" * 38, 10**38 - 1),
    (STRING, "é", "é"),
    (STRING, np.str_("a"), "a"),
    (String(3), "abc  ", "abc"),
    (BINARY, bytearray(b"a"), b"a"),
    (DATE, "2024-02-29", dt.date(2024, 2, 29)),
    (DATE, dt.datetime(2024, 2, 29), dt.date(2024, 2, 29)),
    (DATE, np.datetime64("2024-02-29"), dt.date(2024, 2, 29)),
    (TIME, dt.time(12, 30, 0, 5), dt.time(12, 30, 0, 5)),
    (TIME, dt.time(12, 30, fold=1), dt.time(12, 30)),
    (TIME, " 9:05:06.7 ", dt.time(9, 5, 6, 700_000)),
    (TIME, "12:30 am", dt.time(0, 30)),
    (Time(3), dt.time(1, 2, 3, 999_999), dt.time(1, 2, 3, 999_000)),
    (Time(0), "1:02:03.9", dt.time(1, 2, 3)),
    (TIME, pd.NaT, None),
    (TIMESTAMP, NOON, NOON),
    (TIMESTAMP, NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))), NOON.replace(hour=10)),
    (TIMESTAMP, "2024-02-29T12:00:00+02:00", NOON.replace(hour=10)),
    (TIMESTAMP, dt.date(2024, 2, 29), NOON.replace(hour=0)),
    (TIMESTAMP, pd.Timestamp("2024-02-29 12:00"), NOON),
    (TIMESTAMP, np.datetime64("2024-02-29T12:00:00.000000001"), NOON),
    (TIMESTAMP, pd.NaT, None),
    (TIMESTAMP_NTZ, "2024-02-29 12:00", NOON),
    (MICROS, dt.timedelta(seconds=1), 1_000_000),
    (MICROS, np.timedelta64(1, "s"), 1_000_000),
    (MONTHS, 14, 14),
    (Array(INT), [1, None], (1, None)),
    (Array(INT), np.array([1, 2]), (1, 2)),
    (Array(Array(STRING)), [["a"]], (("a",),)),
    (POINT, {"x": 1, "y": 2}, (1, 2.0)),
    (POINT, {"x": 1}, (1, None)),
    (POINT, (1, 2), (1, 2.0)),
    (POINT, Record(("x", "y"), (1, 2.0)), (1, 2.0)),
    (Map(STRING, INT), {"a": 1}, FrozenMap({"a": 1})),
    (Map(STRING, INT), [("a", 1)], FrozenMap({"a": 1})),
    (INT, None, None),
    (INT, pd.NA, None),
]


@pytest.mark.parametrize(("t", "value", "inside"), ACCEPTED, ids=lambda x: str(x)[:30])
def test_a_value_is_taken_in(t: Type, value: Any, inside: Any) -> None:
    found = take_in(t, value)
    assert found == inside and type(found) is type(inside)


REFUSED: list[tuple[Type, Any]] = [
    (BOOLEAN, 1),
    (BOOLEAN, "true"),
    (INT, True),
    (INT, "5"),
    (INT, 5.5),
    (INT, 2**31),
    (INT, math.inf),
    (TINYINT, -129),
    (DOUBLE, "1.5"),
    (DOUBLE, True),
    (DOUBLE, 10**400),
    (Decimal(4, 2), "100"),
    (Decimal(4, 2), "x"),
    (Decimal(4, 2), float("nan")),
    (Decimal(4, 2), "1e1000000"),
    (STRING, 5),
    (STRING, b"a"),
    (String(3), "abcd"),
    (BINARY, "a"),
    (DATE, "2024-02-30"),
    (DATE, NOON),
    (DATE, 5),
    (TIMESTAMP, "yesterday"),
    (TIMESTAMP_NTZ, NOON.replace(tzinfo=dt.UTC)),
    (MONTHS, dt.timedelta(days=1)),
    (Array(INT), "ab"),
    (Array(INT), ["x"]),
    (POINT, {"x": 1, "z": 2}),
    (POINT, (1,)),
    (POINT, 5),
    (Map(STRING, INT), {None: 1}),
    (Map(STRING, INT), [("a", 1), ("a", 2)]),
    (Map(STRING, INT), [1]),
    (NULL, 1),
]


@pytest.mark.parametrize(("t", "value"), REFUSED, ids=lambda x: str(x)[:30])
def test_a_value_that_does_not_fit_is_refused_with_both_named(t: Type, value: Any) -> None:
    with pytest.raises(BadValue) as caught:
        take_in(t, value)
    assert str(t) in str(caught.value) or "a value of type" in str(caught.value)


@pytest.mark.parametrize(
    ("t", "inside", "outside"),
    [
        (Decimal(38, 2), 10**37 + 1, decimal.Decimal("100000000000000000000000000000000000.01")),
        (Decimal(12, 2), -5, decimal.Decimal("-0.05")),
        (TIMESTAMP, NOON, NOON.replace(tzinfo=dt.UTC)),
        (TIMESTAMP_NTZ, NOON, NOON),
        (TIME, dt.time(1, 2), dt.time(1, 2)),
        (MICROS, 1_500_000, dt.timedelta(seconds=1.5)),
        (Array(Decimal(3, 1)), (15, None), [decimal.Decimal("1.5"), None]),
        (POINT, (1, None), {"x": 1, "y": None}),
        (Map(STRING, Array(INT)), FrozenMap({"a": (1,)}), {"a": [1]}),
        (Map(Array(INT), INT), FrozenMap({(1,): 2}), {(1,): 2}),
        (INT, None, None),
    ],
    ids=str,
)
def test_a_value_is_given_out(t: Type, inside: Any, outside: Any) -> None:
    found = give_out(t, inside)
    assert found == outside and type(found) in (type(outside), Record)


TYPES = st.recursive(
    st.sampled_from(
        [BOOLEAN, INT, BIGINT, DOUBLE, Decimal(9, 3), STRING, BINARY, DATE, TIME, TIMESTAMP, TIMESTAMP_NTZ]
    ),
    lambda inner: st.one_of(
        inner.map(Array),
        st.tuples(inner, inner).map(lambda p: Struct((Member("a", p[0]), Member("b", p[1])))),
        inner.map(lambda v: Map(STRING, v)),
    ),
    max_leaves=4,
)


def values_of(t: Type) -> st.SearchStrategy[Any]:
    """Inside values of a type, NULL among them."""
    simple: dict[Type, st.SearchStrategy[Any]] = {
        BOOLEAN: st.booleans(),
        INT: st.integers(-(2**31), 2**31 - 1),
        BIGINT: st.integers(-(2**63), 2**63 - 1),
        DOUBLE: st.floats().map(lambda x: NAN if x != x else x),
        STRING: st.text(max_size=3),
        BINARY: st.binary(max_size=3),
        DATE: st.dates(),
        TIME: st.times(),
        TIMESTAMP: st.datetimes(),
        TIMESTAMP_NTZ: st.datetimes(),
    }
    match t:
        case Decimal(p):
            inner = st.integers(-(10**p) + 1, 10**p - 1)
        case Array(e):
            inner = st.lists(values_of(e), max_size=3).map(tuple)
        case Struct(members):
            inner = st.tuples(*(values_of(m.type) for m in members))
        case Map(_, v):
            inner = st.dictionaries(st.text(max_size=2), values_of(v), max_size=2).map(FrozenMap)
        case _:
            inner = simple[t]
    return st.none() | inner


@given(data=st.data())
def test_out_and_in_again_is_the_same(data: st.DataObject) -> None:
    types = data.draw(st.lists(TYPES, min_size=1, max_size=4))
    row = tuple(data.draw(values_of(t)) for t in types)
    assert tuple(take_in(t, give_out(t, v)) for t, v in zip(types, row, strict=True)) == row
    (again,) = reader(types)([writer(types)(row)])
    assert again == row
    assert hash(row) == hash(again)


def test_a_reader_says_which_field_does_not_fit() -> None:
    read = reader([INT, STRING, Decimal(4, 1)])
    assert read([(1, "a", "2.5"), (2, None, 3)]) == [(1, "a", 25), (2, None, 30)]
    for position, row in enumerate([("x", "a", 1), (1, 5, 1), (1, "a", "x")]):
        with pytest.raises(BadValue) as caught:
            read([(1, "a", 1), row])
        assert (caught.value.position, caught.value.value) == (position, row[position])
    assert reader([])([()]) == [()]


def test_a_writer_with_nothing_to_do_gives_the_row_itself() -> None:
    row = (1, "a", None)
    assert writer([INT, STRING, DATE])(row) is row


def test_every_nan_is_the_one_nan() -> None:
    assert take_in(DOUBLE, float("nan")) is NAN
    assert reader([DOUBLE])([(float("nan"),)])[0][0] is NAN
    assert take_in(Array(DOUBLE), [float("nan")])[0] is NAN
    assert float32(float("nan")) is NAN
    assert {(NAN,): 1}[(take_in(DOUBLE, np.nan),)] == 1


def test_bounds() -> None:
    assert integer_fits(TINYINT, -128) and not integer_fits(TINYINT, 128)
    assert decimal_fits(Decimal(3, 1), 999) and not decimal_fits(Decimal(3, 1), -1000)


def test_maps_and_records_behave_as_values() -> None:
    a, b = FrozenMap({1: 2, 3: 4}), FrozenMap([(3, 4), (1, 2)])
    assert a == b and hash(a) == hash(b) and list(a) == [1, 3] and repr(a) == "FrozenMap({1: 2, 3: 4})"
    r = Record(("a", "b"), (1, None))
    assert r == {"a": 1, "b": None} and r != {"a": 1} and dict(r) == {"a": 1, "b": None}
    assert hash(r) == hash(Record(("a", "b"), (1, None))) and pickle.loads(pickle.dumps(r)) == r
    with pytest.raises(AttributeError):
        r.c
    with pytest.raises(KeyError):
        r["c"]
