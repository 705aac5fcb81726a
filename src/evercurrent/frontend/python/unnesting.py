"""Unnesting: every row with every element of a collection in it.

      students.unnest(lambda s: s.tags).select(lambda s, tag: (s.name, tag))
    = bag{ (name: s.name, col: e.col) | s <- Student, e <- unnest s.tags }

With `outer`, a row without elements is kept, with NULL for the element.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evercurrent.calculus.nodes import Unnest
from evercurrent.data.shapes import Shape
from evercurrent.data.types import INT, Array, Collection, Map, Member, Struct
from evercurrent.errors import QueryError
from evercurrent.frontend.python.block import Block, all_hoisted, beside, variable_of
from evercurrent.frontend.python.capture import capture
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import term_of
from evercurrent.term import build


def unnest(block: Block, function: Any, outer: bool, ordinal: bool) -> Block:
    """The block with the elements of a collection beside its rows; a query of each row joins likewise."""
    from evercurrent.frontend.python.core import AnyQuery

    value = capture(function, block.rows)
    if isinstance(value, AnyQuery):
        if outer:
            raise QueryError("outer is for collections", hint="use left_join for queries")
        return beside(block, value._block)
    shape = value._shape if isinstance(value, Symbol) else None
    block, (collection,) = all_hoisted(block, [term_of(value)])
    return elements(block, Symbol(collection, shape), outer, ordinal)


def elements(block: Block, value: Symbol, outer: bool = False, ordinal: bool = False) -> Block:
    collection = value._term
    position = (Member("pos", INT, False),) if ordinal else ()
    match collection.type:
        case Array(element) | Collection(_, element):
            members = (*position, Member("col", element, True))
        case Map(key, mapped):
            members = (*position, Member("key", key, False), Member("value", mapped, True))
        case other:
            raise QueryError(f"only an ARRAY or a MAP has elements, this is {other}")
    v = variable_of(Struct(members), "e", outer)
    shape = Shape.record(None, len(members), names=[m.name for m in members])
    row = Symbol(v, shape)
    if isinstance(collection.type, Array | Collection) and not ordinal:
        shape = Shape.single(value._shape)
        row = Symbol(build.field(v, "col"), value._shape)
    generator = Unnest(v, collection, outer, ordinal)
    return replace(
        block,
        qualifiers=(*block.qualifiers, generator),
        rows=(*block.rows, row),
        shapes=(*block.shapes, shape),
    )
