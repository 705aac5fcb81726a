"""Functions that stay functions.

A function that cannot be looked into is applied as it is. Its result needs a type: that of its return annotation, or the one
that is given.

    @ec.opaque                       a promise that it depends on its arguments alone; it is not looked into
    def distance(a: str, b: str) -> int: ...
"""

from __future__ import annotations

import functools
import itertools
import typing
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from evercurrent.callables import require_callable
from evercurrent.data.shapes import Shape
from evercurrent.data.types import BOOLEAN
from evercurrent.errors import QueryError
from evercurrent.frontend.python.annotations import Annotated, read
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import term_of
from evercurrent.term.nodes import Apply, Opaque, Term
from evercurrent.term.opaque import Truth

Function = TypeVar("Function", bound=Callable[..., Any])

DECLARED = "__evercurrent_opaque__"

_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_counter = itertools.count(1)


def opaque(function: Function) -> Function:
    """Declare a function opaque: it is called, never looked into. It must depend on its arguments alone."""
    require_callable(function, "opaque")
    setattr(function, DECLARED, True)
    return function


def is_declared(function: Any) -> bool:
    return getattr(function, DECLARED, False) is True


def name_of(function: Any) -> str:
    """How a function is called in messages."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name = getattr(function, "__qualname__", None) or type(function).__name__
    short = name.rsplit("<locals>.", 1)[-1]
    return "lambda" if short == "<lambda>" else short


def number_of(function: Any) -> int:
    try:
        found = _numbers.get(function)
        if found is None:
            found = _numbers[function] = next(_counter)
        return found
    except TypeError:  # builtins hold no weak references; there is one of each
        return id(function) & 0xFFFF


def returns(function: Any, given: Any = None) -> Annotated | None:
    """The type that a function promises, if it does."""
    if given is not None:
        return read(given, f"what {name_of(function)} returns")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (TypeError, NameError):
        return None
    if "return" not in hints:
        return None
    return read(hints["return"], f"what {name_of(function)} returns")


def application(
    function: Any, args: Sequence[Any], reason: str, given: Any = None, *, condition: bool = False
) -> Symbol:
    """The function applied to symbols and constants."""
    require_callable(function, "a function in a query")
    promised = Annotated(BOOLEAN, False) if condition else returns(function, given)
    if promised is None:
        raise QueryError(
            f"{name_of(function)} cannot be looked into ({reason}), and it does not say what it returns",
            hint=f"annotate its result (def {_plain(name_of(function))}(...) -> int), or write it as one expression",
        )
    call = _hashable(function)
    call = Truth(call) if condition else call
    terms: list[Term] = []
    shapes: list[Shape | None] = []
    for arg in args:
        terms.append(term_of(arg))
        shapes.append(arg._shape if isinstance(arg, Symbol) else None)
    node = Opaque(call, name_of(function), number_of(function), reason, tuple(shapes))
    return Symbol(Apply(node, tuple(terms), promised.type, promised.nullable), promised.shape)


@dataclass(frozen=True, eq=False)
class Itself:
    """A function that does not hash (a method of a list, say): it is equal to itself alone."""

    function: Callable[..., Any]

    def __call__(self, *values: Any) -> Any:
        return self.function(*values)


def _hashable(function: Any) -> Callable[..., Any]:
    made: Callable[..., Any] = function
    try:
        hash(function)
    except TypeError:
        made = Itself(function)
    return made


def _plain(name: str) -> str:
    return "f" if name == "lambda" else name
