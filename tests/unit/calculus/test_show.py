"""Queries as text."""

from __future__ import annotations

from evercurrent.calculus import nodes as n
from evercurrent.calculus.show import show
from evercurrent.data.types import BIGINT, INT, STRING, Array, Member, Struct
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import field, lit
from evercurrent.term.nodes import RUNNING, Variable, WindowFunction
from tests.unit.calculus.writing import (
    add,
    asc,
    bag,
    desc,
    eq,
    every,
    exists,
    group,
    gt,
    intersect,
    minus,
    relation,
    scalar,
    set_,
    some,
    top,
    union,
    values,
    var,
    window,
)

EMP = relation("employees", id=INT, name=STRING, dept=INT, tags=Array(STRING))
DEPT = relation("departments", id=INT, name=STRING)
e, d = var("e", EMP), var("d", DEPT)
d0 = var("d", DEPT, nullable=True)


def test_a_short_comprehension_is_one_line() -> None:
    query = bag(e <= EMP, d <= DEPT, eq(e.dept, d.id), name=e.name)
    assert show(query) == "bag{ (name: e.name) | e <- employees, d <- departments, e.dept = d.id }"
    assert show(bag(x=1)) == "bag{ (x: 1) }"


def test_a_long_one_has_a_line_for_each_qualifier() -> None:
    inner = set_(d <= DEPT, gt(d.id, 10), d.outer(DEPT, lit(True)), department_identifier=d.id, n=d.name)
    v = var("v", inner)
    query = bag(e <= EMP, v <= inner, eq(e.dept, v.department_identifier), name=e.name, department=v.n)
    assert show(query) == (
        "bag{ (name: e.name, department: v.n)\n"
        "   | e <- employees\n"
        "   , v <- set{ (department_identifier: d.id, n: d.name)\n"
        "             | d <- departments\n"
        "             , d.id > 10\n"
        "             , d <-outer departments on true }\n"
        "   , e.dept = v.department_identifier }"
    )


def test_nested_queries_are_shown_inside_terms() -> None:
    ids = bag(d <= DEPT, id=d.id)
    assert show(bag(e <= EMP, some("eq", e.dept, ids), n=e.id)) == (
        "bag{ (n: e.id) | e <- employees, (e.dept = some bag{ (id: d.id) | d <- departments }) }"
    )
    assert show(bag(every("lt", lit(1), ids), n=1)) == (
        "bag{ (n: 1) | (1 < all bag{ (id: d.id) | d <- departments }) }"
    )
    assert show(bag(exists(DEPT), n=add(scalar(ids), 1))) == (
        "bag{ (n: the bag{ (id: d.id) | d <- departments } + 1) | exists departments }"
    )


def test_operations() -> None:
    assert show(union(DEPT, DEPT)) == "union(departments, departments)"
    assert show(minus(DEPT, DEPT, all=True)) == "except all(departments, departments)"
    assert show(intersect(DEPT, DEPT)) == "intersect(departments, departments)"
    assert show(values([(1, None), (2, "x'y")], a=INT, b=STRING)) == "values{(1, null), (2, 'x\\'y')}"
    assert show(top(d, DEPT, [desc(d.name), asc(d.id)], 3, 1)) == (
        "top 3(d <- departments, order by d.name desc, d.id, offset 1)"
    )


def test_groups_and_windows() -> None:
    query = group(d, DEPT, {"k": d.name}, sets=((0,), ()), c=aggregate("count", [], where=gt(d.id, 1)))
    assert show(query) == (
        "group(d <- departments, by (k: d.name), c: count(*) filter (d.id > 1), grouping_id: sets (k), ())"
    )
    function = WindowFunction("sum", (d.id,), BIGINT, (d.name,), (asc(d.id),), RUNNING)
    assert show(window(d, DEPT, s=function)) == (
        "window(\n"
        "  d <- departments,\n"
        "  s: sum(d.id) over (partition by d.name order by d.id"
        " range between unbounded preceding and current row))"
    )


def test_unnesting_full_outer_and_fixpoints() -> None:
    x = Variable("x", Struct((Member("col", STRING),)), True)
    query = bag(e <= EMP, n.Unnest(x, e.tags, outer=True), t=field(x, "col"))
    assert show(query) == "bag{ (t: x.col) | e <- employees, x <-outer unnest e.tags }"
    outer = n.FullOuter(
        e.term,
        EMP,
        d.term,
        DEPT,
        eq(e.dept, d.id),
        (e.name, d.name),
        (Member("a", STRING), Member("b", STRING)),
    )
    assert show(outer) == (
        "full outer{ (a: e.name, b: d.name) | e <- employees, d <- departments, on e.dept = d.id }"
    )
    definition = n.Definition("t", union(DEPT, relation("t", id=INT, name=STRING)), DEPT.fields, True)
    assert show(n.Fixpoint((definition,), "t", DEPT.fields, 9)) == (
        "fixpoint t(t = set union(departments, t), limit 9)"
    )


def test_the_order_of_reading() -> None:
    assert show(n.Ordered(DEPT, ((1, True, False),))) == "departments\norder by name desc"
