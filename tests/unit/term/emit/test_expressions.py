"""Generated expressions against the meaning of terms: as values, as "is TRUE" and as "is FALSE"."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from evercurrent.data.representation import NAN
from evercurrent.data.types import BOOLEAN, DATE, DOUBLE, INT, STRING, Array, Decimal, Member, Struct, Type
from evercurrent.errors import EvaluationError
from evercurrent.term.build import call, case, cast, lit
from evercurrent.term.emit.expressions import Expressions
from evercurrent.term.emit.scope import Locals, Scope
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.evaluate import compile_term
from evercurrent.term.function_table import NAMES
from evercurrent.term.nodes import Call, Case, Cast, Column, Field, Lambda, Literal, Record, Term, Variable

PAIR = Struct((Member("a", INT), Member("b", STRING)))
POOLS: dict[Type, list[Any]] = {
    INT: [0, 1, 2, -3, 2**31 - 1],
    DOUBLE: [0.0, -0.0, 1.5, NAN, float("inf")],
    Decimal(8, 2): [0, 150, -275, 99999999],
    STRING: ["", "a", "B", "x'); import os #", '"""\n\\'],
    BOOLEAN: [True, False],
    DATE: [datetime.date(2024, 2, 29), datetime.date(1999, 12, 31)],
    PAIR: [(1, "a"), (None, "b"), (2, None)],
    Array(INT): [(), (1, None), (3, 1, 2)],
}
COLUMNS = [Column(f"{i}\n\"'){t}", t, null) for i, t in enumerate(POOLS) for null in (True, False)]


