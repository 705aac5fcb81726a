"""The meaning of a term, by closures.

    compile_term(t, columns)(row)     over rows: columns are found by position
    compile_in(t, nested)(env)        over an environment: columns and variables by name
    evaluate(t, env, nested)          the same, at once

NULL goes through strict functions; AND, OR, COALESCE and CASE are lazy. A nested query is handed to `nested`, which the
calculus supplies: (Nested, environment) -> value.

>>> from evercurrent.data.types import INT
>>> compile_term(Call("add", (Column("a", INT), Literal(1, INT)), INT), ["a"])((41,))
42
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, assert_never

from evercurrent.data.types import Struct
from evercurrent.errors import InternalError
from evercurrent.term.function_table import FUNCTIONS, implementation
from evercurrent.term.functions.values.casts import cast_value
from evercurrent.term.nodes import (
    Apply,
    Call,
    Case,
    Cast,
    Column,
    Field,
    Lambda,
    Literal,
    Nested,
    Record,
    Term,
    Variable,
)
from evercurrent.term.opaque import caller

Value = Any
Code = Callable[[Any], Value]


@dataclass(frozen=True, slots=True)
class Environment:
    """Values for columns and for variables, by name. A variable of struct type is bound to a tuple, or to None."""

    columns: Mapping[str, Value] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)

    def bind(self, names: Sequence[str], values: Sequence[Value]) -> Environment:
        return Environment(self.columns, {**self.variables, **dict(zip(names, values, strict=True))})


NestedMeaning = Callable[[Nested, Environment], Value]


class Closure:
    """The value of a lambda of so many parameters (`arity`); it ignores further arguments."""

    __slots__ = ("apply", "arity")

    def __init__(self, apply: Callable[[tuple[Value, ...]], Value], arity: int) -> None:
        self.apply = apply
        self.arity = arity

    def __call__(self, *values: Value) -> Value:
        return self.apply(values[: self.arity])


class _Names:
    """Scope of an environment: everything by name."""

    def __init__(self, nested: NestedMeaning | None) -> None:
        self.meaning = nested

    def column(self, name: str) -> Code:
        return lambda env: env.columns[name]

    def variable(self, name: str) -> Code:
        return lambda env: env.variables[name]

    def bind(self, names: tuple[str, ...]) -> tuple[_Names, Callable[[Any, tuple[Value, ...]], Any]]:
        return self, lambda env, values: env.bind(names, values)

    def compile_nested(self, t: Nested) -> Code:
        if self.meaning is None:
            raise InternalError("a nested query where only plain terms can be")
        meaning = self.meaning
        return lambda env: meaning(t, env)


class _Positions:
    """Scope of a row: columns and variables by position; a lambda's parameters are put behind the row."""

    def __init__(self, columns: dict[str, int], variables: dict[str, int], width: int) -> None:
        self.columns, self.variables, self.width = columns, variables, width

    def column(self, name: str) -> Code:
        i = self.columns[name]
        return lambda row: row[i]

    def variable(self, name: str) -> Code:
        i = self.variables[name]
        return lambda row: row[i]

    def bind(self, names: tuple[str, ...]) -> tuple[_Positions, Callable[[Any, tuple[Value, ...]], Any]]:
        inner = {**self.variables, **{n: self.width + i for i, n in enumerate(names)}}
        return _Positions(self.columns, inner, self.width + len(names)), lambda row, values: row + values

    def compile_nested(self, t: Nested) -> Code:
        raise InternalError("a nested query is left in a plan")


_Scope = _Names | _Positions


def evaluate(t: Term, env: Environment, nested: NestedMeaning | None = None) -> Value:
    """The value of a term in an environment."""
    return compile_in(t, nested)(env)


@lru_cache(maxsize=8192)
def compile_in(t: Term, nested: NestedMeaning | None = None) -> Callable[[Environment], Value]:
    """A function from environments to the term's value."""
    return _compile(t, _Names(nested))


