"""The traps of incremental views, as far as a query shows them: what the oracle says before and after a change.

The numbers are those of the list of traps. NULL in aggregates, empty groups, outer joins, NOT IN, set operations and
nested queries (1, 2, 5, 6, 9, 11) have their cases in `test_evaluate`.
"""

from __future__ import annotations

import pytest

from evercurrent.calculus import nodes as n
from evercurrent.data.types import BIGINT, DOUBLE, INT, STRING, Decimal, Member
from evercurrent.data.values import NAN
from evercurrent.data.zset import ZSet
from evercurrent.delta.naive import Naive
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import aggregate
from tests.unit.calculus.writing import (
    add,
    asc,
    bag,
    eq,
    group,
    minus,
    relation,
    run,
    set_,
    top,
    union,
    var,
)

R = relation("r", a=INT, b=INT)
r, s, t = var("r", R), var("s", R), var("t", R)


def rows(*entries: tuple[object, ...]) -> ZSet:
    return ZSet.of(entries)


def test_trap_3_an_average_that_stays_yields_no_delta() -> None:
    view = Naive(group(r, R, {"a": r.a}, m=aggregate("avg", [r.b])), {"r": rows((1, 2), (1, 4))})
    assert view.rows == rows((1, 3.0))
    assert view.apply({"r": rows((1, 3))}) == ZSet()


def test_trap_3_decimals_keep_their_scale() -> None:
    money = relation("money", x=Decimal(5, 2))
    m = var("m", money)
    average = aggregate("avg", [m.x])
    assert average.type == Decimal(9, 6)
    assert run(group(m, money, {}, a=average), {"money": [(100,), (100,), (101,)]}) == [(1003333,)]


def test_trap_4_floats_leave_no_trace() -> None:
    floats = relation("f", k=INT, x=DOUBLE)
    f = var("f", floats)
    view = Naive(group(f, floats, {"k": f.k}, s=aggregate("sum", [f.x])), {"f": rows((1, 0.1))})
    for guest in (1e300, NAN, float("inf")):
        came = view.apply({"f": rows((1, guest))})
        assert came
        assert view.apply({"f": -rows((1, guest))}) == -came
        assert view.rows == rows((1, 0.1))


def test_trap_4_nan_is_one_group_and_zero_has_no_sign() -> None:
    floats = relation("f", x=DOUBLE)
    f = var("f", floats)
    query = group(f, floats, {"x": f.x}, c=aggregate("count", []))
    found = run(query, {"f": [(NAN,), (NAN,), (0.0,), (-0.0,)]})
    assert sorted(count for _, count in found) == [2, 2]


def test_trap_7_top_refills_at_its_boundary() -> None:
    view = Naive(top(r, R, [asc(r.a)], 2), {"r": rows((1, 1), (2, 2), (2, 3), (4, 4))})
    assert view.rows == rows((1, 1), (2, 2))
    assert view.apply({"r": -rows((1, 1))}) == ZSet({(1, 1): -1, (2, 3): 1})
    assert view.apply({"r": rows((2, None))}) == ZSet({(2, None): 1, (2, 3): -1})


def test_trap_8_one_table_at_three_places() -> None:
    query = bag(r <= R, s <= R, t <= R, eq(r.b, s.a), eq(s.b, t.a), x=r.a, y=t.b)
    view = Naive(query, {"r": rows((1, 1))})
    assert view.rows == rows((1, 1))
    # Eight paths of length three over two equal loops, then twenty-seven over three.
    assert view.apply({"r": rows((1, 1))}) == ZSet({(1, 1): 7})
    assert view.apply({"r": rows((1, 1))}) == ZSet({(1, 1): 19})
    assert view.apply({"r": ZSet({(1, 1): -3, (1, 2): 1, (2, 3): 1, (3, 4): 1})}) == ZSet(
        {(1, 1): -27, (1, 4): 1}
    )


def test_trap_9_except_all_is_not_except() -> None:
    other = relation("o", a=INT, b=INT)
    data = {"r": rows((1, 1), (1, 1)), "o": rows((1, 1))}
    assert Naive(minus(R, other, all=True), data).rows == rows((1, 1))
    assert Naive(minus(R, other), data).rows == ZSet()


def closure() -> n.Fixpoint:
    path = relation("path", a=INT, b=INT)
    p = var("p", path)
    body = union(bag(r <= R, a=r.a, b=r.b), bag(p <= path, r <= R, eq(p.b, r.a), a=p.a, b=r.b))
    return n.Fixpoint((n.Definition("path", body, path.fields, True),), "path", path.fields)


def test_trap_10_deleting_an_edge_of_a_cycle_retracts_what_is_no_longer_reachable_and_only_that() -> None:
    view = Naive(closure(), {"r": rows((1, 2), (2, 3), (3, 2), (1, 3))})
    assert view.rows == rows((1, 2), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3))
    assert view.apply({"r": -rows((3, 2))}) == -rows((2, 2), (3, 2), (3, 3))
    assert view.apply({"r": -rows((1, 3))}) == ZSet()


def test_trap_14_overflow_is_an_error_and_changes_nothing() -> None:
    big = relation("big", x=BIGINT)
    b = var("b", big)
    view = Naive(bag(b <= big, y=add(b.x, 1)), {"big": rows((1,))})
    with pytest.raises(EvaluationError):
        view.apply({"big": rows((2**63 - 1,))})
    assert view.rows == rows((2,))


def test_trap_14_strings_compare_by_code_point() -> None:
    texts = relation("texts", x=STRING)
    x = var("x", texts)
    data = {"texts": [("\U0001f600",), ("\uffee",), ("Z",), ("a",)]}
    assert run(group(x, texts, {}, m=aggregate("max", [x.x]), l=aggregate("min", [x.x])), data) == [
        ("\U0001f600", "Z")
    ]


def test_trap_16_names_are_data() -> None:
    hostile = ('"; import os', "'); DROP TABLE r; --", "lambda", "ünï\n", "")
    table = n.Relation(hostile[0], tuple(Member(name, INT) for name in hostile))
    v = var(hostile[1], table)
    query = set_(v <= table, eq(getattr(v, hostile[1]), 2), x=getattr(v, hostile[4]))
    assert run(query, {hostile[0]: [(1, 2, 3, 4, 5), (1, 0, 3, 4, 6)]}) == [(5,)]
