"""Walking terms."""

from __future__ import annotations

from evercurrent.data.types import BOOLEAN, INT, Array, Member, Struct
from evercurrent.term.build import call, case, cast, field, lit, record
from evercurrent.term.nodes import Call, Column, Field, Lambda, Literal, Term, Variable
from evercurrent.term.show import show
from evercurrent.term.walk import (
    children,
    columns_of,
    nodes,
    rewrite,
    substitute,
    variables_of,
    with_children,
)

A, B, P = Column("a", INT), Column("b", INT), Column("p", BOOLEAN)
R = Variable("r", Struct((Member("x", INT), Member("y", INT))))
X = Variable("x", INT)
XS = Column("xs", Array(INT))
LAMBDA = Lambda((X,), Call("add", (X, A), INT), INT)
TERMS: list[Term] = [
    lit(1),
    A,
    R,
    field(R, "x"),
    call("add", A, B),
    case([(P, A), (call("not", P), B)], lit(0)),
    cast(A, BOOLEAN),
    record([("x", A), ("y", B)]),
    LAMBDA,
    Call("transform", (XS, LAMBDA), Array(INT)),
]


def test_children_go_back_where_they_came_from() -> None:
    for t in TERMS:
        assert with_children(t, children(t)) == t


def test_rewriting_by_the_identity_copies_nothing() -> None:
    for t in TERMS:
        assert rewrite(t, lambda x: x) is t


def test_rewriting_goes_from_the_leaves_up() -> None:
    seen: list[str] = []

    def note(t: Term) -> Term:
        seen.append(show(t))
        return Literal(7, INT) if t == A else t

    assert show(rewrite(Call("mul", (Call("add", (A, B), INT), A), INT), note)) == "(7 + b) * 7"
    assert seen == ["a", "b", "7 + b", "a", "(7 + b) * 7"]


def test_columns_and_free_variables_are_found() -> None:
    t = call("add", field(R, "x"), case([(P, A)], B))
    assert columns_of(t) == {A, B, P} and variables_of(t) == {R}
    assert variables_of(LAMBDA) == frozenset() and columns_of(LAMBDA) == {A}
    assert sum(isinstance(n, Column) for n in nodes(TERMS[-1])) == 2


def test_substitution_respects_what_lambdas_bind() -> None:
    assert substitute(call("add", A, B), {A: lit(1)}) == Call("add", (lit(1), B), INT)
    assert substitute(LAMBDA, {X: lit(9)}) is LAMBDA
    assert substitute(LAMBDA, {A: B}) == Lambda((X,), Call("add", (X, B), INT), INT)
    nullable_a = Column("a", INT, nullable=False)
    assert substitute(A, {nullable_a: lit(5)}) == lit(5)


def test_a_member_of_a_record_that_is_put_in_is_that_member() -> None:
    made = record([("x", A), ("y", B)])
    assert substitute(Field(R, "y", INT), {R: made}) == B
