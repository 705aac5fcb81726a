"""A function over rows as symbols: read from its source, traced, or opaque.

source   whatever the interpreter of `interpret` can say
tracing  the function is called with symbols; where the source cannot be found
opaque   the function as it is, applied to whole rows; where it resists, with the reason
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from evercurrent.callables import require_callable
from evercurrent.errors import QueryError
from evercurrent.frontend.python import logic
from evercurrent.frontend.python.interpret import Closure, read
from evercurrent.frontend.python.locate import locate
from evercurrent.frontend.python.opaque import application, is_declared, name_of
from evercurrent.frontend.python.surroundings import names_around
from evercurrent.frontend.python.terms import Resists
from evercurrent.term.nodes import Term

LOOKING = (isinstance, issubclass, hasattr, getattr, callable, type, id)
"""Built-in functions that answer for a symbol as if it were the value."""


READING = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")


def capture(function: Any, args: Sequence[Any], returns: Any = None) -> Any:
    """What a function makes of symbols."""
    if not callable(function):
        raise QueryError(f"a function is needed here, not {function!r}", hint="lambda row: ...")
    require_callable(function, "a function over rows")
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
        return _trace(function, args, returns)
    if isinstance(function, MethodType):
        reason = "it is a method"
    return _opaque(function, args, reason, returns)


def _trace(function: Any, args: Sequence[Any], returns: Any) -> Any:
    """The function called with symbols, unless it might hand them to code that takes them for values."""
    blind = _blind(function)
    if blind is not None:
        return _opaque(function, args, f"its source cannot be found, and it calls {blind}", returns)
    try:
        return function(*args)
    except Resists as resisting:
        return _opaque(function, args, resisting.reason, returns)


def _blind(function: FunctionType) -> str | None:
    """A function that a traced one mentions and that does not know symbols."""
    around = names_around(function)
    for name in sorted(_find_mentioned(function.__code__)):
        if name in around:
            found = around[name]
        else:
            found = function.__globals__.get(name, getattr(builtins, name, None))
        if found in LOOKING or (
            isinstance(found, FunctionType | MethodType | functools.partial)
            and not getattr(found, "_knows_symbols_", False)
        ):
            return name
    return None


def _find_mentioned(code: CodeType) -> set[str]:
    """The names around it that code reads; not those of attributes."""
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname in READING}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _find_mentioned(inner)
    return found


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
    return logic.condition(found)
