"""Opaque functions: how one is called, and which terms hold one.

Law. An opaque function is called once for each inserted or deleted row, whatever depends on it. So a map that applies one is
a border in every plan: what is above it reads its column, what is below it does not see it, and neither is copied into
the other.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Column, Opaque
>>> double = Apply(Opaque(lambda n: 2 * n, "double"), (Column("n", INT),), INT)
>>> caller(double)(21), is_opaque(double)
(42, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evercurrent.data.shapes import Shape
from evercurrent.data.types import Type
from evercurrent.data.values import BadValue, Record, give_out, taker
from evercurrent.errors import EvaluationError, EvercurrentError
from evercurrent.term.nodes import Apply, Column, Literal, Opaque, Term, Variable
from evercurrent.term.walk import children


def is_opaque(term: Term) -> bool:
    """Whether a term applies an opaque function."""
    if isinstance(term, Column | Literal | Variable):
        return False
    return isinstance(term, Apply) or any(is_opaque(t) for t in children(term))


def any_opaque(terms: Iterable[Term]) -> bool:
    return any(map(is_opaque, terms))


@dataclass(frozen=True)
class Truth:
    """The truth of what a function returns."""

    function: Callable[..., Any]

    def __call__(self, *values: Any) -> bool:
        return bool(self.function(*values))


@dataclass(frozen=True)
class Strict:
    """A function that returns None for None, as methods of a value that is not there would raise."""

    function: Callable[..., Any]

    def __call__(self, *values: Any) -> Any:
        return None if None in values else self.function(*values)


@dataclass(frozen=True)
class OfObject:
    """A function of an object and arguments that returns None for no object, whatever the arguments."""

    function: Callable[..., Any]

    def __call__(self, of: Any, *values: Any) -> Any:
        return None if of is None else self.function(of, *values)


def shape_value(shape: Shape | None, value: Any) -> Any:
    """A value as the function expects it: a row as an instance of its class."""
    if shape is None or shape.kind in ("single", "reference") or value is None:
        return value
    return shape.object(tuple(value.values()) if isinstance(value, Record) else value)


def caller(t: Apply) -> Callable[..., Any]:
    """The function over inside values; what it raises is an EvaluationError that names it."""
    return _caller(t.function, tuple(a.type for a in t.args), t.type)


@lru_cache(maxsize=4096)
def _caller(opaque: Opaque, types: tuple[Type, ...], result: Type) -> Callable[..., Any]:
    function, name, take = opaque.function, opaque.name, taker(result)
    shapes = opaque.shapes or (None,) * len(types)

    def call(*values: Any) -> Any:
        given = [shape_value(s, v) for s, v in zip(shapes, map(give_out, types, values), strict=True)]
        try:
            found = function(*given)
        except EvercurrentError:
            raise
        except Exception as problem:
            raise EvaluationError(
                f"{name} raised {type(problem).__name__}: {problem}",
                hint=f"it was called with {', '.join(map(repr, given))}; nothing was changed",
            ) from problem
        try:
            return take(found)
        except BadValue as problem:
            raise EvaluationError(
                f"{name} returned what it does not promise: {problem}",
                hint=f"annotate it with what it returns; it was called with {', '.join(map(repr, given))}",
            ) from problem

    return call
