"""The reference semantics, node by node, against results worked out by hand."""

from __future__ import annotations

import pytest

from evercurrent.calculus import nodes as n
from evercurrent.calculus.evaluate import evaluate
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    Array,
    Map,
    Member,
    Struct,
)
from evercurrent.data.values import NAN, FrozenMap
from evercurrent.data.zset import ZSet
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import field, lit
from evercurrent.term.nodes import Variable
from tests.unit.calculus.writing import (
    add,
    and_,
    asc,
    bag,
    desc,
    div,
    eq,
    every,
    exists,
    group,
    gt,
    intersect,
    is_null,
    lt,
    minus,
    not_,
    relation,
    run,
    scalar,
    set_,
    some,
    top,
    union,
    values,
    var,
)

EMP = relation("emp", id=INT, name=STRING, dept=INT, pay=INT)
DEPT = relation("dept", id=INT, name=STRING)
R = relation("r", a=INT, b=INT)
S = relation("s", a=INT, b=INT)
e, d, r, s = var("e", EMP), var("d", DEPT), var("r", R), var("s", S)
d0 = var("d", DEPT, nullable=True)
s0 = var("s", S, nullable=True)
DATA = {
    "emp": [(1, "Ann", 10, 100), (2, "Bob", 10, 80), (3, "Cid", 20, 50), (4, "Dee", None, 70)],
    "dept": [(10, "Sales"), (20, "Ops"), (30, "Lab")],
}


# --- comprehensions ----------------------------------------------------------------------------------------


def test_join_filter_and_head() -> None:
    query = bag(e <= EMP, d <= DEPT, eq(e.dept, d.id), gt(e.pay, 60), name=e.name, dept=d.name)
    assert run(query, DATA) == [("Ann", "Sales"), ("Bob", "Sales")]


def test_a_comprehension_without_generators_is_one_record() -> None:
    assert run(bag(x=1), {}) == [(1,)]
    assert run(bag(lit(False), x=1), {}) == []
    assert run(bag(lit(None, BOOLEAN), x=1), {}) == []


def test_multiplicities_multiply_in_a_bag_and_vanish_in_a_set() -> None:
    data = {"r": [(1, 1), (1, 1)], "s": [(1, 5), (1, 5), (1, 6)]}
    join = (r <= R, s <= S, eq(r.a, s.a))
    assert run(bag(*join, b=s.b), data) == [(5,)] * 4 + [(6,)] * 2
    assert run(set_(*join, b=s.b), data) == [(5,), (6,)]


def test_null_keys_join_nothing_but_are_equal_in_a_set() -> None:
    data = {"r": [(None, 1), (None, 1)], "s": [(None, 2)]}
    assert run(bag(r <= R, s <= S, eq(r.a, s.a), b=s.b), data) == []
    assert run(set_(r <= R, a=r.a), data) == [(None,)]


def test_a_dependent_source_is_read_for_each_binding() -> None:
    own = bag(s <= S, eq(s.a, r.a), b=s.b)
    v = var("v", own)
    data = {"r": [(1, 0), (2, 0)], "s": [(1, 5), (2, 6), (2, 7)]}
    assert run(bag(r <= R, v <= own, a=r.a, b=v.b), data) == [(1, 5), (2, 6), (2, 7)]


def test_an_unsafe_filter_stays_behind_the_one_that_guards_it() -> None:
    query = bag(r <= R, not_(eq(r.b, 0)), gt(div(r.a, r.b), 1), a=r.a)
    assert run(query, {"r": [(4, 0), (4, 2), (1, 1)]}) == [(4,)]


def test_nan_and_negative_zero_meet_in_lookups_and_sets() -> None:
    f, g = relation("f", x=DOUBLE), relation("g", x=DOUBLE)
    v, w = var("v", f), var("w", g)
    data = {"f": [(NAN,), (0.0,)], "g": [(NAN,), (-0.0,)]}
    assert len(run(bag(v <= f, w <= g, eq(v.x, w.x), x=v.x), data)) == 2
    assert len(run(set_(v <= union(f, g), x=v.x), data)) == 2


# --- outer generators --------------------------------------------------------------------------------------


