"""Functions of operations that are kept with the data: what one makes of an object, as a term, and where it is defined.

A version on Spark keeps the term, so views that call the operation open without the code, and mean tomorrow what they mean today,
whatever becomes of the source. A function that resists being looked into is part of its term by its name, `module:qualname`, as
in views of Python. Handles call the function itself: the one that was given, or the one that was handed over under that name.

    employee.yearly    self.salary * 12                 looked into: the term alone is enough for views
    employee.score     rules:score(record of self)      opaque: found by its name
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

from evercurrent.calculus.codec import decode
from evercurrent.calculus.scope import substitute_term
from evercurrent.errors import QueryError
from evercurrent.term.handed_over import HandedOver
from evercurrent.term.nodes import Term

SELF = "self"


@dataclass(frozen=True)
class KeptOperation:
    """The function of an operation on a database that is kept.

    `body` is a term over `self` and the parameters, as JSON; without one, `problem` says why views cannot call it. `path` is
    the name of the function, if it has one; `given` is the function that somebody has given since opening, `known` are those that
    were handed over.
    """

    name: str
    parameters: tuple[str, ...]
    body: Any = None
    path: str | None = None
    problem: str = ""
    given: Callable[..., Any] | None = field(default=None, compare=False)
    known: HandedOver = field(default_factory=HandedOver, compare=False, repr=False)

    @property
    def function(self) -> Callable[..., Any]:
        if self.given is not None:
            return self.given
        found = None if self.path is None else self.known.find(self.path)
        if found is not None:
            return found
        if self.path is None:
            raise QueryError(
                f"the function of {self.name} is not stored{'' if self.body is None else ', only what it means in views'}",
                hint=f"db.bind_operations({{{self.name!r}: function}}) binds it again",
            )
        raise QueryError(
            f"the function {self.path} of {self.name} has not been handed over to this database",
            hint=f"db.bind_operations({{{self.name!r}: function}}) binds it, or ec.connect(..., functions=[...])",
        )

    @property
    def can_be_called(self) -> bool:
        return self.given is not None or (self.path is not None and self.known.find(self.path) is not None)

    def __call__(self, thing: Any, *values: Any) -> Any:
        return self.function(thing, *values)

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        return self if thing is None else MethodType(self, thing)

    def term_of(self, object: Term, args: list[Term]) -> Term:
        """What the operation makes of an object and arguments."""
        bindings = dict(zip((SELF, *self.parameters), (object, *args), strict=True))
        body: Term = decode(self.body, self.known)
        return substitute_term(body, bindings)


def term_in_view(function: KeptOperation, object: Term, args: list[Term]) -> Term:
    """What a view makes of such an operation; an error where nothing of it could be kept."""
    if function.body is None:
        raise QueryError(
            f"a view on Spark cannot call {function.name}: {function.problem}",
            hint="define the function at the top level of a module that can be imported, and bind it by db.bind_operations",
        )
    return function.term_of(object, args)
