"""Aggregates of users: right under any history, cheap, undone when they fail."""

from __future__ import annotations

import math
import random
from functools import reduce
from typing import Any, NamedTuple

import pytest

import evercurrent as ec


class Row(NamedTuple):
    k: int
    v: int | None


LCM = ec.monoid(1, math.lcm)
XOR = ec.monoid(0, lambda a, b: a ^ b, inverse=lambda a: a)
LETTERS = ec.monoid(
    frozenset(),
    lambda a, b: a | b,
    unit=lambda n: frozenset(str(n)),
    finish=sorted,
    returns=list[str],
)
RANGE = ec.monoid(
    (math.inf, -math.inf),
    lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    unit=lambda n: (n, n),
    finish=lambda r: None if r[0] > r[1] else r[1] - r[0],
    returns=int | None,
)


def test_monoids_follow_any_history() -> None:
    db = ec.connect()
    rows = db.table_of(Row)
    view = db.view(
        "v",
        rows.group_by(lambda r: r.k).select(
            lambda k, g: (
                k,
                g.aggregate(LCM, lambda r: r.v),
                g.aggregate(XOR, lambda r: r.v),
                g.aggregate(LETTERS, lambda r: r.v),
                g.aggregate(RANGE, lambda r: r.v, where=lambda r: r.v > 2),
            )
        ),
    )
    total = db.view("total", rows.aggregate(lambda g: g.aggregate(LCM, lambda r: r.v)))
    assert total.rows() == [(1,)], "of nothing it is its zero"
    chooser, held = random.Random(2), list[Row]()
    for step in range(200):
        if held and chooser.random() < 0.48:
            gone = held.pop(chooser.randrange(len(held)))
            rows.delete(gone)
        else:
            new = Row(chooser.randrange(3), chooser.choice((None, *range(1, 12))))
            held.append(new)
            rows.insert(new)
        if step % 10 == 0:
            assert sorted(view.rows()) == sorted(expected(held))
    assert db.verify()


def expected(held: list[Row]) -> list[Any]:
    found = []
    for k in {r.k for r in held}:
        values = [r.v for r in held if r.k == k and r.v is not None]
        large = [v for v in values if v > 2]
        found.append(
            (
                k,
                math.lcm(1, *values),
                reduce(lambda a, b: a ^ b, values, 0),
                sorted({c for v in values for c in str(v)}),
                max(large) - min(large) if large else None,
            )
        )
    return found


def test_the_cost_of_a_change_does_not_grow_with_the_group() -> None:
    calls = 0

    def combine(a: int, b: int) -> int:
        nonlocal calls
        calls += 1
        return max(a, b)

    largest = ec.monoid(0, combine)
    summed = ec.monoid(0, lambda a, b: combine(a, b) * 0 + a + b, inverse=lambda a: -a)
    for monoid, most in ((largest, 40), (summed, 4)):
        db = ec.connect()
        rows = db.table_of(Row)
        view = db.view("v", rows.aggregate(lambda g, m=monoid: g.aggregate(m, lambda r: r.v)))
        rows.insert([Row(0, i) for i in range(4000)])
        calls = 0
        rows.delete(Row(0, 3999))
        rows.insert(Row(0, 5000))
        assert calls <= 2 * most, "about the height of the tree, or one"
        assert view.rows() == [(5000,)] if monoid is largest else view.rows()[0][0] > 5000


def test_a_failing_monoid_undoes_the_transaction() -> None:
    def careful(a: int, b: int) -> int:
        if a + b > 100:
            raise OverflowError("too much")
        return a + b

    db = ec.connect()
    rows = db.table_of(Row)
    view = db.view("v", rows.aggregate(lambda g: g.aggregate(ec.monoid(0, careful), lambda r: r.v)))
    rows.insert(Row(0, 60))
    with pytest.raises(ec.EvaluationError, match="raised OverflowError: too much"):
        rows.insert([Row(0, 30), Row(0, 50)])
    assert view.rows() == [(60,)] and len(rows) == 1
    rows.insert(Row(0, 40))
    assert view.rows() == [(100,)]


def test_the_type_of_the_result() -> None:
    db = ec.connect()
    rows = db.table_of(Row)
    unknown = ec.monoid(object(), lambda a, b: a)
    with pytest.raises(ec.QueryError, match="written inside a query"):
        rows.aggregate(lambda g: g.aggregate(ec.monoid(0, lambda a, b: a), lambda r: r.v))
    with pytest.raises(ec.QueryError, match="the result type of the monoid is not known") as caught:
        rows.aggregate(lambda g: g.aggregate(unknown, lambda r: r.v))
    assert "returns=int" in str(caught.value)
    with pytest.raises(ec.QueryError, match="combines one value of each row"):
        rows.aggregate(lambda g: g.aggregate(LCM))
    with pytest.raises(ec.QueryError, match="MONOID"):
        db.execute("CREATE VIEW w AS SELECT monoid(v) AS x FROM Row")