def test_outer_generator_pads_with_null_and_keeps_multiplicity() -> None:
    query = bag(e <= EMP, d0.outer(DEPT, eq(d.id, e.dept)), name=e.name, dept=d0.name)
    assert run(query, {**DATA, "emp": DATA["emp"] + [(4, "Dee", None, 70)]}) == [
        ("Ann", "Sales"),
        ("Bob", "Sales"),
        ("Cid", "Ops"),
        ("Dee", None),
        ("Dee", None),
    ]


def test_a_condition_in_on_is_not_a_condition_in_where() -> None:
    data = {"r": [(1, 0), (2, 0)], "s": [(1, 5), (2, 6)]}
    on = bag(r <= R, s0.outer(S, and_(eq(s.a, r.a), gt(s.b, 5))), a=r.a, b=s0.b)
    where = bag(r <= R, s0.outer(S, eq(s.a, r.a)), gt(s0.b, 5), a=r.a, b=s0.b)
    assert run(on, data) == [(1, None), (2, 6)]
    assert run(where, data) == [(2, 6)]


def test_outer_generator_with_a_condition_on_the_left_only() -> None:
    data = {"r": [(1, 0), (2, 0)], "s": [(1, 5)]}
    assert run(bag(r <= R, s0.outer(S, eq(r.a, 2)), a=r.a, b=s0.b), data) == [(1, None), (2, 5)]


def full(left: n.Query, right: n.Query, on: object) -> n.FullOuter:
    r0 = var("r", R, nullable=True)
    head = (r0.a, r0.b, s0.a, s0.b)
    fields = tuple(Member(name, INT) for name in ("ra", "rb", "sa", "sb"))
    return n.FullOuter(r.term, left, s.term, right, on, head, fields)  # type: ignore[arg-type]


def test_full_outer_pads_both_sides() -> None:
    data = {"r": [(1, 1), (2, 2), (2, 2), (None, 9)], "s": [(1, 3), (1, 3), (4, 4), (None, 8)]}
    assert run(full(R, S, eq(r.a, s.a)), data) == sorted(
        [
            (1, 1, 1, 3),
            (1, 1, 1, 3),
            (2, 2, None, None),
            (2, 2, None, None),
            (None, 9, None, None),
            (None, None, 4, 4),
            (None, None, None, 8),
        ],
        key=repr,
    )
    assert run(full(R, S, lt(r.a, s.a)), {"r": [(1, 1)], "s": [(1, 3), (2, 4)]}) == [
        (1, 1, 2, 4),
        (None, None, 1, 3),
    ]


# --- unnesting ---------------------------------------------------------------------------------------------

PAIR = Struct((Member("x", INT), Member("y", STRING)))
N = relation("n", id=INT, xs=Array(INT), m=Map(STRING, INT), ps=Array(PAIR))
v = var("v", N)
NESTED = {
    "n": [
        (1, (7, None, 7), FrozenMap({"a": 1, "b": 2}), ((1, "p"), None)),
        (2, (), FrozenMap({}), ()),
        (3, None, None, None),
    ]
}


def element(*members: Member, nullable: bool = False) -> Variable:
    return Variable("x", Struct(members), nullable)


def test_unnest_of_an_array() -> None:
    x = element(Member("col", INT))
    col = n.Unnest(x, v.xs)
    assert run(bag(v <= N, col, id=v.id, x=field(x, "col")), NESTED) == [(1, 7), (1, 7), (1, None)]
    outer = n.Unnest(x, v.xs, outer=True)
    assert run(bag(v <= N, outer, id=v.id, x=field(x, "col")), NESTED) == [
        (1, 7),
        (1, 7),
        (1, None),
        (2, None),
        (3, None),
    ]


def test_unnest_with_position() -> None:
    x = element(Member("pos", INT), Member("col", INT))
    query = bag(
        v <= N,
        n.Unnest(x, v.xs, outer=True, ordinal=True),
        id=v.id,
        pos=field(x, "pos"),
        x=field(x, "col"),
    )
    assert run(query, NESTED) == [(1, 0, 7), (1, 1, None), (1, 2, 7), (2, None, None), (3, None, None)]


def test_unnest_of_a_map_and_of_structs() -> None:
    x = element(Member("key", STRING), Member("value", INT))
    assert run(bag(v <= N, n.Unnest(x, v.m), k=field(x, "key"), v=field(x, "value")), NESTED) == [
        ("a", 1),
        ("b", 2),
    ]
    y = element(*PAIR.members)
    inline = n.Unnest(y, v.ps, inline=True)
    assert run(bag(v <= N, inline, x=field(y, "x"), y=field(y, "y")), NESTED) == [(1, "p"), (None, None)]


