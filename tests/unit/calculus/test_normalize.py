"""Each law of the normal form, and that the normal form means the same."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from evercurrent.calculus import nodes as n
from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.normalize import QUERY_LAWS, TERM_LAWS, normalize
from evercurrent.calculus.show import show
from evercurrent.data.types import BOOLEAN, INT, STRING, Member
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import lit
from evercurrent.term.nodes import RUNNING, SortKey, Term, WindowFunction
from tests.unit.calculus.random_queries import random_data, random_query
from tests.unit.calculus.writing import (
    add,
    and_,
    asc,
    bag,
    desc,
    div,
    eq,
    exists,
    group,
    gt,
    intersect,
    is_not_null,
    is_null,
    lt,
    minus,
    not_,
    or_,
    relation,
    run,
    scalar,
    set_,
    some,
    top,
    union,
    values,
    var,
    window,
)

EMP = relation("emp", name=STRING, dept=INT, age=INT)
DEPT = relation("dept", id=INT, name=STRING)
e, d = var("e", EMP), var("d", DEPT)
d0 = var("d", DEPT, nullable=True)
YOUNG = bag(e <= EMP, lt(e.age, 30), name=e.name, dept=e.dept)
v = var("v", YOUNG)
COUNTED = group(d, DEPT, {"id": d.id}, c=aggregate("count", []), m=aggregate("max", [d.name]))
g = var("g", COUNTED)
NOTHING = values([], name=STRING, dept=INT)


@pytest.mark.parametrize(
    ("law", "query", "expected"),
    [
        (
            "flatten_generator",
            bag(v <= YOUNG, d <= DEPT, eq(v.dept, d.id), n=v.name, d=d.name),
            "bag{ (n: e.name, d: d.name) | e <- emp, e.age < 30, d <- dept, e.dept = d.id }",
        ),
        (
            "flatten_generator",
            bag(e <= EMP, v <= YOUNG, eq(v.dept, e.dept), a=e.name, b=v.name),
            "bag{ (a: e.name, b: e_2.name) | e <- emp, e_2 <- emp, e_2.age < 30, e_2.dept = e.dept }",
        ),
        (
            "flatten_generator",
            set_(v <= set_(e <= EMP, name=e.name, dept=e.dept), n=v.name),
            "set{ (n: e.name) | e <- emp }",
        ),
        (
            "flatten_outer_generator",
            bag(
                e <= EMP,
                var("w", YOUNG, nullable=True).outer(YOUNG, eq(var("w", YOUNG).dept, e.dept)),
                a=e.name,
                b=var("w", YOUNG, nullable=True).name,
            ),
            "bag{ (a: e.name, b: e_2.name) | e <- emp, e_2 <-outer emp on e_2.age < 30 and e_2.dept = e.dept }",
        ),
        (
            "substitute_constant",
            bag(
                var("w", values([(1, 2)], x=INT, y=INT)) <= values([(1, 2)], x=INT, y=INT), e <= EMP, n=e.name
            ),
            "bag{ (n: e.name) | e <- emp }",
        ),
        ("generate_nothing", bag(e <= EMP, v <= NOTHING, n=e.name), "values{}"),
        (
            "generate_nothing",
            bag(e <= EMP, d0.outer(values([], id=INT, name=STRING), eq(d.id, e.dept)), n=e.name, d=d0.name),
            "bag{ (n: e.name, d: null) | e <- emp }",
        ),
        (
            "split_filters",
            bag(e <= EMP, and_(gt(e.age, 1), and_(is_null(e.dept), lit(True))), n=e.name),
            "bag{ (n: e.name) | e <- emp, e.age > 1, e.dept is null }",
        ),
        (
            "drop_repeated_filters",
            bag(v <= YOUNG, gt(v.dept, 1), gt(v.dept, 1), n=v.name),
            "bag{ (n: e.name) | e <- emp, e.age < 30, e.dept > 1 }",
        ),
        ("filter_nothing", bag(e <= EMP, lit(False), n=e.name), "values{}"),
        ("filter_nothing", bag(e <= EMP, lit(None, BOOLEAN), n=e.name), "values{}"),
        (
            "outer_to_inner",
            bag(e <= EMP, d0.outer(DEPT, eq(d.id, e.dept)), eq(d0.name, "x"), n=e.name),
            "bag{ (n: e.name) | e <- emp, d <- dept, d.id = e.dept, d.name = 'x' }",
        ),
        (
            "exists_to_generators",
            set_(e <= EMP, exists(bag(d <= DEPT, eq(d.id, e.dept), x=div(1, 0))), n=e.name),
            "set{ (n: e.name) | e <- emp, d <- dept, d.id = e.dept }",
        ),
        (
            "exists_in_exists",
            bag(
                e <= EMP,
                not_(exists(bag(v <= YOUNG, exists(bag(d <= DEPT, eq(d.id, v.dept), x=1)), x=1))),
                n=e.name,
            ),
            "bag{ (n: e.name)\n"
            "   | e <- emp\n"
            "   , not exists bag{ () | e_2 <- emp, e_2.age < 30, d <- dept, d.id = e_2.dept } }",
        ),
        (
            "exists_without_head",
            bag(e <= EMP, exists(set_(d <= DEPT, eq(d.id, e.dept), x=d.name)), n=e.name),
            "bag{ (n: e.name) | e <- emp, exists bag{ () | d <- dept, d.id = e.dept } }",
        ),
        (
            "exists_of_source",
            bag(e <= EMP, exists(top(d, DEPT, [asc(d.id)], 3)), n=e.name),
            "bag{ (n: e.name) | e <- emp, exists dept }",
        ),
        (
            "exists_of_known",
            bag(e <= EMP, exists(group(d, DEPT, {}, c=aggregate("count", []))), n=e.name),
            "bag{ (n: e.name) | e <- emp }",
        ),
        (
            "in_to_exists",
            bag(e <= EMP, some("eq", e.dept, bag(d <= DEPT, id=d.id)), n=e.name),
            "bag{ (n: e.name) | e <- emp, exists bag{ () | d <- dept, e.dept = d.id } }",
        ),
        (
            "negate_quantified",
            bag(e <= EMP, not_(some("eq", e.dept, bag(d <= DEPT, id=d.id))), n=e.name),
            "bag{ (n: e.name) | e <- emp, (e.dept <> all bag{ (id: d.id) | d <- dept }) }",
        ),
        (
            "quantify_nothing",
            bag(e <= EMP, not_(some("eq", e.dept, values([], x=INT))), n=e.name),
            "bag{ (n: e.name) | e <- emp }",
        ),
        ("scalar_of_head", bag(e <= EMP, n=scalar(bag(x=e.age))), "bag{ (n: e.age) | e <- emp }"),
        ("flatten_union", union(union(EMP, EMP), union(EMP)), "union(emp, emp, emp)"),
        ("flatten_union", union(EMP, values([], name=STRING, dept=INT, age=INT)), "emp"),
        ("merge_values", union(values([(1,)], x=INT), values([(2,)], x=INT)), "values{(1), (2)}"),
        ("constant_row", bag(x=add(1, 2)), "values{(3)}"),
        (
            "drop_identity",
            bag(
                var("q", minus(EMP, EMP)) <= minus(EMP, EMP),
                name=var("q", EMP).name,
                dept=var("q", EMP).dept,
                age=var("q", EMP).age,
            ),
            "except(emp, emp)",
        ),
        (
            "drop_distinct",
            set_(
                var("q", intersect(DEPT, DEPT)) <= intersect(DEPT, DEPT),
                id=var("q", DEPT).id,
                name=var("q", DEPT).name,
            ),
            "intersect(dept, dept)",
        ),
        (
            "drop_unused_outer",
            set_(e <= EMP, d0.outer(DEPT, eq(d.id, e.dept)), n=e.name),
            "set{ (n: e.name) | e <- emp }",
        ),
        ("top_of_all", top(e, EMP, [asc(e.age)], 0), "values{}"),
        ("top_of_all", top(e, EMP, [asc(e.age)], None), "emp"),
        (
            "top_of_top",
            top(e, top(var("f", EMP), EMP, [desc(var("f", EMP).age)], 10, 2), [desc(e.age)], 5, 7),
            "top 3(f <- emp, order by f.age desc, offset 9)",
        ),
        ("operate_on_nothing", intersect(EMP, values([], name=STRING, dept=INT, age=INT)), "values{}"),
        (
            "prune_generators",
            bag(e <= EMP, g <= COUNTED, eq(g.id, e.dept), n=g.c),
            "bag{ (n: g.c) | e <- emp, g <- group(d <- dept, by (id: d.id), c: count(*)), g.id = e.dept }",
        ),
        (
            "prune_grouping",
            group(v, YOUNG, {"dept": v.dept}, c=aggregate("count", [])),
            "group(v <- bag{ (dept: e.dept) | e <- emp, e.age < 30 }, by (dept: v.dept), c: count(*))",
        ),
    ],
)
def test_law(law: str, query: n.Query, expected: str) -> None:
    fired = [f for f in (*QUERY_LAWS, *TERM_LAWS) if f.__name__ == law]
    assert fired, f"there is no law {law}"
    assert show(normalize(query)) == expected


def test_full_outer_sides_lose_unread_fields() -> None:
    left = bag(e <= EMP, gt(e.age, 1), name=e.name, dept=e.dept, age=e.age)
    x, y = var("x", left), var("y", DEPT)
    head = (var("x", left, nullable=True).name, var("y", DEPT, nullable=True).name)
    query = n.FullOuter(
        x.term, left, y.term, DEPT, eq(x.dept, y.id), head, (Member("a", STRING), Member("b", STRING))
    )
    assert show(normalize(query)) == (
        "full outer{ (a: x.name, b: y.name)\n"
        "          | x <- bag{ (name: e.name, dept: e.dept) | e <- emp, e.age > 1 }\n"
        "          , y <- dept\n"
        "          , on x.dept = y.id }"
    )


# --- what must stay ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        is_null(d0.name),
        or_(eq(d0.name, "x"), is_null(e.dept)),
        eq(e.age, 1),
        not_(exists(bag(var("q", DEPT) <= DEPT, eq(var("q", DEPT).id, d0.id), x=1))),
    ],
)
def test_an_outer_generator_stays_where_null_may_pass(condition: Term) -> None:
    query = bag(e <= EMP, d0.outer(DEPT, eq(d.id, e.dept)), condition, n=e.name)
    assert "<-outer" in show(normalize(query))


@pytest.mark.parametrize(
    "condition",
    [
        is_not_null(d0.name),
        not_(is_null(d0.id)),
        or_(eq(d0.name, "x"), gt(d0.id, 3)),
        not_(eq(d0.name, "x")),
        gt(add(d0.id, e.age), 3),
    ],
)
def test_an_outer_generator_becomes_inner_where_null_cannot_pass(condition: Term) -> None:
    query = bag(e <= EMP, d0.outer(DEPT, eq(d.id, e.dept)), condition, n=e.name)
    assert "<-outer" not in show(normalize(query))


def test_a_set_under_a_bag_stays() -> None:
    inner = set_(e <= EMP, dept=e.dept)
    query = bag(var("q", inner) <= inner, d=var("q", inner).dept)
    assert show(normalize(query)) == "bag{ (d: q.dept) | q <- set{ (dept: e.dept) | e <- emp } }"


def test_an_exists_in_a_bag_stays() -> None:
    query = bag(e <= EMP, exists(bag(d <= DEPT, eq(d.id, e.dept), x=1)), n=e.name)
    assert "exists" in show(normalize(query))


def test_fields_that_an_order_may_need_stay() -> None:
    source = bag(e <= EMP, name=e.name, age=e.age)
    ranked = top(var("t", source), source, [asc(var("t", source).age)], 2)
    query = bag(var("q", ranked) <= ranked, n=var("q", ranked).age)
    data = {"emp": [("b", 1, 5), ("a", 1, 5), ("c", 1, 5)]}
    assert "name" in show(normalize(query))
    assert run(normalize(query), data) == [(5,), (5,)]


def test_flattening_does_not_explode() -> None:
    number = relation("number", x=INT)
    x = var("x", number)
    query: n.Query = bag(x <= number, x=x.x)
    for _ in range(40):
        w = var("w", query)
        query = bag(w <= query, x=add(w.x, w.x))
    assert len(show(normalize(query))) < 20_000


def test_a_nested_query_is_not_written_twice() -> None:
    inner = bag(e <= EMP, x=scalar(group(d, DEPT, {}, c=aggregate("count", []))))
    w = var("w", inner)
    text = show(normalize(bag(w <= inner, a=w.x, b=add(w.x, 1))))
    assert text.count("count") == 1


def test_names_are_kept_apart() -> None:
    query = bag(e <= EMP, var("e", YOUNG) <= YOUNG, n=var("e", YOUNG).name)
    normal = normalize(query)
    assert show(normal) == "bag{ (n: e_2.name) | e <- emp, e_2 <- emp, e_2.age < 30 }"


# --- the whole -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 3])
def test_normalisation_preserves_meaning(depth: int) -> None:
    for seed in range(150):
        rng = Random(f"{depth}/{seed}")
        query = random_query(rng, depth)
        normal = normalize(query)
        assert normalize(normal) == normal, seed
        assert [(f.name, f.type) for f in normal.fields] == [(f.name, f.type) for f in query.fields]
        for _ in range(2):
            data = random_data(rng)
            assert evaluate(normal, _reader(data)) == evaluate(query, _reader(data)), (seed, show(query))


def _reader(data: dict) -> Callable:  # type: ignore[type-arg]
    return lambda name: data[name].items()


def test_exists_of_except_all_counts() -> None:
    query = bag(exists(minus(bag(e <= EMP, x=1), bag(d <= DEPT, x=1), all=True)), y=1)
    data = {"emp": [("a", 1, 1), ("b", 1, 1)], "dept": [(1, "x")]}
    assert run(normalize(query), data) == run(query, data) == [(1,)]


def test_windows_are_parted() -> None:
    def number(order: SortKey) -> WindowFunction:
        return WindowFunction("row_number", (), INT, (), (order,), RUNNING)

    query = window(e, EMP, up=number(asc(e.age)), down=number(desc(e.age)), again=number(asc(e.age)))
    normal = normalize(query)
    assert show(normal).count("window(") == 2
    data = {"emp": [("a", 1, 5), ("a", 1, 5), ("b", 1, 7)]}
    assert run(normal, data) == run(query, data)
    assert [f.name for f in normal.fields] == ["name", "dept", "age", "up", "down", "again"]
