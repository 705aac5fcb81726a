"""Evaluation over rows and environments, and the agreement of Python source with the implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evercurrent.data.types import BOOLEAN, INT, STRING, Array, Member, Struct, Type
from evercurrent.errors import EvaluationError, InternalError, QueryError, UnsupportedError
from evercurrent.term import build
from evercurrent.term.build import call, field, lit
from evercurrent.term.evaluate import Environment, compile_in, compile_term, evaluate
from evercurrent.term.function_table import ALIASES, FUNCTIONS, NAMES, find, implementation
from evercurrent.term.functions.values.casts import cast_fails, cast_nulls, cast_python, cast_value, castable
from evercurrent.term.nodes import Call, Column, Lambda, Literal, Nested, Variable
from evercurrent.term.nullable import nullable
from evercurrent.term.simplify import simplify_node
from tests.unit.term.asking_spark import same, term
from tests.unit.term.spark_cases import CASES, CASTS

ROW = Struct((Member("id", INT), Member("name", STRING)))


def test_variables_are_records() -> None:
    r = Variable("r", ROW, nullable=True)
    t = call("concat", field(r, "name"), lit("!"))
    assert evaluate(t, Environment({}, {"r": (1, "Ann")})) == "Ann!"
    assert evaluate(t, Environment({}, {"r": None})) is None


def test_columns_and_variables_are_apart() -> None:
    t = call("add", Column("x", INT), Variable("x", INT))
    assert evaluate(t, Environment({"x": 1}, {"x": 10})) == 11


class Question(Nested):
    __slots__ = ("type",)

    def __init__(self) -> None:
        self.type = INT


def test_nested_queries_are_handed_out() -> None:
    question = Question()
    t = Call("add", (question, Column("a", INT)), INT)
    meaning = lambda nested, env: env.columns["a"] * 100 if nested is question else None  # noqa: E731
    assert evaluate(t, Environment({"a": 2}), meaning) == 202
    with pytest.raises(InternalError):
        compile_term(t, ["a"])
    with pytest.raises(InternalError):
        compile_in(t)


def test_lambdas_see_the_row_around_them() -> None:
    x, y = Variable("x", INT), Variable("y", INT)
    inner = Call(
        "transform", (Column("ys", Array(INT)), Lambda((y,), Call("mul", (x, y), INT), INT)), Array(INT)
    )
    t = Call("transform", (Column("xs", Array(INT)), Lambda((x,), inner, inner.type)), Array(inner.type))
    assert compile_term(t, ["xs", "ys"])(((1, 2), (10, 20))) == ((10, 20), (20, 40))
    assert evaluate(t, Environment({"xs": (1, 2), "ys": (10, 20)})) == ((10, 20), (20, 40))


def calls(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """The cases of a function with their arguments coerced, neither folded nor simplified."""
    for args in CASES[name]:
        try:
            terms = [term(a) for a in args]
            with monkeypatch.context() as patch:
                patch.setattr(
                    build, "simplify_node", lambda t: t if isinstance(t, Call) else simplify_node(t)
                )
                made = call(name, *terms)
        except (QueryError, UnsupportedError):
            continue
        if isinstance(made, Call) and all(isinstance(a, Literal) for a in made.args):
            yield made


def run(made: Call) -> Any:
    values = [a.value for a in made.args if isinstance(a, Literal)]
    return implementation(made.function, tuple(a.type for a in made.args), made.type)(*values)


def run_source(made: Call) -> Any:
    """The value of the Python source, or `...` if there is none."""
    function = FUNCTIONS[made.function]
    values = [a.value for a in made.args if isinstance(a, Literal)]
    assert function.python is not None
    inlined = made.function == "like"  # whose source looks at a constant pattern
    sources = tuple(repr(v) if inlined and isinstance(v, str) else f"v{i}" for i, v in enumerate(values))
    source = function.python(tuple(a.type for a in made.args), made.type, sources)
    return ... if source is None else eval(source, {**NAMES, **{f"v{i}": v for i, v in enumerate(values)}})


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return f(*args)
    except EvaluationError:
        return "an error"


def is_strict_with_null(made: Call) -> bool:
    return FUNCTIONS[made.function].strict and any(
        isinstance(a, Literal) and a.value is None for a in made.args
    )


@pytest.mark.parametrize("name", sorted(n for n, f in FUNCTIONS.items() if f.python and n in CASES))
def test_python_source_means_what_the_implementation_means(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    for made in calls(name, monkeypatch):
        if is_strict_with_null(made):
            continue
        found = outcome(run_source, made)
        if found is not ...:
            tried += 1
            assert same(found, outcome(run, made)), made
    assert tried


@pytest.mark.parametrize("name", sorted(set(CASES) & set(FUNCTIONS)))
def test_folding_and_simplifying_do_not_change_the_meaning(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for made in calls(name, monkeypatch):
        wanted = outcome(evaluate, made, Environment())
        assert same(outcome(evaluate, simplify_node(made), Environment()), wanted), made


@pytest.mark.parametrize("name", sorted(set(CASES) & set(FUNCTIONS)))
def test_what_functions_promise_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fails` and `nullable` are promises on which plans and engines rely."""
    for made in calls(name, monkeypatch):
        result = outcome(evaluate, made, Environment())
        assert result != "an error" or FUNCTIONS[made.function].fails, made
        assert result is not None or nullable(made), made


def test_python_source_of_casts_means_what_the_conversion_means() -> None:
    tried = 0
    for value, target in CASTS:
        literal = term(value)
        if not isinstance(literal, Literal) or literal.value is None or not castable(literal.type, target):
            continue
        wanted = outcome(cast_value(literal.type, target, True), literal.value)
        assert wanted != "an error" or cast_fails(literal.type, target), (value, target)
        assert wanted is not None or cast_nulls(literal.type, target), (value, target)
        source = cast_python(literal.type, target, "v")
        if source is not None:
            tried += 1
            assert same(eval(source, {**NAMES, "v": literal.value}), wanted)
    assert tried


def test_python_patterns_become_string_operations() -> None:
    python = FUNCTIONS["like"].python
    assert python is not None
    types: tuple[Type, ...] = (STRING, STRING)
    sources = {
        "'a%'": "s.startswith('a')",
        "'%a'": "s.endswith('a')",
        "'%a%'": "('a' in s)",
        "'a'": "(s == 'a')",
        "'a%b'": None,
        "'a_'": None,
        "p": None,
        "'%\\\\%%'": "('%' in s)",
    }
    assert {p: python(types, BOOLEAN, ("s", p)) for p in sources} == sources


def test_names_and_aliases_do_not_collide() -> None:
    assert not set(ALIASES) & set(FUNCTIONS)
    assert all(find(alias) is FUNCTIONS[name] for alias, name in ALIASES.items())
    assert find("UPPER") is FUNCTIONS["upper"] and find("nothing") is None
    assert all(f.name == name for name, f in FUNCTIONS.items())