# --- grouping ----------------------------------------------------------------------------------------------

COUNT = aggregate("count", [])


def test_null_in_aggregates() -> None:
    data = {"r": [(1, 5), (1, None), (2, None), (None, 1)]}
    query = group(
        r,
        R,
        {"a": r.a},
        rows=COUNT,
        known=aggregate("count", [r.b]),
        total=aggregate("sum", [r.b]),
        least=aggregate("min", [r.b]),
    )
    assert run(query, data) == [(1, 2, 1, 5, 5), (2, 1, 0, None, None), (None, 1, 1, 1, 1)]


def test_an_aggregate_without_keys_always_has_one_row() -> None:
    query = group(r, R, {}, rows=COUNT, total=aggregate("sum", [r.b]))
    assert run(query, {"r": []}) == [(0, None)]
    assert run(query, {"r": [(1, 2), (1, 2)]}) == [(2, 4)]
    assert run(group(r, R, {"a": r.a}, rows=COUNT), {"r": []}) == []


def test_a_group_whose_sum_is_zero_is_there() -> None:
    assert run(group(r, R, {"a": r.a}, s=aggregate("sum", [r.b])), {"r": [(1, 3), (1, -3)]}) == [(1, 0)]


def test_distinct_filter_and_order_in_aggregates() -> None:
    data = {"r": [(1, 5), (1, 5), (2, 5), (3, 1)]}
    query = group(
        r,
        R,
        {},
        d=aggregate("count", [r.b], distinct=True),
        s=aggregate("sum", [r.b], distinct=True),
        f=aggregate("count", [], where=gt(r.a, 1)),
        l=aggregate("collect_list", [r.a], order=[desc(r.b), asc(r.a)]),
    )
    assert run(query, data) == [(2, 6, 2, (1, 1, 2, 3))]


def test_grouping_sets_tell_missing_keys_from_nulls() -> None:
    data = {"r": [(1, None), (1, 2)]}
    query = group(r, R, {"a": r.a, "b": r.b}, sets=((0, 1), (0,), ()), rows=COUNT)
    assert run(query, data) == sorted(
        [(1, None, 1, 0), (1, 2, 1, 0), (1, None, 2, 1), (None, None, 2, 3)], key=repr
    )
    assert run(query, {"r": []}) == [(None, None, 0, 3)]


# --- set operations, order -----------------------------------------------------------------------------------


def test_set_operations_with_and_without_all() -> None:
    data = {
        "r": [(1, 1), (1, 1), (1, 1), (2, 2), (None, None)],
        "s": [(1, 1), (3, 3), (None, None)],
    }
    assert run(union(R, S), data).count((1, 1)) == 4
    assert run(minus(R, S, all=True), data) == [(1, 1), (1, 1), (2, 2)]
    assert run(minus(R, S), data) == [(2, 2)]
    assert run(intersect(R, S, all=True), data) == [(1, 1), (None, None)]
    assert run(intersect(R, R, all=True), data).count((1, 1)) == 3
    assert run(intersect(R, R), data).count((1, 1)) == 1


def test_top_settles_ties_by_the_whole_row() -> None:
    data = {"r": [(1, 9), (1, 2), (1, None), (0, 5), (2, 1), (2, 1)]}
    assert run(top(r, R, [asc(r.a)], 3), data) == [(0, 5), (1, 2), (1, None)]
    assert run(top(r, R, [desc(r.a)], 1), data) == [(2, 1)]
    assert run(top(r, R, [desc(r.a)], 2, 1), data) == [(1, None), (2, 1)]
    assert run(top(r, R, [asc(r.a)], None, 4), data) == [(2, 1), (2, 1)]
    assert run(top(r, R, [asc(r.a)], 0), data) == []


# --- nested queries ------------------------------------------------------------------------------------------


def test_scalar_subquery_of_none_one_and_two_rows() -> None:
    query = bag(r <= R, a=r.a, b=scalar(bag(s <= S, eq(s.a, r.a), b=s.b)))
    assert run(query, {"r": [(1, 0), (2, 0)], "s": [(1, 5)]}) == [(1, 5), (2, None)]
    with pytest.raises(EvaluationError, match="more than one row"):
        run(query, {"r": [(1, 0)], "s": [(1, 5), (1, 5)]})


