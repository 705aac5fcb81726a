"""The names that a function sees: its arguments, what it closes over, the globals and built-ins of its module.

>>> def at_least(limit):
...     return lambda s: s.age >= limit
>>> names_around(at_least(18))["limit"]
18
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.frontend.python.locate import Located
from evercurrent.frontend.python.opaque import name_of
from evercurrent.frontend.python.terms import Resists


def bind_parameters(located: Located, function: FunctionType, args: Sequence[Any]) -> dict[str, Any]:
    """The parameters with their values; QueryError if they are not as many."""
    parameters = located.node.args
    if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
        raise Resists("it takes any number of arguments", located.node)
    names = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    defaults = function.__defaults__ or ()
    missing = len(names) - len(args)
    if missing < 0 or missing > len(defaults):
        wanted = f"{len(names)} argument{'' if len(names) == 1 else 's'}"
        raise QueryError(
            f"{name_of(function)} takes {wanted}, and here it is given {len(args)}", place=located.place(None)
        )
    given = [*args, *(defaults[len(defaults) - missing :] if missing else ())]
    return dict(zip(names, given, strict=True))


class _Names(dict[str, Any]):
    """Globals are looked up when they are read."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, name: str) -> Any:
        found = self.function.__globals__
        if name in found:
            return found[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise KeyError(name)


def names_around(function: FunctionType) -> dict[str, Any]:
    """What is bound outside of the function now."""
    names: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return {**names, "\0globals": _Names(function)}
