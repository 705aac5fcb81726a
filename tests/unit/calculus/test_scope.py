"""Free variables, substitution without capture, renaming apart."""

from __future__ import annotations

from evercurrent.calculus import nodes as n
from evercurrent.calculus.scope import Names, free_variables, rename_apart, substitute
from evercurrent.calculus.show import show
from evercurrent.calculus.walk import relations_of, rename_relations
from evercurrent.data.types import INT, Array, Member, Struct
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import Lambda, Variable
from tests.unit.calculus.writing import asc, bag, eq, exists, group, gt, relation, scalar, top, union, var

R = relation("r", a=INT, b=INT)
S = relation("s", a=INT, b=INT)
r, s, t = var("r", R), var("s", S), var("t", R)


def test_free_variables_are_those_read_but_not_bound() -> None:
    assert free_variables(bag(s <= S, eq(s.a, r.a), b=s.b)) == {"r"}
    assert free_variables(bag(r <= R, exists(bag(s <= S, eq(s.a, r.a), b=t.b)), b=r.b)) == {"t"}
    assert free_variables(top(s, S, [asc(r.a)], 1)) == {"r"}
    assert free_variables(group(s, S, {"k": s.a}, m=aggregate("max", [t.a]))) == {"t"}
    assert free_variables(bag(s <= bag(s <= S, eq(s.b, 1), a=s.a, b=s.b), a=s.a)) == set()


def test_a_source_is_outside_the_scope_of_its_own_variable() -> None:
    inner = bag(s <= S, a=r.a, b=s.b)
    assert free_variables(bag(r <= inner, a=r.a)) == {"r"}
    assert free_variables(n.Group(r.term, inner, (r.a,), (), (Member("k", INT),))) == {"r"}


def test_the_condition_of_an_outer_generator_sees_its_variable() -> None:
    assert free_variables(bag(r <= R, s.outer(S, eq(s.a, r.a)), x=1)) == set()


def test_both_sides_of_a_full_outer_join_are_outside() -> None:
    query = n.FullOuter(r.term, R, s.term, bag(t <= R, eq(t.a, r.a), a=t.a, b=t.b), eq(r.a, s.a), (), ())
    assert free_variables(query) == {"r"}


def test_lambdas_bind() -> None:
    x = Variable("x", INT)
    term = call("transform", lit((1,), Array(INT)), Lambda((x,), call("add", x, r.a), INT))
    assert free_variables(term) == {"r"}


def test_substitution_does_not_capture() -> None:
    query = bag(s <= S, eq(s.a, r.a), b=s.b)  # r is free; what takes its place is called s
    outer = Variable("s", Struct(R.fields))
    replaced = substitute(query, {"r": outer})
    assert show(replaced) == "bag{ (b: s_2.b) | s_2 <- s, s_2.a = s.a }"
    assert free_variables(replaced) == {"s"}


def test_substitution_does_not_capture_by_a_fresh_name_either() -> None:
    other = Variable("s_2", Struct(R.fields))
    query = bag(s <= S, eq(s.a, r.a), b=call("add", s.b, call("add", r.b, 0 or lit(0))))
    widened = n.Comprehension("bag", (*query.head, other), query.qualifiers, query.fields)
    replaced = substitute(widened, {"r": Variable("s", Struct(R.fields))})
    assert free_variables(replaced) == {"s", "s_2"}


def test_substitution_stops_at_a_binder_of_the_same_name() -> None:
    query = bag(r <= R, gt(r.a, 1), b=r.b)
    assert substitute(query, {"r": lit(None, Struct(R.fields))}) == query


def test_substitution_goes_into_nested_queries_and_resolves_members() -> None:
    query = bag(s <= S, exists(bag(t <= R, eq(t.a, r.b), x=1)), b=scalar(bag(x=r.a)))
    record = call("named_struct", lit("a"), lit(4), lit("b"), s.b)
    replaced = substitute(query, {"r": record})
    assert free_variables(replaced) == {"s"}
    assert "s_2" in show(replaced)


def test_rename_apart_gives_every_binder_a_name_of_its_own() -> None:
    inner = bag(s <= S, a=s.a, b=s.b)
    query = union(bag(s <= inner, a=s.a), bag(s <= S, exists(bag(s <= S, eq(s.a, 1), x=1)), a=s.a))
    renamed = rename_apart(query, Names())
    names = [name for name in ("s", "s_2", "s_3", "s_4") if f"{name} <- " in show(renamed)]
    assert names == ["s", "s_2", "s_3", "s_4"]
    assert rename_apart(renamed, Names()) == renamed


def test_relations_that_are_read() -> None:
    path = relation("path", a=INT, b=INT)
    p = var("p", path)
    body = union(R, bag(p <= path, exists(S), a=p.a, b=p.b))
    fixpoint = n.Fixpoint((n.Definition("path", body, path.fields, True),), "path", path.fields)
    assert relations_of(fixpoint) == {"r", "s"}
    assert relations_of(rename_relations(fixpoint, {"s": "z", "path": "no"})) == {"r", "z"}
