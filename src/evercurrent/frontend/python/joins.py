"""Joins of blocks, and set operations of queries.

join          both sides' qualifiers, and the condition
left, right   v <-outer the other side
full          FullOuter
semi, anti    [not] exists bag{ 1 | the other side, the condition }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from typing import Literal as Choice

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    FullOuter,
    Generator,
    OuterGenerator,
    Query,
    SetOperation,
    Union,
)
from evercurrent.data.naming import unique
from evercurrent.data.shapes import Shape
from evercurrent.data.types import BOOLEAN, INT, Member, Type
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python.block import (
    HOLE,
    Block,
    again,
    beside,
    filter_block,
    head_of,
    over,
    pack,
    require_width,
    rows_at,
    variable,
)
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.term import build
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import TypeMismatch
from evercurrent.term.nodes import Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.opaque import is_opaque

On = Callable[[Sequence[Symbol]], Term]
"""A condition over the rows of both sides, the left's first."""


def inner(left: Block, right: Block, on: On) -> Block:
    both = beside(left, right)
    return filter_block(both, on(both.rows))


def join_left(left: Block, right: Block, on: On) -> Block:
    generator, rows, shapes = _outer(right, lambda rows: on((*left.rows, *rows)), "left join")
    return Block((*left.qualifiers, generator), (*left.rows, *rows), (*left.shapes, *shapes))


def right_outer(left: Block, right: Block, on: On) -> Block:
    right = again(right)
    generator, rows, shapes = _outer(left, lambda rows: on((*rows, *right.rows)), "right join")
    return Block((*right.qualifiers, generator), (*rows, *right.rows), (*shapes, *right.shapes))


def _outer(block: Block, on: On, what: str) -> tuple[OuterGenerator, tuple[Symbol, ...], tuple[Shape, ...]]:
    """The generator of a side that may be missing, and its rows."""
    query = pack(block)
    v = variable(query)
    rows, _ = rows_at(v, query.fields, block.shape)
    condition = _transparent(on(rows), what)
    padded = replace(v, nullable=True)
    optional = Shape.product([as_optional(s, r) for s, r in zip(block.shapes, rows, strict=True)])
    found, shapes = rows_at(padded, query.fields, optional)
    missing = build.call("is_null", padded)
    return (
        OuterGenerator(padded, query, condition),
        tuple(
            r if s.kind == "single" else Symbol(r._term, s, missing)
            for r, s in zip(found, shapes, strict=True)
        ),
        shapes,
    )


def as_optional(shape: Shape, row: Symbol) -> Shape:
    """The shape of a row that may be missing."""
    if shape.kind == "single":
        return shape
    members = getattr(row._term.type, "members", ())
    certain = frozenset(m.name for m in members if not m.nullable)
    names = shape.names or tuple(m.name for m in members)
    return replace(shape, optional=True, certain=shape.certain or certain, names=names)


def _transparent(condition: Term, what: str) -> Term:
    if is_opaque(condition):
        raise UnsupportedError(
            f"an opaque function in the condition of a {what}",
            hint="compute it in a select before the join, and compare its column",
        )
    return condition


def full_outer(left: Block, right: Block, on: On) -> Block:
    a, b = pack(left), pack(right)
    v, w = variable(a), variable(b)
    left_rows, _ = rows_at(v, a.fields, left.shape)
    right_rows, _ = rows_at(w, b.fields, right.shape)
    condition = _transparent(on((*left_rows, *right_rows)), "full join")
    pv, pw = replace(v, nullable=True), replace(w, nullable=True)
    head = [build.field(pv, f.name) for f in a.fields] + [build.field(pw, f.name) for f in b.fields]
    names = unique(f.name for f in (*a.fields, *b.fields))
    fields = tuple(Member(n, t.type, nullable(t)) for n, t in zip(names, head, strict=True))
    query = FullOuter(pv, a, pw, b, condition, tuple(head), fields)
    shapes = [
        as_optional(s, r)
        for s, r in zip((*left.shapes, *right.shapes), (*left_rows, *right_rows), strict=True)
    ]
    return over(query, Shape.product(shapes))


def semi(left: Block, right: Block, on: On, anti: bool) -> Block:
    if right is HOLE:
        return HOLE
    right = again(right)
    condition = _transparent(on((*left.rows, *right.rows)), "anti join" if anti else "semi join")
    filters = tuple(map(Filter, build.conjuncts(condition)))
    one = Comprehension("bag", (Literal(1, INT),), right.qualifiers + filters, (Member("found", INT, False),))
    found: Term = Exists(one, BOOLEAN)
    return replace(left, qualifiers=(*left.qualifiers, Filter(build.negation(found) if anti else found)))


# --- sets --------------------------------------------------------------------------------------------------


def distinct(block: Block) -> Block:
    head, fields = head_of(block)
    return over(Comprehension("set", head, block.qualifiers, fields), block.shape)


def union_all(blocks: Sequence[Block]) -> Block:
    inputs = align([pack(b) for b in blocks], "union")
    fields = tuple(
        Member(column[0].name, column[0].type, any(f.nullable for f in column))
        for column in zip(*(q.fields for q in inputs), strict=True)
    )
    flat: list[Query] = []
    for query in inputs:
        same = isinstance(query, Union) and [f.type for f in query.fields] == [f.type for f in fields]
        flat.extend(query.inputs if same and isinstance(query, Union) else (query,))
    return over(Union(tuple(flat), fields), blocks[0].shape)


def set_operation(kind: Choice["intersect", "except"], left: Block, right: Block, all_: bool) -> Block:
    if right is HOLE:
        return HOLE
    a, b = align([pack(left), pack(right)], kind)
    fields = tuple(
        Member(x.name, x.type, x.nullable and (kind == "except" or y.nullable))
        for x, y in zip(a.fields, b.fields, strict=True)
    )
    return over(SetOperation(kind, all_, a, b, fields), left.shape)


def align(inputs: Sequence[Query], what: str) -> list[Query]:
    """The same queries with their columns cast to common types."""
    for query in inputs[1:]:
        require_width(inputs[0].fields, query.fields, what)
    types: list[Type] = []
    for position, column in enumerate(zip(*(q.fields for q in inputs), strict=True), 1):
        try:
            types.append(common_type([f.type for f in column]))
        except TypeMismatch as error:
            raise QueryError(f"{what}: column {position}: {error}") from None
    return [with_types(q, types) for q in inputs]


def with_types(query: Query, types: Sequence[Any]) -> Query:
    """The query with its columns cast."""
    if all(f.type == t for f, t in zip(query.fields, types, strict=True)):
        return query
    v = variable(query)
    head = tuple(build.cast(build.field(v, f.name), t) for f, t in zip(query.fields, types, strict=True))
    fields = tuple(Member(f.name, t.type, nullable(t)) for f, t in zip(query.fields, head, strict=True))
    return Comprehension("bag", head, (Generator(v, query),), fields)
