"""Recursion: relations that are defined through themselves, and through each other.

    reach = ec.recursive(lambda reach: edges.union_all(
        reach.join(edges, lambda r, e: r.dst == e.src).select(lambda r, e: Edge(r.src, e.dst))))

The function is called twice: first with holes, of which nothing is known, to learn the rows that it begins with; then with
relations of these rows. The result is the least one that satisfies the definition, a set: cycles in the data do no harm.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from evercurrent.calculus.monotone import not_monotone
from evercurrent.calculus.nodes import Definition, Fixpoint, Query, Relation
from evercurrent.data.shapes import Shape
from evercurrent.data.types import Member
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python import joins
from evercurrent.frontend.python.block import HOLE, over, pack
from evercurrent.frontend.python.core import AnyQuery, Owner
from evercurrent.frontend.python.opaque import name_of
from evercurrent.frontend.python.query import Query as TypedQuery
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import TypeMismatch

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

ROUNDS = 4
"""How often types may widen before what recurs is cast to them."""

_numbers = itertools.count(1)


class Hole(TypedQuery[Any]):
    """A query over a recursive relation of which nothing is known yet: whatever is made of it is one too."""

    def __init__(self, *args: Any) -> None:
        self._block = HOLE
        self._owner = None
        self._order = ()

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name in ("union", "union_all"):
            return object.__getattribute__(self, name)
        return lambda *args, **keywords: _HoleOfGroups() if name == "group_by" else Hole()

    def union_all(self, *others: Any) -> Any:
        known = [o for o in others if not isinstance(o, Hole)]
        return known[0].union_all(*known[1:]) if known else Hole()

    union = union_all

    def _owner_with(self, other: AnyQuery) -> Any:
        return other._owner


class _HoleOfGroups:
    def __getattr__(self, name: str) -> Any:
        return lambda *args, **keywords: Hole()


@overload
def recursive(
    function: Callable[[TypedQuery[T]], TypedQuery[T]], *, distinct: bool = ..., limit: int | None = ...
) -> TypedQuery[T]: ...


@overload
def recursive(
    function: Callable[[TypedQuery[A], TypedQuery[B]], tuple[TypedQuery[A], TypedQuery[B]]],
    *,
    distinct: bool = ...,
    limit: int | None = ...,
) -> tuple[TypedQuery[A], TypedQuery[B]]: ...


@overload
def recursive(
    function: Callable[..., tuple[TypedQuery[Any], ...]], *, distinct: bool = ..., limit: int | None = ...
) -> tuple[TypedQuery[Any], ...]: ...


def recursive(function: Any, *, distinct: bool = True, limit: int | None = None) -> Any:
    """The least relation (or relations) that the function maps to itself.

    With `distinct=False` a row is in as often as it is derived, which has no end on cyclic data. `limit` is the greatest
    number of rounds; when it is exceeded, the transaction fails and is undone.
    """
    count = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    names = [f"{name}@{next(_numbers)}" for name in _parameters(function, count)]
    first = _bodies(function, [Hole() for _ in names])
    _require_anchors(first, names)
    owner = next((q._owner for q in first if q._owner is not None), None)
    begun = [None if isinstance(q, Hole) else (pack(q._block).fields, q._block.shape) for q in first]
    settled = _settle_holes(function, names, begun, owner)
    fields, shapes = [f for f, _ in settled], [s for _, s in settled]
    for round_ in range(ROUNDS + 1):
        relations = [_relation(n, f, s, owner) for n, f, s in zip(names, fields, shapes, strict=True)]
        bodies = [pack(q._block) for q in _bodies(function, relations)]
        wider = [_wider(f, b.fields) for f, b in zip(fields, bodies, strict=True)]
        if wider == fields:
            break
        if round_ < ROUNDS:
            fields = wider
    for name, body in zip(names, bodies, strict=True):
        for other in names:
            reason = not_monotone(body, other)
            if reason is not None:
                raise UnsupportedError(
                    f"reading {_plain(other)} {reason} of {_plain(name)}, which is defined through it",
                    hint="do it in the query that reads the result",
                )
    definitions = tuple(
        Definition(n, _as_body(b, f), f, distinct) for n, b, f in zip(names, bodies, fields, strict=True)
    )
    made: list[TypedQuery[Any]] = [
        TypedQuery(over(Fixpoint(definitions, n, f, limit), s, n[0]), owner)
        for n, f, s in zip(names, fields, shapes, strict=True)
    ]
    return made[0] if len(made) == 1 else tuple(made)


def _parameters(function: Any, count: int) -> list[str]:
    code = getattr(function, "__code__", None)
    return list(code.co_varnames[:count]) if code is not None else ["r"]


def _bodies(function: Any, relations: Sequence[Any]) -> list[Any]:
    found = function(*relations)
    bodies = list(found) if isinstance(found, tuple | list) else [found]
    if len(bodies) != len(relations):
        raise QueryError(
            f"{name_of(function)} takes {len(relations)} relations and returns {len(bodies)}",
            hint="return one query for each relation, as a tuple",
        )
    for body in bodies:
        if not isinstance(body, AnyQuery):
            raise QueryError(f"a recursive definition returned {body!r}, which is no query")
    return bodies


def _require_anchors(bodies: Sequence[Any], names: Sequence[str]) -> None:
    if all(isinstance(b, Hole) for b in bodies):
        raise QueryError(
            f"{_plain(names[0])} is defined by itself alone",
            hint="unite it with a query that does not read it",
        )


Known = tuple[tuple[Member, ...], Shape]


def _settle_holes(
    function: Any, names: Sequence[str], begun: Sequence[Known | None], owner: Owner | None
) -> list[Known]:
    """The rows of relations that begin only with those of others: known once the others are."""
    known = list(begun)
    for _ in names:
        if None not in known:
            break
        relations = [
            Hole() if k is None else _relation(n, *k, owner) for n, k in zip(names, known, strict=True)
        ]
        for i, body in enumerate(_bodies(function, relations)):
            if known[i] is None and not isinstance(body, Hole):
                known[i] = pack(body._block).fields, body._block.shape
    found = [k for k in known if k is not None]
    if len(found) < len(known):
        raise QueryError(f"nothing says what the rows of {_plain(names[known.index(None)])} are")
    return found


def _relation(name: str, fields: tuple[Member, ...], shape: Shape, owner: Owner | None) -> TypedQuery[Any]:
    return TypedQuery(over(Relation(name, fields), shape, name[0]), owner)


def _wider(fields: tuple[Member, ...], body: tuple[Member, ...]) -> tuple[Member, ...]:
    if len(fields) != len(body):
        raise QueryError(f"a recursive step has {len(body)} columns, the beginning has {len(fields)}")
    found = []
    for f, b in zip(fields, body, strict=True):
        try:
            found.append(Member(f.name, common_type([f.type, b.type]), f.nullable or b.nullable))
        except TypeMismatch as error:
            raise QueryError(f"the recursive column {f.name}: {error}") from None
    return tuple(found)


def _as_body(body: Query, fields: tuple[Member, ...]) -> Query:
    return joins.with_types(body, [f.type for f in fields])


def _plain(name: str) -> str:
    return name.rsplit("@", 1)[0]