def test_the_count_bug() -> None:
    own = group(s, bag(s <= S, eq(s.a, r.a), a=s.a, b=s.b), {}, c=COUNT)
    query = bag(r <= R, eq(scalar(own), 0), a=r.a)
    assert run(query, {"r": [(1, 0), (2, 0)], "s": [(1, 5)]}) == [(2,)]


def test_exists_does_not_compute_the_head() -> None:
    fails = bag(s <= S, eq(s.a, r.a), x=div(1, 0))
    data = {"r": [(1, 0), (2, 0), (None, 0)], "s": [(1, 5), (None, 5)]}
    assert run(bag(r <= R, exists(fails), a=r.a), data) == [(1,)]
    assert run(bag(r <= R, not_(exists(fails)), a=r.a), data) == [(2,), (None,)]


NOT_IN = bag(r <= R, not_(some("eq", r.a, bag(s <= S, a=s.a))), a=r.a)


def test_one_null_in_the_subquery_empties_not_in() -> None:
    assert run(NOT_IN, {"r": [(1, 0), (2, 0)], "s": [(1, 0)]}) == [(2,)]
    assert run(NOT_IN, {"r": [(1, 0), (2, 0)], "s": [(1, 0), (None, 0)]}) == []


def test_an_empty_subquery_lets_even_a_null_probe_through_not_in() -> None:
    assert run(NOT_IN, {"r": [(1, 0), (None, 0)], "s": []}) == [(1,), (None,)]
    assert run(NOT_IN, {"r": [(1, 0), (None, 0)], "s": [(2, 0)]}) == [(1,)]


def test_not_exists_is_not_not_in() -> None:
    query = bag(r <= R, not_(exists(bag(s <= S, eq(s.a, r.a), a=s.a))), a=r.a)
    assert run(query, {"r": [(1, 0), (2, 0)], "s": [(1, 0), (None, 0)]}) == [(2,)]


def test_row_values_in_three_valued_logic() -> None:
    inside = some("eq", (r.a, r.b), bag(s <= S, a=s.a, b=s.b))
    data = {"r": [(1, 1), (1, 2), (3, None), (9, None)], "s": [(1, 1), (3, 3), (None, 2)]}
    query = bag(r <= R, a=r.a, b=r.b, found=inside)
    assert run(query, data) == sorted(
        # (1,2) may be (NULL,2); (3,NULL) may be (3,3); (9,NULL) may be (NULL,2), whose second is not NULL
        [(1, 1, True), (1, 2, None), (3, None, None), (9, None, None)],
        key=repr,
    )
    assert run(query, {**data, "s": [(1, 1), (3, 3)]}) == sorted(
        [(1, 1, True), (1, 2, False), (3, None, None), (9, None, False)], key=repr
    )


@pytest.mark.parametrize(
    ("rows", "any_less", "all_less"),
    [
        ([], False, True),
        ([1], False, False),
        ([9], True, True),
        ([1, 9], True, False),
        ([9, None], True, None),
        ([1, None], None, False),
        ([None], None, None),
    ],
)
def test_some_and_all(rows: list[int | None], any_less: bool | None, all_less: bool | None) -> None:
    data = {"r": [(5, 0)], "s": [(x, 0) for x in rows]}
    column = bag(s <= S, a=s.a)
    query = bag(r <= R, x=some("lt", r.a, column), y=every("lt", r.a, column))
    assert run(query, data) == [(any_less, all_less)]


def test_comparison_with_an_empty_subquery_ignores_a_null_probe() -> None:
    column = bag(s <= S, a=s.a)
    query = bag(r <= R, x=some("lt", r.a, column), y=every("lt", r.a, column), z=every("ne", r.a, column))
    assert run(query, {"r": [(None, 0)], "s": []}) == [(False, True, True)]
    assert run(query, {"r": [(None, 0)], "s": [(1, 1)]}) == [(None, None, None)]


# --- recursion -----------------------------------------------------------------------------------------------

EDGE = relation("edge", src=INT, dst=INT)
PATH = relation("path", src=INT, dst=INT)
g, p, q = var("g", EDGE), var("p", PATH), var("q", PATH)


