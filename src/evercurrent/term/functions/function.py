"""What an entry of the table of functions says.

A function has a name of the term language (its Spark name where Spark has one), a typing rule that also says to which
types the arguments are coerced, a meaning for given types, and, where it pays, its Python source for given types.

>>> from evercurrent.data.types import INT
>>> double = Function("double", lambda types: Signature((INT,), INT), lambda types, result: lambda n: 2 * n)
>>> double.infer((INT,)).result, double.implement((INT,), INT)(21)
(Integer(bits=32), 42)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evercurrent.data.types import Type

Types = tuple[Type, ...]


class Unknown:
    """In place of the value of an argument that is not a constant."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Signature:
    """The types that the arguments are coerced to, and the type of the result."""

    args: Types
    result: Type


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    infer      argument types -> signature; raises `TypeMismatch` (message only) if they do not fit
    implement  coerced argument types, result type -> the Python function on internal values. For a `strict` function
               it is never called with None: a NULL argument returns NULL. A function that is not strict sees None.
    python     coerced argument types, result type, argument sources -> Python source of the strict application, or
               None to have the implementation called. Sources are atoms or parenthesised; each may be used many times.
    fails      whether it can raise EvaluationError
    nullable   whether the result can be NULL although no argument is
    lambdas    positions of arguments that are functions of array elements: their type is that of their body, their value
               a Python function
    binds      argument types so far, position of the lambda, how many parameters it has -> their types
    refine     like infer, where the types also depend on constants: given the values of literal arguments, `UNKNOWN` for
               the others
    """

    name: str
    infer: Callable[[Types], Signature]
    implement: Callable[[Types, Type], Callable[..., Any]]
    strict: bool = True
    python: Callable[[Types, Type, tuple[str, ...]], str | None] | None = None
    fails: bool = False
    nullable: bool = False
    lambdas: tuple[int, ...] = ()
    binds: Callable[[Types, int, int], Types] | None = None
    refine: Callable[[Types, tuple[Any, ...]], Signature] | None = None


class TypeMismatch(Exception):
    """Raised by a typing rule; the front end turns it into a QueryError with the place."""