def compile_term(t: Term, columns: Sequence[Column | str]) -> Callable[[tuple[Value, ...]], Value]:
    """A function from rows with these columns to the term's value."""
    names = {c if isinstance(c, str) else c.name: i for i, c in enumerate(columns)}
    return _compile(t, _Positions(names, {}, len(columns)))


def _compile(t: Term, scope: _Scope) -> Code:
    match t:
        case Literal(value):
            return lambda at: value
        case Column(name):
            return scope.column(name)
        case Variable(name):
            return scope.variable(name)
        case Field(of, name):
            return _field(of, name, scope)
        case Call():
            return _call(t, scope)
        case Case(branches, otherwise):
            return _case(branches, otherwise, scope)
        case Cast(of, target, strict):
            inner, convert = _compile(of, scope), cast_value(of.type, target, strict)
            return lambda at: convert(inner(at))
        case Record(members):
            parts = tuple(_compile(term, scope) for _, term in members)
            return lambda at: tuple([part(at) for part in parts])
        case Lambda():
            return _lambda(t, scope)
        case Apply(args=args):
            given, apply = tuple(_compile(a, scope) for a in args), caller(t)
            return lambda at: apply(*[arg(at) for arg in given])
        case Nested():
            return scope.compile_nested(t)
        case _:
            assert_never(t)


def _field(of: Term, name: str, scope: _Scope) -> Code:
    inner = _compile(of, scope)
    if not isinstance(of.type, Struct):
        raise InternalError(f"{of.type} has no members")
    i = of.type.position(name)
    if i is None:
        raise InternalError(f"{of.type} has no member {name}")
    position = i

    def read(at: Any) -> Value:
        value = inner(at)
        return None if value is None else value[position]

    return read


def _case(branches: tuple[tuple[Term, Term], ...], otherwise: Term, scope: _Scope) -> Code:
    pairs = tuple((_compile(c, scope), _compile(v, scope)) for c, v in branches)
    last = _compile(otherwise, scope)

    def choose(at: Any) -> Value:
        for condition, value in pairs:
            if condition(at):
                return value(at)
        return last(at)

    return choose


def _lambda(t: Lambda, scope: _Scope) -> Code:
    inner, extend = scope.bind(tuple(p.name for p in t.parameters))
    body = _compile(t.body, inner)
    count = len(t.parameters)

    def close(at: Any) -> Closure:
        return Closure(lambda values: body(extend(at, values)), count)

    return close


def _call(t: Call, scope: _Scope) -> Code:
    args = tuple(_compile(a, scope) for a in t.args)
    match t.function:
        case "and":
            return _decide_by(False, args)
        case "or":
            return _decide_by(True, args)
        case "coalesce":
            return _first_known(args)
    function = implementation(t.function, tuple(a.type for a in t.args), t.type)
    if not FUNCTIONS[t.function].strict:
        return lambda at: function(*[arg(at) for arg in args])
    match args:
        case (one,):

            def unary(at: Any) -> Value:
                a = one(at)
                return None if a is None else function(a)

            return unary
        case (left, right):

            def binary(at: Any) -> Value:
                a = left(at)
                if a is None:
                    return None
                b = right(at)
                return None if b is None else function(a, b)

            return binary

    def strict(at: Any) -> Value:
        values = [arg(at) for arg in args]
        return None if None in values else function(*values)

    return strict


def _decide_by(decisive: bool, args: tuple[Code, ...]) -> Code:
    """AND (decided by FALSE) and OR (decided by TRUE)."""

    def decide(at: Any) -> bool | None:
        result: bool | None = not decisive
        for arg in args:
            value: bool | None = arg(at)
            if value is decisive:
                return decisive
            if value is None:
                result = None
        return result

    return decide


def _first_known(args: tuple[Code, ...]) -> Code:
    def first(at: Any) -> Value:
        for arg in args:
            value = arg(at)
            if value is not None:
                return value
        return None

    return first
