"""Smart constructors: coercion, folding, simplification, and errors with a place."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    Member,
    Struct,
)
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.source import Place
from evercurrent.term.build import (
    FALSE,
    TRUE,
    call,
    case,
    cast,
    conjunction,
    conjuncts,
    disjunction,
    disjuncts,
    field,
    lambda_parameters,
    lit,
    negation,
    null,
    record,
)
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Call, Case, Cast, Column, Lambda, Literal, Term, Variable
from evercurrent.term.show import show
from evercurrent.term.simplify import simplify

A, B = Column("a", INT), Column("b", INT)
N = Column("n", INT, nullable=False)
P, Q = Column("p", BOOLEAN), Column("q", BOOLEAN)
S = Column("s", STRING)


def test_arguments_are_coerced() -> None:
    assert show(call("add", A, Column("x", DOUBLE))) == "cast(a as DOUBLE) + x"
    assert show(call("eq", Column("d", DATE), Column("t", TIMESTAMP))) == "cast(d as TIMESTAMP) = t"
    assert show(call("eq", Column("d", DATE), lit("2024-01-02"))) == "d = date '2024-01-02'"
    assert show(call("gt", Column("x", Decimal(12, 2)), lit(24))) == "x > 24.00"
    assert call("div", A, B).type == DOUBLE


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (lambda: call("add", lit(1), lit(2)), "3"),
        (lambda: call("upper", lit("a")), "'A'"),
        (lambda: call("div", lit(1), lit(0)), "1.0 / 0.0"),
        (lambda: call("add", A, null(INT)), "null"),
        (lambda: call("eq", lit(3), A), "a = 3"),
        (lambda: call("lt", lit(3), A), "a > 3"),
        (lambda: call("eq", N, N), "true"),
        (lambda: call("lt", N, N), "false"),
        (lambda: call("eq", A, A), "a = a"),
        (lambda: call("eqns", A, A), "true"),
        (lambda: call("eqns", A, null(INT)), "a is null"),
        (lambda: call("eqns", N, lit(1)), "n = 1"),
        (lambda: call("eq", P, TRUE), "p"),
        (lambda: call("eq", P, FALSE), "not p"),
        (lambda: negation(negation(P)), "p"),
        (lambda: negation(call("lt", A, B)), "a >= b"),
        (lambda: negation(call("is_null", A)), "a is not null"),
        (lambda: call("is_null", N), "false"),
        (lambda: call("is_not_null", N), "true"),
        (lambda: call("coalesce", null(INT), A, N, B), "coalesce(a, n)"),
        (lambda: call("coalesce", A, call("coalesce", A, B)), "coalesce(a, b)"),
        (lambda: call("coalesce", N, A), "n"),
        (lambda: call("in_list", A, lit(1)), "a = 1"),
        (lambda: call("in_list", A, lit(1), lit(2), lit(1)), "a in (1, 2)"),
        (lambda: case([(FALSE, A), (P, B)], N), "case when p then b else n end"),
        (lambda: case([(TRUE, A), (P, B)]), "a"),
        (lambda: case([(P, A)], A), "a"),
        (lambda: case([(null(BOOLEAN), A)]), "null"),
        (lambda: cast(cast(A, BIGINT), DOUBLE), "cast(cast(a as BIGINT) as DOUBLE)"),
        (lambda: cast(cast(A, BIGINT), INT), "a"),
        (lambda: cast(A, INT), "a"),
        (lambda: cast(lit("5"), INT), "5"),
        (lambda: cast(lit("x"), INT), "cast('x' as INT)"),
        (lambda: cast(lit("x"), INT, strict=False), "null"),
        (lambda: call("eq", A, lit(5, BIGINT)), "a = 5"),
        (lambda: call("lt", A, lit(2**40)), "cast(a as BIGINT) < 1099511627776"),
        (lambda: call("if", P, A, B), "case when p then a else b end"),
        (lambda: call("nvl", A, B), "coalesce(a, b)"),
        (lambda: call("nullif", A, lit(0)), "case when a = 0 then null else a end"),
        (lambda: call("between", A, lit(1), lit(2)), "a >= 1 and a <= 2"),
        (lambda: call("decode", A, lit(1), lit("x"), lit("y")), "case when a <=> 1 then 'x' else 'y' end"),
        (lambda: call("CHAR_LENGTH", S), "length(s)"),
        (lambda: call("date", S), "cast(s as DATE)"),
    ],
)
def test_terms_are_made_simple(made: Any, shown: str) -> None:
    assert show(made()) == shown


def test_conjunctions_are_flat() -> None:
    pq = conjunction([P, Q])
    assert conjunction([pq, TRUE, P, call("gt", A, lit(1))]) == Call(
        "and", (P, Q, call("gt", A, lit(1))), BOOLEAN
    )
    assert conjunction([]) == TRUE and conjunction([P]) == P and conjunction([P, FALSE]) == FALSE
    assert disjunction([]) == FALSE and disjunction([P, TRUE]) == TRUE
    assert conjuncts(pq) == (P, Q) and conjuncts(TRUE) == () and conjuncts(P) == (P,)
    assert disjuncts(disjunction([P, Q])) == (P, Q) and disjuncts(FALSE) == ()


THREE = (True, False, None)
AND = {(a, b): False if False in (a, b) else None if None in (a, b) else True for a in THREE for b in THREE}
OR = {(a, b): True if True in (a, b) else None if None in (a, b) else False for a in THREE for b in THREE}


@pytest.mark.parametrize(("name", "table"), [("and", AND), ("or", OR)])
def test_logic_is_three_valued(name: str, table: dict[tuple[Any, Any], Any]) -> None:
    run = compile_term(Call(name, (P, Q), BOOLEAN), ["p", "q"])
    for (a, b), wanted in table.items():
        assert run((a, b)) is wanted
        assert call(name, lit(a, BOOLEAN), lit(b, BOOLEAN)) == Literal(wanted, BOOLEAN)


LOGICAL: list[Term] = [P, Q, TRUE, FALSE, null(BOOLEAN), call("is_null", P), call("not", Q)]


def test_simplified_logic_means_the_same() -> None:
    for name in ("and", "or", "eqns", "eq"):
        for x, y, z in itertools.product(LOGICAL, repeat=3):
            plain = Call("not", (Call(name, (Call("and", (x, y), BOOLEAN), z), BOOLEAN),), BOOLEAN)
            short = simplify(plain)
            for p, q in itertools.product(THREE, repeat=2):
                wanted = compile_term(plain, ["p", "q"])((p, q))
                assert compile_term(short, ["p", "q"])((p, q)) is wanted, show(plain)


def test_later_branches_are_not_evaluated() -> None:
    failing = call("div", lit(1), A)
    assert compile_term(case([(call("eq", A, lit(0)), lit(0.0))], failing), ["a"])((0,)) == 0.0
    guard = conjunction([call("ne", A, lit(0)), call("gt", failing, lit(0))])
    assert compile_term(guard, ["a"])((0,)) is False
    assert compile_term(call("coalesce", lit(1.0), failing), ["a"])((0,)) == 1.0


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda p: call("nothing", A, place=p), "there is no function NOTHING"),
        (lambda p: call("add", A, P, place=p), "ADD: INT and BOOLEAN have no common type"),
        (lambda p: call("upper", A, B, place=p), "UPPER: 1 argument expected, 2 given"),
        (lambda p: call("date_add", Column("d", DATE), Column("n", BIGINT), place=p), "argument 2 is BIGINT"),
        (lambda p: cast(Column("d", DATE), INT, place=p), "DATE cannot be cast to INT"),
        (lambda p: case([(A, B)], None, p), "a condition is needed, not INT"),
        (lambda p: case([(P, A)], Column("d", DATE), p), "INT and DATE have no common type"),
        (
            lambda p: field(Column("r", Struct((Member("x", INT),))), "y", p),
            "there is no member y; there are x",
        ),
        (lambda p: field(A, "y", p), "INT has no members"),
        (lambda p: call("round", Column("x", DOUBLE), A, place=p), "must be a constant"),
        (lambda p: call("named_struct", A, B, place=p), "NAMED_STRUCT"),
        (lambda p: call("nullif", A, place=p), "NULLIF: 2 arguments expected, 1 given"),
        (
            lambda p: call("eq", Column("m", Map(INT, INT)), Column("k", Map(INT, INT)), place=p),
            "cannot be compared",
        ),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_place(made: Any, message: str) -> None:
    place = Place("SELECT x", 7, 8)
    with pytest.raises(QueryError, match=message) as caught:
        made(place)
    assert caught.value.place == place


def test_what_has_no_translation_is_refused_with_its_place() -> None:
    place = Place("SELECT x", 7, 8)
    for name, args in {
        "rlike": (S, lit("[a-z&&[^b]]")),
        "to_date": (S, lit("yyyy-ww")),
        "date_format": (Column("t", TIMESTAMP), lit("YYYY")),
        "format_string": (lit("%tY"), S),
    }.items():
        with pytest.raises(UnsupportedError) as caught:
            call(name, *args, place=place)
        assert caught.value.place == place


def test_structs_are_made_and_read() -> None:
    made = record([("x", A), ("y", S)])
    assert made.type == Struct((Member("x", INT), Member("y", STRING)))
    assert field(made, "Y") == S
    column = Column("r", made.type, nullable=False)
    assert show(field(column, "X")) == "r.x"
    assert field(Column("m", Map(STRING, INT)), "k").type == INT
    names = field(Column("rs", Array(Struct((Member("x", INT),)))), "x")
    assert names.type == Array(INT)
    assert compile_term(names, ["rs"])((((1,), None, (3,)),)) == (1, None, 3)
    assert call("named_struct", lit("k"), A) == record([("k", A)])
    assert call("struct", field(column, "x"), B).type == Struct((Member("x", INT), Member("col2", INT)))


def test_lambdas_get_their_types_and_their_casts() -> None:
    numbers = Column("xs", Array(INT))
    assert lambda_parameters("transform", 1, 2, [numbers]) == (INT, INT)
    with pytest.raises(QueryError, match="not of 3"):
        lambda_parameters("transform", 1, 3, [numbers])
    with pytest.raises(QueryError, match="takes no function"):
        lambda_parameters("upper", 1, 1, [S])
    x, acc = Variable("x", INT, True), Variable("acc", BIGINT, True)
    body = call("add", acc, x)
    total = call("aggregate", numbers, lit(0, BIGINT), Lambda((acc, x), body, body.type))
    assert total.type == BIGINT and compile_term(total, ["xs"])(((1, 2, 3),)) == 6
    keep = call("filter", numbers, Lambda((x,), call("gt", x, A), BOOLEAN))
    assert compile_term(keep, ["xs", "a"])(((1, None, 3), 2)) == (3,)


def test_constants_find_their_types() -> None:
    assert [lit(v).type for v in (None, True, 1, 2**40, 1.5, "a")] == [
        NULL,
        BOOLEAN,
        INT,
        BIGINT,
        DOUBLE,
        STRING,
    ]
    with pytest.raises(TypeError):
        lit(object())


def test_huge_results_are_not_folded() -> None:
    assert isinstance(call("repeat", lit("x"), lit(10**9)), Call)
    assert isinstance(call("sequence", lit(1), lit(10**9)), Call)


def test_places_do_not_count_in_equality() -> None:
    place = Place("a + b", 0, 5)
    assert call("add", A, B, place=place) == call("add", A, B)
    assert isinstance(case([(P, A)], B), Case) and isinstance(cast(A, STRING), Cast)
