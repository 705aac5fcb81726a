"""Expressions that Python has no operator for, or that tracing cannot see.

ec.row(name=s.name, n=g.count())     a row with named fields
ec.when(c, a, b)                     a if c else b
ec.isin(x, values)                   x in values
ec.call("levenshtein", a, b)         any function of the term language (Spark's names)
"""

from __future__ import annotations

from typing import Any

from evercurrent.frontend.python import items, logic, methods, operations
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import term_of
from evercurrent.term import build


def row(**members: Any) -> Any:
    """A row with these fields."""
    return dict(members)


def when(condition: Any, value: Any, otherwise: Any = None) -> Any:
    """The value where the condition is true, else the other."""
    return logic.conditional(condition, value, otherwise)


def isin(value: Any, values: Any) -> Any:
    """Whether a value is among these: a list, an array column, a query."""
    return Symbol(items.contains(values, value))


def is_none(value: Any) -> Any:
    """Whether a value is None."""
    return Symbol(operations.is_none(value))


def text(value: Any) -> Any:
    """The value as a text."""
    return methods.text(value)


def length(value: Any) -> Any:
    """The length of a text or a collection."""
    return methods.length(value)


def call(function: str, *args: Any) -> Any:
    """A function of SQL by its name."""
    return Symbol(build.call(function, *map(term_of, args)))


for _function in (row, when, isin, is_none, text, length, call):
    vars(_function)["_knows_symbols_"] = True
