"""The value of a result of any type, stitched from the flat relations that keep it.

    rows ("dev", 1) and, by key 1, ("Ann",), ("Bob",)      {Record(D='dev', Es={'Ann', 'Bob'})}

`rows(relation)` returns the rows of a relation, each as often as it is there; `handle(oid)` an object. A nested collection is
found by its key: the inner rows are grouped by it once, whatever the number of outer rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, assert_never

from evercurrent.data.collections import UNDEFINED, Bag, Constructed, Set
from evercurrent.data.representation import Record
from evercurrent.data.types import Member, Type
from evercurrent.data.values import giver as shown
from evercurrent.data.values import sort_key
from evercurrent.data.zset import Row
from evercurrent.frontend.oql.kinds import Atom, Coll, Dict, Kind, Obj, Rec, Slot
from evercurrent.frontend.oql.layout import Flat, Layout, Order, Part, Shape, Spread

Handle = Callable[[int], Any]
Fields = Sequence[Member]


@dataclass(slots=True)
class Stitcher:
    """Reads one result; what was sorted out by key is remembered while it lasts."""

    rows: Callable[[str], Iterable[Row]]
    fields: Callable[[str], Fields]
    handle: Handle
    by_key: dict[str, dict[Row, list[Row]]] = field(default_factory=dict)

    def whole(self, layout: Layout) -> Any:
        read = self.reader(layout.element, self.fields(layout.relation))
        found = list(self.rows(layout.relation))
        if layout.shape is None:
            return read(found[0])
        found = sort_rows(found, self.fields(layout.relation), layout.order)
        return collection(layout.shape, [read(row) for row in found])

    def reader(self, shape: Shape, fields: Fields) -> Callable[[Row], Any]:
        """The function that reads a value of the shape from a row."""
        places = {f.name: i for i, f in enumerate(fields)}
        match shape:
            case Flat(kind, column, defined):
                at = places[column]
                if _is_shown_as_it_is(kind):
                    return _guard_undefined(itemgetter(at), places, defined)
                give = giver(kind, self.handle)
                return _guard_undefined(lambda row: give(row[at]), places, defined)
            case Spread(members, of, defined):
                make = maker(of, tuple(name for name, _ in members))
                plain = [
                    places[inner.column]
                    for _, inner in members
                    if isinstance(inner, Flat) and inner.defined is None and _is_shown_as_it_is(inner.kind)
                ]
                if len(plain) == len(members) > 1:
                    pick = itemgetter(*plain)
                    return _guard_undefined(lambda row: make(pick(row)), places, defined)
                readers = [self.reader(inner, fields) for _, inner in members]
                return _guard_undefined(lambda row: make(tuple(r(row) for r in readers)), places, defined)
            case Part():
                return _guard_undefined(self._part_reader(shape, fields), places, shape.defined)
            case _:
                assert_never(shape)

    def _part_reader(self, part: Part, fields: Fields) -> Callable[[Row], Any]:
        places = {f.name: i for i, f in enumerate(fields)}
        outer = [places[column] for column, _ in part.keys]
        inner_fields = self.fields(part.relation)
        read = self.reader(part.element, inner_fields)

        def read_part(row: Row) -> Any:
            found = self._group_rows(part).get(tuple(row[i] for i in outer), [])
            return collection(part.shape, [read(inner) for inner in found])

        return read_part

    def inside(self, part: Part, relation: str, row: Row) -> list[Row]:
        """The rows of a nested collection, for a row of the relation around it."""
        names = [f.name for f in self.fields(relation)]
        return self._group_rows(part).get(tuple(row[names.index(column)] for column, _ in part.keys), [])

    def _group_rows(self, part: Part) -> dict[Row, list[Row]]:
        if part.relation not in self.by_key:
            fields = self.fields(part.relation)
            names = [f.name for f in fields]
            keys = [names.index(column) for _, column in part.keys]
            found: dict[Row, list[Row]] = {}
            for row in sort_rows(list(self.rows(part.relation)), fields, part.order):
                found.setdefault(tuple(row[i] for i in keys), []).append(row)
            self.by_key[part.relation] = found
        return self.by_key[part.relation]


def _guard_undefined(
    read: Callable[[Row], Any], places: dict[str, int], defined: str | None
) -> Callable[[Row], Any]:
    if defined is None:
        return read
    at = places[defined]
    return lambda row: read(row) if row[at] else UNDEFINED


def sort_rows(rows: list[Row], fields: Fields, order: Order) -> list[Row]:
    """The rows by the columns of their order; the last key is sorted by first."""
    names = [f.name for f in fields]
    if order:
        rows.sort(key=lambda row: tuple(k(v) for k, v in zip(_natural(fields), row, strict=True)))
    for column, descending, nulls_first in reversed(order):
        at = names.index(column)
        key = sort_key(fields[at].type, descending, nulls_first)
        rows.sort(key=lambda row, key=key, at=at: key(row[at]))  # type: ignore[misc]
    return rows


def _natural(fields: Fields) -> list[Callable[[Any], Any]]:
    return [sort_key(f.type, False, True) for f in fields]


def collection(shape: str, elements: list[Any]) -> Any:
    match shape:
        case "set":
            return Set(elements)
        case "list":
            return elements
        case _:
            return Bag(elements)


def maker(of: str | None, names: tuple[str, ...]) -> Callable[[tuple[Any, ...]], Record]:
    """What makes a struct of its values; with a class, an object that a query constructs."""
    if of is None:
        return lambda values: Record(names, values)
    return lambda values: Constructed(of, names, values)


def giver(kind: Kind, handle: Handle) -> Callable[[Any], Any]:
    """The function from an inside value of a kind to what the user sees; nil is None."""
    give = _giver(kind, handle)
    return lambda value: None if value is None else give(value)


def _giver(kind: Kind, handle: Handle) -> Callable[[Any], Any]:
    match kind:
        case Atom(type):
            return _plain(type)
        case Obj():
            return handle
        case Rec(members, of):
            make = maker(of, tuple(name for name, _ in members))
            givers = [slot_giver(slot, handle) for _, slot in members]
            return lambda value: make(tuple(g(v) for g, v in zip(givers, value, strict=True)))
        case Coll(shape, slot):
            give = slot_giver(slot, handle)
            return lambda value: collection(shape, [give(v) for v in value])
        case Dict(key, slot):
            give_key, give_value = giver(key, handle), slot_giver(slot, handle)
            return lambda value: {give_key(k): give_value(v) for k, v in value.items()}
        case _:
            assert_never(kind)


def _plain(type: Type) -> Callable[[Any], Any]:
    return shown(type) or (lambda value: value)


def _is_shown_as_it_is(kind: Kind) -> bool:
    return isinstance(kind, Atom) and shown(kind.type) is None


def slot_giver(slot: Slot, handle: Handle) -> Callable[[Any], Any]:
    give = giver(slot.kind, handle)
    if not slot.undefined:
        return give
    return lambda value: UNDEFINED if value is None or not value[1] else give(value[0])
