"""Aggregates of your own: a monoid, with an inverse or without.

    ec.monoid(0, lambda a, b: a + b, inverse=lambda a: -a)           a group: kept by addition
    ec.monoid(1, math.lcm)                                           no inverse: kept by key

Law. `combine` is associative and commutative and `zero` is neutral; with an inverse, `combine(a, inverse(a)) == zero`.
`finish` turns what is combined into what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evercurrent.callables import require_callable
from evercurrent.data.types import Type
from evercurrent.errors import QueryError
from evercurrent.frontend.python.annotations import read
from evercurrent.frontend.python.interpret import Closure
from evercurrent.frontend.python.opaque import returns
from evercurrent.frontend.python.terms import Resists, term_of
from evercurrent.term.monoid import MonoidFunctions
from evercurrent.term.nodes import Aggregate, Term


@dataclass(frozen=True)
class Monoid:
    """A user's monoid: see `monoid`."""

    functions: MonoidFunctions
    result: Any


def monoid(
    zero: Any,
    combine: Callable[[Any, Any], Any],
    *,
    inverse: Callable[[Any], Any] | None = None,
    finish: Callable[[Any], Any] | None = None,
    unit: Callable[[Any], Any] | None = None,
    returns: Any = None,
) -> Monoid:
    """An aggregate: values are combined from `zero`; `inverse` takes one out again; `finish` is what is read.

    `unit` makes of each value what is combined (a set of one, say); without it, that is the value itself.

    `returns` is the type of the result: an annotation (`int`, `list[str]`). Without it, it is that of `finish`'s annotation,
    or of `zero`.
    """
    if any(isinstance(f, Closure) for f in (combine, inverse, finish, unit)):
        raise QueryError(
            "a monoid of functions that are written inside a query",
            hint="define it before: m = ec.monoid(...)",
        )
    for name, function in (("combine", combine), ("inverse", inverse), ("finish", finish), ("unit", unit)):
        if name == "combine" or function is not None:
            require_callable(function, f"{name} of a monoid")
    return Monoid(MonoidFunctions(zero, combine, inverse, finish, unit), returns)


monoid._knows_symbols_ = True  # type: ignore[attr-defined]


def monoid_aggregate(monoid: Monoid, terms: Sequence[Term], where: Term | None) -> Aggregate:
    """The monoid over a group."""
    if len(terms) != 1:
        raise QueryError(
            "a monoid combines one value of each row", hint="g.aggregate(monoid, lambda row: ...)"
        )
    return Aggregate("monoid", tuple(terms), result_type(monoid), False, where, (), (monoid.functions,))


def result_type(monoid: Monoid) -> Type:
    functions = monoid.functions
    promised = None
    if monoid.result is not None:
        promised = read(monoid.result, "what the monoid returns")
    elif functions.finish is not None:
        promised = returns(functions.finish)
    if promised is not None:
        return promised.type
    try:
        if functions.finish is None and functions.zero is not None:
            return _wide(functions.zero)
    except Resists:
        pass
    raise QueryError("the result type of the monoid is not known", hint="ec.monoid(..., returns=int)")


def _wide(value: Any) -> Type:
    """The type of a field that holds such a value: an int is a BIGINT."""
    try:
        return read(type(value)).type
    except Exception:
        return term_of(value).type
