"""How a value of any type is kept in flat relations, and read back from them.

    Flat      a value in a column; in a second one, whether it is defined, where that can be in doubt
    Spread    a struct in several columns
    Part      a nested collection: the rows of another relation, found by the columns that determine it

A collection is the relation of its elements, a single value a relation of one row. What a nested collection reads of the row
around it (the owner's identity, a group's labels) is its key: the outer row keeps it, the inner rows bear it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from evercurrent.calculus.nodes import Filter, Generator, Relation
from evercurrent.data.types import Struct
from evercurrent.frontend.oql.context import Context
from evercurrent.frontend.oql.kinds import Coll, Kind, Rec, Slot
from evercurrent.frontend.oql.operators import true_where_equal
from evercurrent.frontend.oql.values import Expr, Made, Many, One
from evercurrent.term import build
from evercurrent.term.build import FALSE, TRUE
from evercurrent.term.nodes import SortKey, Term, Variable

Order = tuple[tuple[str, bool, bool], ...]
"""Columns with whether they descend and whether nil comes first."""


@dataclass(frozen=True, slots=True)
class Flat:
    kind: Kind
    column: str
    defined: str | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    members: tuple[tuple[str, Shape], ...]
    of: str | None = None
    defined: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """`keys` are pairs of a column of the outer relation and one of the inner."""

    shape: str
    relation: str
    keys: tuple[tuple[str, str], ...]
    element: Shape
    order: Order = ()
    defined: str | None = None
    position: str | None = None


Shape = Flat | Spread | Part


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole result in `relation`: of a collection its elements, otherwise one row (`shape` is None)."""

    relation: str
    shape: str | None
    element: Shape
    order: Order = ()
    position: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The nested collections, outer ones first."""
        return tuple(_parts(self.element))


def _parts(shape: Shape) -> list[Part]:
    match shape:
        case Flat():
            return []
        case Spread(members):
            return [part for _, inner in members for part in _parts(inner)]
        case Part(element=element):
            return [shape, *_parts(element)]
        case _:
            assert_never(shape)


def kind_of_shape(shape: Shape) -> Slot:
    match shape:
        case Flat(kind, _, defined):
            return Slot(kind, defined is not None)
        case Spread(members, of, defined):
            return Slot(Rec(tuple((n, kind_of_shape(s)) for n, s in members), of), defined is not None)
        case Part(kind, _, _, element, _, defined):
            return Slot(Coll(kind, kind_of_shape(element)), defined is not None)  # type: ignore[arg-type]
        case _:
            assert_never(shape)


# --- reading in a query --------------------------------------------------------------------------------------


def read_whole(context: Context, layout: Layout) -> Expr:
    """A result as an expression over the relations that keep it."""
    variable, generator = _over(context, layout.relation)
    if layout.shape is None:
        return _only(context, layout, variable, generator)
    element = read(context, layout.element, variable)
    return Many(
        layout.shape,
        (generator,),
        element,
        _keys(layout.order, variable),
        None if layout.position is None else build.field(variable, layout.position),
    )


def _only(context: Context, layout: Layout, variable: Variable, generator: Generator) -> Expr:
    from evercurrent.frontend.oql.collections import single_row

    return single_row(generator.source, lambda row: read(context, layout.element, row))


def read(context: Context, shape: Shape, row: Term) -> Expr:
    match shape:
        case Flat(kind, column, defined):
            return One(kind, build.field(row, column), _is_defined(row, defined))
        case Spread(members, of, defined):
            found = tuple((name, read(context, inner, row)) for name, inner in members)
            return Made(found, of, _is_defined(row, defined))
        case Part(kind, relation, keys, element, order, defined, position):
            variable, generator = _over(context, relation)
            same = tuple(
                Filter(true_where_equal(build.field(variable, inner), build.field(row, outer)))
                for outer, inner in keys
            )
            return Many(
                kind,
                (generator, *same),
                read(context, element, variable),
                _keys(order, variable),
                None if position is None else build.field(variable, position),
                _is_defined(row, defined),
            )
        case _:
            assert_never(shape)


def _is_defined(row: Term, column: str | None) -> Term:
    return TRUE if column is None else build.call("coalesce", build.field(row, column), FALSE)


def _keys(order: Order, variable: Variable) -> tuple[SortKey, ...]:
    return tuple(SortKey(build.field(variable, c), down, first) for c, down, first in order)


def _over(context: Context, relation: str) -> tuple[Variable, Generator]:
    fields = context.catalog.fields_of(relation)
    stem = relation.rsplit(".", maxsplit=1)[-1].lower()
    variable = Variable(context.names.fresh(stem), Struct(fields))
    return variable, Generator(variable, Relation(relation, fields))