def closure(step: n.Query, distinct: bool = True, limit: int | None = None) -> n.Fixpoint:
    body = union(bag(g <= EDGE, src=g.src, dst=g.dst), step)
    return n.Fixpoint((n.Definition("path", body, PATH.fields, distinct),), "path", PATH.fields, limit)


LINEAR = bag(p <= PATH, g <= EDGE, eq(p.dst, g.src), src=p.src, dst=g.dst)
NONLINEAR = bag(p <= PATH, q <= PATH, eq(p.dst, q.src), src=p.src, dst=q.dst)
GUARDED = bag(p <= PATH, g <= EDGE, eq(p.dst, g.src), exists(bag(q <= PATH, x=1)), src=p.src, dst=g.dst)


@pytest.mark.parametrize("step", [LINEAR, NONLINEAR, GUARDED])
def test_transitive_closure_of_a_cycle(step: n.Query) -> None:
    data = {"edge": [(1, 2), (2, 3), (3, 1), (3, 4)]}
    everywhere = sorted((a, b) for a in (1, 2, 3) for b in (1, 2, 3, 4))
    assert run(closure(step), data) == everywhere


def test_a_bag_of_derivations_counts_paths() -> None:
    data = {"edge": [(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]}
    assert run(closure(LINEAR, distinct=False), data) == sorted(
        data["edge"] + [(1, 4), (1, 4), (2, 5), (3, 5), (1, 5), (1, 5)]
    )
    # Every path of length three has two derivation trees when paths are joined with paths.
    assert run(closure(NONLINEAR, distinct=False), data).count((1, 5)) == 4


@pytest.mark.parametrize("step", [LINEAR, NONLINEAR, GUARDED])
def test_endless_recursion_is_caught(step: n.Query) -> None:
    with pytest.raises(EvaluationError, match="did not end within 20 rounds"):
        run(closure(step, distinct=False, limit=20), {"edge": [(1, 2), (2, 1)]})


def test_a_long_recursion_is_no_deep_recursion() -> None:
    count = relation("t", n=INT)
    t = var("t", count)
    body = union(values([(1,)], n=INT), bag(t <= count, lt(t.n, 5000), n=add(t.n, 1)))
    query = n.Fixpoint((n.Definition("t", body, count.fields, False),), "t", count.fields)
    assert run(query, {}) == sorted(((i,) for i in range(1, 5001)), key=repr)


def test_mutual_recursion() -> None:
    even, odd = relation("even", n=INT), relation("odd", n=INT)
    x, y = var("x", even), var("y", odd)
    definitions = (
        n.Definition(
            "even", union(values([(0,)], n=INT), bag(y <= odd, lt(y.n, 7), n=add(y.n, 1))), even.fields, True
        ),
        n.Definition("odd", bag(x <= even, lt(x.n, 7), n=add(x.n, 1)), odd.fields, True),
    )
    assert run(n.Fixpoint(definitions, "odd", odd.fields), {}) == [(1,), (3,), (5,), (7,)]


# --- shape ---------------------------------------------------------------------------------------------------


def test_wide_and_deep_unions() -> None:
    query: n.Query = union(*[R] * 5000)
    for _ in range(100):
        query = union(query, R)
    assert len(run(query, {"r": [(1, 1)]})) == 5100


def test_values_may_mention_the_scope() -> None:
    pair = values([(r.a,), (r.b,)], x=INT)
    w = var("w", pair)
    assert run(bag(r <= R, w <= pair, x=w.x), {"r": [(1, 2), (3, 4)]}) == [(1,), (2,), (3,), (4,)]


def test_free_variables_come_from_the_environment() -> None:
    query = bag(s <= S, eq(s.a, r.a), b=s.b)
    assert evaluate(query, lambda _: [((1, 5), 2), ((2, 6), 1)], {"r": (1, 0)}) == ZSet({(5,): 2})


def test_a_null_check_on_a_padded_variable_finds_the_missing() -> None:
    query = bag(r <= R, s0.outer(S, eq(s.a, r.a)), is_null(s0.a), a=r.a)
    assert run(query, {"r": [(1, 0), (2, 0)], "s": [(1, 5)]}) == [(2,)]


def test_sums_overflow_with_an_error() -> None:
    big = relation("big", x=BIGINT)
    b = var("b", big)
    with pytest.raises(EvaluationError):
        run(group(b, big, {}, s=aggregate("sum", [b.x])), {"big": [(2**63 - 1,), (1,)]})
