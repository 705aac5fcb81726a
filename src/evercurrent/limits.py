"""How large a statement, a type or a value may be, and what is said when one is larger.

A limit is here because something grows faster than what is written: a CUBE of n columns is 2**n grouping sets. Everything
below a limit works; everything above it is a LimitError that names the construct, the limit and a way out.

    >>> check(70, JOINED, "tables in one join")
    Traceback (most recent call last):
    evercurrent.errors.LimitError: there are 70 tables in one join; at most 64 are possible

Passes over queries call themselves for each level of nesting, and Python limits that. `guard_nesting` stands at every
public entry that parses or compiles, and turns what Python raises into a LimitError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evercurrent.errors import LimitError
from evercurrent.source import Place

BRACKETS = 200
"""Brackets that are open at once in a statement."""

READS = 256
"""Tables that one query reads, once its subqueries and CTEs are written out."""

NODES = 20_000
"""Operators, columns and constants of one query, once its subqueries, CTEs and functions are written out."""

JOINED = 64
"""Tables that one query joins, once its subqueries are written out."""

GROUPING_SETS = 256
"""Grouping sets of one query; a CUBE of n columns has 2**n."""

TYPE_DEPTH = 100
"""Types in each other: an ARRAY of ARRAYs is two deep."""

DIGITS = 4_000
"""Digits of a number that is written in a statement or given as a value."""

ELEMENTS = 10_000_000
"""Characters of a string, or elements of an array, that one call of a function may make."""


def check(count: int, limit: int, what: str, place: Place | None = None, hint: str | None = None) -> None:
    """Raises a LimitError if there are more than so many of something."""
    if count > limit:
        raise LimitError(f"there are {count} {what}; at most {limit} are possible", place=place, hint=hint)


@contextmanager
def guard_nesting(what: str = "this statement") -> Iterator[None]:
    """Turns Python's limit of calls in each other into a LimitError."""
    try:
        yield
    except RecursionError:
        pass  # the error is raised below, where there is room on the stack again
    else:
        return
    raise LimitError(
        f"{what} is nested too deeply for the compiler",
        hint="split it: name parts of it in views, or nest types and expressions less deeply",
    )
