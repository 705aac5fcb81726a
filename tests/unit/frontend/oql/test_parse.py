"""Syntax: precedences, names that look like keywords, and errors with their place."""

from __future__ import annotations

import pytest

from evercurrent.errors import QueryError
from evercurrent.frontend.oql import syntax as s
from evercurrent.frontend.oql.parse import parse, parse_one
from evercurrent.frontend.oql.strings import translate_pattern


def test_precedences_are_those_of_the_standard() -> None:
    found = parse_one("a or b and not c = d + e * f in g")
    match found:
        case s.Binary("or", s.Name("a"), s.Binary("and", s.Name("b"), s.Binary("=", s.Unary("not"), right))):
            assert right == s.Binary(
                "+", s.Name("d"), s.Binary("*", s.Name("e"), s.Binary("in", s.Name("f"), s.Name("g")))
            )
        case _:
            pytest.fail(repr(found))


def test_a_quantifier_ends_at_and() -> None:
    found = parse_one("exists x in C: x.a = 1 and b")
    assert isinstance(found, s.Binary) and found.operator == "and" and isinstance(found.left, s.Quantified)


def test_keywords_in_any_case_and_as_names() -> None:
    found = parse_one("SELECT order.date FROM order IN orders ORDER BY order.group DESC")
    assert isinstance(found, s.Select)
    assert found.iterators[0].variable == "order"
    assert found.order[0].descending
    assert found.order[0].of == s.Step(s.Name("order"), "group")


@pytest.mark.parametrize(
    ("text", "variable", "of"),
    [
        ("x in C", "x", None),
        ("C as x", "x", None),
        ("C x", "x", None),
        ("(C) x", "x", None),
        ("C", None, None),
        ("x as c in C", "x", "c"),
    ],
)
def test_iterators(text: str, variable: str | None, of: str | None) -> None:
    found = parse_one(f"select 1 from {text}")
    assert isinstance(found, s.Select)
    assert found.iterators == (s.Iterator(variable, s.Name("C"), of),)


def test_casts_and_parentheses() -> None:
    assert parse_one("(employee) p") == s.Cast("employee", s.Name("p"))
    assert parse_one("(a) - b") == s.Binary("-", s.Name("a"), s.Name("b"))
    assert parse_one("(a) and b") == s.Binary("and", s.Name("a"), s.Name("b"))


def test_statements() -> None:
    text = "define query f(in long a, set<int> b) as a; // one\nundefine f; /* two */ import S::Order as O; import P"
    assert parse(text) == [
        s.Define(
            "f",
            (("a", "long"), ("b", "set int")),
            s.Name("a"),
            "define query f(in long a, set<int> b) as a",
        ),
        s.Undefine("f"),
        s.Import("Order", "O"),
        s.Import("P", "P"),
    ]


def test_literals() -> None:
    values = [
        p.value
        for p in parse('1; 1.5; \'c\'; "a\\"b"; nil; true; date \'2001-02-03\'; "a\\%"')
        if isinstance(p, s.Constant)
    ]
    assert values == [1, 1.5, "c", 'a"b', None, True, "2001-02-03", "a\\%"]


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("select e from e in Employees order", "'order' is not expected here", 30),
        ("e.x.", "the query ends too early", 4),
        ("struct(a: 1, a: 2)", "two members are called a", 14),
        ("select x from x in C group by 1 + 2", "what is grouped by needs a label", 31),
        ("1 $ 2", "'$' is not expected here", 3),
    ],
)
def test_errors_say_where(text: str, message: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.message == message
    assert caught.value.place is not None and caught.value.place.column == column


def test_patterns_of_like() -> None:
    assert translate_pattern("A*?") == "A%_"
    assert translate_pattern("100\\%\\*_") == "100\\%*_"
