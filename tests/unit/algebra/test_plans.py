"""Walking, renaming, showing, checking and canonical texts of plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evercurrent.algebra import build
from evercurrent.algebra.canonical import canonical
from evercurrent.algebra.check import check
from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.nodes import Join, Map, Scan, Select, Union, columns
from evercurrent.algebra.nulls import find_required, rejects
from evercurrent.algebra.show import show
from evercurrent.algebra.walk import Names, names_of, nodes, relations_of, rename_apart, rewrite
from evercurrent.data.types import BIGINT, INT, STRING
from evercurrent.errors import InternalError
from evercurrent.term.build import FALSE, TRUE, call, lit
from evercurrent.term.nodes import Column
from tests.unit.algebra.plans import data, plan_of

A, B = Column("a", INT), Column("b", INT)
SCAN = Scan("t", (A, B), ("a", "b"))


def test_show_is_an_indented_tree() -> None:
    plan = plan_of("SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.b) AND t.a > 1")
    assert show(plan).splitlines() == [
        "Map a: t.a",
        "  Semi t.b = u.a",
        "    Select t.a > 1",
        "      Scan t [t.a, t.b]",
        "    Scan u [u.a]",
    ]


def test_rename_apart_gives_fresh_names_and_the_same_rows() -> None:
    plan = plan_of("SELECT a, (SELECT sum(b) FROM u WHERE u.a < t.a) AS s FROM t")
    names = Names(names_of(plan))
    copy, renamed = rename_apart(plan, names)
    assert not names_of(copy) & names_of(plan)
    assert [c.name for c in columns(copy)] == [renamed[c.name] for c in columns(plan)]
    rows = data(3)
    assert evaluate(check(copy), lambda n: rows[n].items()) == evaluate(plan, lambda n: rows[n].items())


def test_canonical_text_ignores_names_only() -> None:
    one = plan_of("SELECT x.a, count(*) AS n FROM t x GROUP BY x.a")
    two = plan_of("SELECT y.a AS k, count(*) AS m FROM t y GROUP BY y.a")
    other = plan_of("SELECT y.b AS k, count(*) AS m FROM t y GROUP BY y.b")
    assert canonical(one) == canonical(two)
    assert canonical(one) != canonical(other)


def test_rewrite_goes_innermost_first_and_nodes_finds_all() -> None:
    plan = plan_of("SELECT t.a FROM t JOIN u ON t.a = u.a")
    seen = []
    rewrite(plan, lambda p: seen.append(type(p).__name__) or p)
    assert seen == ["Scan", "Scan", "Join", "Map"]
    assert [type(p) for p in nodes(plan)] == [Map, Join, Scan, Scan]
    assert relations_of(plan) == {"t", "u"}


def test_constructors_simplify() -> None:
    assert build.join(build.UNIT, SCAN) == SCAN
    assert build.select(SCAN, TRUE) == SCAN
    assert build.is_empty(build.select(SCAN, FALSE))
    assert build.project(SCAN, ((A, A), (B, B))) == SCAN
    assert build.union([build.empty((A, B)), SCAN], (A, B)) == SCAN
    twice = build.select(build.select(SCAN, call("gt", A, lit(1))), call("lt", B, lit(2)))
    assert isinstance(twice, Select) and twice.input == SCAN


@pytest.mark.parametrize(
    "plan",
    [
        Select(SCAN, call("gt", Column("z", INT), lit(1))),
        Select(SCAN, call("gt", Column("a", BIGINT), lit(1, BIGINT))),
        Select(SCAN, call("gt", Column("a", INT, False), lit(1))),
        Join(SCAN, SCAN, TRUE),
        Map(SCAN, ((Column("n", STRING), A),)),
        Union((SCAN, Map(SCAN, ((A, A),))), (A, B)),
        replace(SCAN, fields=("a",)),
    ],
)
def test_check_refuses(plan: object) -> None:
    with pytest.raises(InternalError, match="not sound"):
        check(plan)  # type: ignore[arg-type]


def test_what_conditions_say_of_nulls() -> None:
    both = call("and", call("gt", A, lit(1)), call("is_not_null", B))
    either = call("or", call("gt", A, lit(1)), call("eq", A, B))
    assert find_required(both) == {"a", "b"}
    assert find_required(either) == {"a"}
    assert rejects(call("gt", call("coalesce", A, lit(0)), lit(0)), {"a"})
    assert not rejects(call("ge", call("coalesce", A, lit(0)), lit(0)), {"a"})
    assert not rejects(call("is_null", A), {"a"})
    assert not rejects(call("gt", A, lit(0)), {"b"})
