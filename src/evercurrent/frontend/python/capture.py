"""A function over rows as symbols: read from its source, traced, or opaque.

source   whatever the interpreter of `interpret` can say
tracing  the function is called with symbols; where the source cannot be found
opaque   the function as it is, applied to whole rows; where it resists, with the reason
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, MethodType
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.frontend.python import operations
from evercurrent.frontend.python.interpret import Closure, read
from evercurrent.frontend.python.locate import locate
from evercurrent.frontend.python.opaque import application, is_declared, name_of
from evercurrent.frontend.python.terms import Resists
from evercurrent.term.nodes import Term


def capture(function: Any, args: Sequence[Any], returns: Any = None) -> Any:
    """What a function makes of symbols."""
    if not callable(function):
        raise QueryError(f"a function is needed here, not {function!r}", hint="lambda row: ...")
    if isinstance(function, Closure) or getattr(function, "_knows_symbols_", False):
        return function(*args)
    if is_declared(function):
        return application(function, args, "it is declared opaque", returns, condition=returns is bool)
    reason = "its source cannot be found"
    if isinstance(function, FunctionType):
        located = locate(function)
        if located is not None:
            try:
                return read(located, function, args)
            except Resists as resisting:
                return _opaque(function, args, resisting.reason, returns)
        return _traced(function, args, returns)
    if isinstance(function, MethodType):
        reason = "it is a method"
    return _opaque(function, args, reason, returns)


def _traced(function: Any, args: Sequence[Any], returns: Any) -> Any:
    try:
        return function(*args)
    except Resists as resisting:
        return _opaque(function, args, resisting.reason, returns)


def _opaque(function: Any, args: Sequence[Any], reason: str, returns: Any) -> Any:
    if any(getattr(a, "_symbolic_", False) is True for a in args):
        raise QueryError(
            f"{name_of(function)} cannot be looked into: {reason}",
            hint="a function over groups or windows must be one that can",
        )
    return application(function, args, reason, returns, condition=returns is bool)


def predicate(function: Any, args: Sequence[Any]) -> Term:
    """The condition that a function states."""
    try:
        found = capture(function, args, bool)
    except Resists as resisting:
        raise QueryError(f"{name_of(function)}: {resisting.reason}") from None
    return operations.condition(found)
