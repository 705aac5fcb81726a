"""The functions that a program has handed over to a database, by their paths `module:qualname`.

Law. A stored definition names functions; it never says what they are. A name means what the program that opened the database
has handed over under it, or one of Python's own functions below, or nothing. Nothing is ever imported by a stored name.

>>> def score(n: int) -> int:
...     return n * 2
>>> known = HandedOver([score])
>>> known.require(path_of(score))(4), known.find("os:system"), known.require("math:gcd")(4, 6)
(8, None, 2)
"""

from __future__ import annotations

import math
import operator
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.term.located import path_of

UNSAFE = frozenset(("format", "format_map", "maketrans"))
"""Methods of texts that are not Python's own here: a format string can read any attribute of what it is given."""

PYTHONS_OWN: Mapping[str, Callable[..., Any]] = {
    path_of(f): f
    for f in (
        *(str, int, float, bool, round, abs, len, min, max, sum),
        *(m for n, m in vars(str).items() if callable(m) and not n.startswith("_") and n not in UNSAFE),
        *(f for n, f in vars(math).items() if callable(f) and not n.startswith("_")),
        *(operator.add, operator.sub, operator.mul, operator.neg, operator.and_, operator.or_, operator.xor),
    )
}
"""Functions that depend on their arguments alone and do nothing else: part of the language of views."""


class HandedOver:
    """Functions and classes by their paths; compared by identity, since it grows."""

    def __init__(self, things: Iterable[Any] | Mapping[str, Any] = ()) -> None:
        self._known: dict[str, Callable[..., Any]] = {}
        if isinstance(things, Mapping):
            for path, thing in things.items():
                self._put(str(path), thing)
        elif isinstance(things, str) or not isinstance(things, Iterable):
            raise QueryError(
                "functions must be a list of functions, classes or modules, or a mapping from paths to functions",
                hint="ec.connect(..., functions=[score, Item])",
            )
        else:
            self.add(*things)

    def add(self, *things: Any) -> None:
        """Hand over functions, classes, monoids, or all that a module holds."""
        for thing in things:
            if isinstance(thing, ModuleType):
                for found in vars(thing).values():
                    for part in parts_of(found):
                        self._put(path_of(part), part)
                continue
            parts = list(parts_of(thing))
            if not parts:
                raise QueryError(
                    f"{str(thing)[:60]!r} cannot be handed over: it is no function, class, monoid or module",
                    hint="ec.connect(..., functions=[score, Item])",
                )
            for part in parts:
                self._put(path_of(part), part)

    def _put(self, path: str, thing: Any) -> None:
        if not callable(thing):
            raise QueryError(f"{path} was handed over as a function, and cannot be called")
        known = getattr(thing, "path", None)
        if not isinstance(known, str):  # a name alone says nothing
            self._known[path] = thing

    def find(self, path: str) -> Callable[..., Any] | None:
        return self._known.get(path) or PYTHONS_OWN.get(path)

    def require(self, path: str) -> Callable[..., Any]:
        """The function of a path; an error that says what to do if nobody has handed it over."""
        found = self.find(path)
        if found is None:
            raise QueryError(
                f"the function {path}, which a view calls, has not been handed over to this database",
                hint=way_out([path]),
            )
        return found


def way_out(paths: Iterable[str]) -> str:
    """How a program hands functions over."""
    names = ", ".join(path.partition(":")[2] or path for path in paths)
    return f"ec.connect(..., functions=[{names}]); a warehouse only names functions, the program that opens it has them"


def parts_of(thing: Any) -> Iterator[Callable[..., Any]]:
    """The functions and classes that come with a thing: a function with the classes of its annotations, those of a monoid."""
    inner = getattr(thing, "function", None)
    if isinstance(thing, type):
        yield thing
        yield from (f for f in vars(thing).values() if isinstance(f, FunctionType))
    elif callable(thing) and not callable(inner):
        yield thing
    elif callable(inner):  # a wrapper of ours
        yield from parts_of(inner)
    if isinstance(thing, FunctionType):
        try:
            hints = typing.get_type_hints(thing)
        except Exception:
            hints = {}  # annotations may name what is not there when the program runs
        yield from (h for h in hints.values() if isinstance(h, type) and path_of(h) not in PYTHONS_OWN)
    functions = getattr(thing, "functions", None) or thing
    for name in ("combine", "inverse", "finish", "unit"):
        part = getattr(functions, name, None)
        if hasattr(functions, "zero") and callable(part):
            yield part


@dataclass(frozen=True)
class Named:
    """A function or class by its path, as a definition names it; what it is, is asked when it is called."""

    path: str
    known: HandedOver

    def __call__(self, *values: Any, **members: Any) -> Any:
        return self.known.require(self.path)(*values, **members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Executors are sent this function alone, as Spark sends any function."""
        found = self.known.find(self.path)
        return type(self), (self.path, HandedOver({} if found is None else {self.path: found}))


class NamedClass(Named):
    """A class of rows by its path."""


def find_paths(node: Any) -> Iterator[str]:
    """The paths that stand in a query, a term, or whatever else is made of nodes."""
    if isinstance(node, Named):
        yield node.path
    elif isinstance(node, tuple | list | frozenset):
        for part in node:
            yield from find_paths(part)
    elif hasattr(node, "__dataclass_fields__") and not isinstance(node, type):
        for name in node.__dataclass_fields__:
            yield from find_paths(getattr(node, name))


def functions_in(node: Any) -> Iterator[Callable[..., Any]]:
    """The functions and classes that stand in a query, a term, or whatever else is made of nodes."""
    if isinstance(node, tuple | list | frozenset):
        for part in node:
            yield from functions_in(part)
    elif hasattr(node, "__dataclass_fields__") and not isinstance(node, type):
        for name in node.__dataclass_fields__:
            yield from functions_in(getattr(node, name))
    elif callable(node):
        yield node
