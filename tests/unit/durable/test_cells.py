"""Every value of every type comes back from an SQLite file as it was; what was not written by us is refused."""

from __future__ import annotations

import datetime
import math
import sqlite3
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercurrent.data import types as t
from evercurrent.data.values import NAN, FrozenMap, canonical_float
from evercurrent.durable.cells import BadCell, loader, row_dumper, rows_loader

SCALARS: list[tuple[t.Type, st.SearchStrategy[Any]]] = [
    (t.BOOLEAN, st.booleans()),
    (t.TINYINT, st.integers(-128, 127)),
    (t.BIGINT, st.integers(-(2**63), 2**63 - 1)),
    (t.DOUBLE, st.floats().map(canonical_float)),
    (t.FLOAT, st.floats(width=32).map(canonical_float)),
    (t.Decimal(38, 10), st.integers(-(10**38) + 1, 10**38 - 1)),
    (t.Decimal(5, 0), st.integers(-99999, 99999)),
    (t.Decimal(3, 3), st.integers(-999, 999)),
    (t.STRING, st.text()),
    (t.String(4), st.text(max_size=4)),
    (t.BINARY, st.binary()),
    (t.DATE, st.dates()),
    (t.TIME, st.times()),
    (t.TIMESTAMP, st.datetimes()),
    (t.TIMESTAMP_NTZ, st.datetimes()),
    (t.MONTHS, st.integers(-(2**31), 2**31)),
    (t.MICROS, st.integers(-(2**63), 2**63 - 1)),
    (t.Reference("person"), st.integers(1, 2**40)),
]


def nested(depth: int) -> st.SearchStrategy[tuple[t.Type, st.SearchStrategy[Any]]]:
    scalar = st.sampled_from(SCALARS)
    if not depth:
        return scalar
    inner = nested(depth - 1)

    def array(of: tuple[t.Type, Any]) -> tuple[t.Type, Any]:
        return t.Array(of[0]), st.lists(st.none() | of[1], max_size=3).map(tuple)

    def mapping(pair: tuple[tuple[t.Type, Any], tuple[t.Type, Any]]) -> tuple[t.Type, Any]:
        (k, keys), (v, values) = pair
        return t.Map(k, v), st.dictionaries(keys, st.none() | values, max_size=3).map(FrozenMap)

    def struct(of: list[tuple[t.Type, Any]]) -> tuple[t.Type, Any]:
        # Two members may have one name.
        members = tuple(t.Member("ab\"'"[i % 2 : 4], x[0]) for i, x in enumerate(of))
        return t.Struct(members), st.tuples(*(st.none() | x[1] for x in of))

    return st.one_of(
        scalar,
        inner.map(array),
        st.tuples(scalar, inner).map(mapping),
        st.lists(inner, min_size=1, max_size=3).map(struct),
    )


def same(a: Any, b: Any) -> bool:
    """Equal, and NaN is the one NaN, so that rows can be keys."""
    if isinstance(a, float) and math.isnan(a):
        return b is NAN
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, FrozenMap):
        pairs = list(zip(a.items(), b.items(), strict=True))
        return all(same(x, y) and same(v, w) for (x, v), (y, w) in pairs)
    return type(a) is type(b) and a == b


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_value_comes_back(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(nested(2), min_size=1, max_size=4))
    types = [kind for kind, _ in drawn]
    row = tuple(data.draw(st.none() | values) for _, values in drawn)
    connection = sqlite3.connect(":memory:")
    from evercurrent.durable.cells import affinity

    columns = ", ".join(f"c{i} {affinity(kind)}" for i, kind in enumerate(types))
    connection.execute(f"CREATE TABLE x ({columns})")
    connection.execute(f"INSERT INTO x VALUES ({', '.join('?' * len(types))})", row_dumper(types)(row))
    (back,) = rows_loader(types)(connection.execute("SELECT * FROM x"))
    connection.close()
    assert same(row, back)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        (t.BOOLEAN, 2),
        (t.TINYINT, 128),
        (t.INT, "1"),
        (t.BIGINT, 1.5),
        (t.DOUBLE, "nan"),
        (t.DOUBLE, 1),
        (t.Decimal(4, 2), "1.5"),
        (t.Decimal(4, 2), "100.00"),
        (t.Decimal(4, 2), 1.5),
        (t.STRING, b"a"),
        (t.BINARY, "a"),
        (t.DATE, "2020-13-01"),
        (t.DATE, "20200101"),
        (t.TIME, "25:00"),
        (t.TIMESTAMP, "2020-01-01 00:00:00"),
        (t.TIMESTAMP_NTZ, "2020-01-01 00:00:00Z"),
        (t.Array(t.INT), "[1, null"),
        (t.Array(t.INT), "null"),
        (t.Array(t.INT), '{"a": 1}'),
        (t.Map(t.STRING, t.INT), "[]"),
        (t.Struct((t.Member("a", t.INT),)), "{}"),
        (t.Array(t.DATE), '["x"]'),
    ],
)
def test_what_is_no_value_of_the_type_is_refused(kind: t.Type, cell: object) -> None:
    with pytest.raises(BadCell):
        loader(kind)(cell)


def test_dates_and_times_can_be_read_by_sqlite_itself() -> None:
    kinds = [t.DATE, t.TIME, t.TIMESTAMP]
    moment = datetime.datetime(2024, 2, 29, 10, 30, 0, 250000)
    cells = row_dumper(kinds)((moment.date(), moment.time(), moment))
    connection = sqlite3.connect(":memory:")
    found = connection.execute("SELECT date(?, '+1 day'), time(?), datetime(?, '+1 hour')", cells).fetchone()
    connection.close()
    assert found == ("2024-03-01", "10:30:00", "2024-02-29 11:30:00")