class Terms:
    """Random terms over the columns."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def of(self, t: Type, depth: int) -> Term:
        if depth <= 0 or self.r.random() < 0.15:
            if self.r.random() < 0.3:
                return Literal(self.r.choice([*POOLS[t], None]), t)
            return self.r.choice([c for c in COLUMNS if c.type == t])
        return self.r.choice([self.conditional, self.chosen, self.made])(t, depth - 1)

    def conditional(self, t: Type, depth: int) -> Term:
        branches = tuple((self.of(BOOLEAN, depth), self.of(t, depth)) for _ in range(self.r.randint(1, 2)))
        return Case(branches, self.of(t, depth), t)

    def chosen(self, t: Type, depth: int) -> Term:
        return Call("coalesce", tuple(self.of(t, depth) for _ in range(self.r.randint(1, 3))), t)

    def made(self, t: Type, depth: int) -> Term:
        r = self.r
        of = self.of
        match t:
            case _ if t == BOOLEAN:
                s = r.choice([INT, DOUBLE, Decimal(8, 2), STRING, DATE])
                kind = r.choice(["compare", "logic", "not", "null", "in", "eqns", "like"])
                if kind == "compare":
                    return call(r.choice(["eq", "ne", "lt", "le", "gt", "ge"]), of(s, depth), of(s, depth))
                if kind == "logic":
                    name = r.choice(["and", "or"])
                    return Call(name, tuple(of(BOOLEAN, depth) for _ in range(r.randint(2, 3))), BOOLEAN)
                if kind == "not":
                    return Call("not", (of(BOOLEAN, depth),), BOOLEAN)
                if kind == "null":
                    return Call(r.choice(["is_null", "is_not_null"]), (of(s, depth),), BOOLEAN)
                if kind == "in":
                    options = [Literal(r.choice([*POOLS[s], None]), s) for _ in range(r.randint(1, 4))]
                    return Call("in_list", (of(s, depth), *options), BOOLEAN)
                if kind == "like":
                    return call("like", of(STRING, depth), lit("%a_", STRING))
                return Call("eqns", (of(s, depth), of(s, depth)), BOOLEAN)
            case _ if t == INT:
                kind = r.choice(["add", "mul", "mod", "length", "field", "neg", "year", "folded"])
                if kind == "length":
                    return call("length", of(STRING, depth))
                if kind == "field":
                    return Field(of(PAIR, depth), "a", INT, True)
                if kind == "neg":
                    return call("neg", of(INT, depth))
                if kind == "year":
                    return call("year", of(DATE, depth))
                if kind == "folded":
                    x = Variable("x", INT, True)
                    body = Lambda((x,), call("add", x, of(INT, depth)), INT)
                    mapped = Call("transform", (of(Array(INT), depth), body), Array(INT))
                    return Call("get", (mapped, of(INT, depth)), INT)
                return call(kind, of(INT, depth), of(INT, depth))
            case _ if t == DOUBLE:
                kind = r.choice(["add", "div", "cast"])
                if kind == "cast":
                    return Cast(of(r.choice([INT, Decimal(8, 2)]), depth), DOUBLE)
                return call(kind, of(DOUBLE, depth), of(DOUBLE, depth))
            case Decimal():
                return cast(call(r.choice(["add", "sub", "mul"]), of(t, depth), of(t, depth)), t)
            case _ if t == STRING:
                if r.random() < 0.3:
                    return Field(of(PAIR, depth), "b", STRING, True)
                return call(r.choice(["upper", "trim"]), of(STRING, depth))
            case _ if t == PAIR:
                return Record((("a", of(INT, depth)), ("b", of(STRING, depth))), PAIR)
            case _:
                return of(t, 0)


def outcome(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except EvaluationError:
        return "failed"


def same(a: Any, b: Any) -> bool:
    return (a,) == (b,) and type(a) is type(b)


def compiled(term: Term, form: str) -> Any:
    namespace, fresh = Namespace(), Locals()
    for name, value in NAMES.items():
        namespace.define(name, value)
    sources = {c.name: f"r[{i}]" for i, c in enumerate(COLUMNS)}
    source = getattr(Expressions(namespace, sources, fresh), form)(term)
    exec(compile(f"def f(r):\n    return {source}", "<test>", "exec"), namespace.objects)
    return namespace.objects["f"]


def row(r: random.Random) -> tuple[Any, ...]:
    return tuple(None if c.nullable and r.random() < 0.4 else r.choice(POOLS[c.type]) for c in COLUMNS)


@pytest.mark.parametrize("seed", range(250))
def test_values_and_conditions(seed: int) -> None:
    terms = Terms(seed)
    t = terms.r.choice(list(POOLS))
    term = terms.of(t, 3)
    meaning = compile_term(term, COLUMNS)
    value = compiled(term, "value")
    for _ in range(12):
        r = row(terms.r)
        expected = outcome(meaning, r)
        found = outcome(value, r)
        # A strict function may find a NULL before it finds that another argument fails, or after.
        assert same(found, expected) or (expected == "failed" and found is None), (term, r)
        if t == BOOLEAN and expected != "failed":
            assert bool(outcome(compiled(term, "true"), r)) == (expected is True)
            assert bool(outcome(compiled(term, "false"), r)) == (expected is False)


def test_shared_subterms_are_computed_once() -> None:
    x = Column("x", INT, False)
    square = call("mul", x, x)
    terms = [call("add", square, lit(1, INT)), call("add", square, lit(2, INT))]
    writer, namespace = Writer(), Namespace()
    scope = Scope(writer, namespace, Locals(), terms)
    scope.define("x", "r[0]")
    sources = scope.values(terms)
    assert writer.lines[0] == "v1 = r[0]"
    assert len(writer.lines) == 2 and "v1 * v1" in writer.lines[1]
    assert all("v2" in s and "v1" not in s for s in sources)


def test_what_may_not_be_evaluated_is_not_computed_beforehand() -> None:
    x = Column("x", INT, False)
    inverse = call("div", lit(1, INT), x)
    term = case(((call("eq", x, lit(0, INT)), lit(0.0, DOUBLE)),), inverse)
    terms = [term, call("add", term, inverse)]
    writer, namespace = Writer(), Namespace()
    scope = Scope(writer, namespace, Locals(), terms)
    scope.define("x", "x")
    assert inverse not in scope.expressions.known
    scope.value(terms[0])
    assert inverse not in scope.expressions.known


@pytest.mark.parametrize("may", [True, False])
def test_what_stands_behind_a_null_fails_only_where_it_is_reached(may: bool) -> None:
    x, y = Column("x", DOUBLE, False), Column("y", DOUBLE, may)
    inverse = call("div", lit(1.0, DOUBLE), x)
    terms = [call("mul", y, inverse), call("add", y, inverse)]
    scope = Scope(Writer(), Namespace(), Locals(), terms)
    scope.define("x", "x")
    scope.define("y", "y")
    scope.values(terms)
    assert (inverse in scope.expressions.known) is not may


def test_conditions_make_no_nulls() -> None:
    a, b = Column("a", INT), Column("b", INT, False)
    expressions = Expressions(Namespace(), {"a": "a", "b": "b"}, Locals())
    less = call("lt", a, b)
    assert expressions.true(less) == "(a is not None and (a < b))"
    assert expressions.false(less) == "(a is not None and not (a < b))"
    assert expressions.true(Call("not", (less,), BOOLEAN)) == expressions.false(less)
    assert expressions.true(call("lt", b, lit(3, INT))) == "(b < 3)"


def test_constants_are_never_source() -> None:
    namespace = Namespace()
    hostile = "'); import os; os.system('x') #"
    assert namespace.constant(hostile).isidentifier()
    assert namespace.constant(hostile) == namespace.constant(hostile)
    assert namespace.constant(1.5).isidentifier()
    assert namespace.constant(-5) == "(-5)"
    assert [namespace.constant(v) for v in (None, True, False, 7)] == ["None", "True", "False", "7"]
    assert namespace.constant(0.0) != namespace.constant(-0.0)
