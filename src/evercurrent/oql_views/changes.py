"""What a transaction changed in a view of OQL: its elements, and inside of them its nested collections.

    change.inserted, change.deleted    inserted and deleted elements, as `value()` shows them, without nested collections
    change.inside                      for each nested collection that changed: where, whose, and its inserted and deleted elements

    define staff as select struct(d: d.name, people: (select e.name from e in d.employees)) from d in Departments

    ann.name = "Anne"      change.inside is [<Inside people of (<department 1: name='dev'>,): +['Anne'] -['Ann']>]

A change inside a collection is no change of the element that holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.frontend.oql.kinds import kind_of
from evercurrent.frontend.oql.layout import Flat, Layout, Part, Shape, Spread
from evercurrent.oql_views.values import Handle, Stitcher, giver
from evercurrent.rows.subscriptions import Change


class Inside:
    """The change of one nested collection.

    `path` are the names of the members that lead to it; `key` is what determines it: the object or the labels that it
    belongs to. `inserted` and `deleted` are its elements, without collections that are nested in turn.
    """

    def __init__(self, path: tuple[str, ...], key: tuple[Any, ...]) -> None:
        self.path = path
        self.key = key
        self.inserted: list[Any] = []
        self.deleted: list[Any] = []

    def __repr__(self) -> str:
        return f"<Inside {'.'.join(self.path)} of {self.key}: +{self.inserted!r} -{self.deleted!r}>"


class ValueChange(Change):
    """The change of a view of OQL by one transaction."""

    def __init__(
        self,
        name: str,
        layout: Layout,
        deltas: Mapping[str, ZSet],
        transaction: int,
        catalog: Catalog,
        handle: Handle,
    ) -> None:
        super().__init__(name, deltas.get(layout.relation, ZSet()), transaction, lambda row: row)
        self._layout = layout
        self._deltas = deltas
        self._catalog = catalog
        self._stitcher = Stitcher(lambda name: (), catalog.fields_of, handle)

    @cached_property
    def inserted(self) -> list[Any]:
        return self._elements(self._delta.insertions())

    @cached_property
    def deleted(self) -> list[Any]:
        return self._elements(self._delta.deletions())

    def _elements(self, rows: Iterable[Row]) -> list[Any]:
        read = self._reader(self._layout.element, self._layout.relation)
        return [read(row) for row in rows]

    def _reader(self, shape: Shape, relation: str) -> Callable[[Row], Any]:
        return self._stitcher.reader(without_parts(shape), self._catalog.fields_of(relation))

    def __repr__(self) -> str:
        text = super().__repr__()
        return f"{text[:-1]}, {len(self.inside)} inside>" if self.inside else text

    @cached_property
    def updated(self) -> list[Any]:
        """Nothing: elements of a value have no key."""
        return []

    def __reduce__(self) -> tuple[Any, ...]:
        made = super().__reduce__()
        return (*made, {"inside": self.inside})

    @cached_property
    def inside(self) -> list[Inside]:
        """What changed in nested collections, outer ones first."""
        found: list[Inside] = []
        for path, part in paths(self._layout.element):
            delta = self._deltas.get(part.relation)
            if not delta:
                continue
            fields = self._catalog.fields_of(part.relation)
            names = [f.name for f in fields]
            places = [names.index(column) for _, column in part.keys]
            givers = [giver(kind_of(fields[i].type), self._stitcher.handle) for i in places]
            read = self._reader(part.element, part.relation)
            by_key: dict[Row, Inside] = {}
            for row, weight in delta.items():
                key = tuple(row[i] for i in places)
                if key not in by_key:
                    by_key[key] = Inside(path, tuple(g(k) for g, k in zip(givers, key, strict=True)))
                side = by_key[key].inserted if weight > 0 else by_key[key].deleted
                side.extend([read(row)] * abs(weight))
            found.extend(by_key.values())
        return found


def without_parts(shape: Shape) -> Shape:
    """A shape without the nested collections in it."""
    if isinstance(shape, Spread):
        kept = tuple((n, without_parts(s)) for n, s in shape.members if not isinstance(s, Part))
        return Spread(kept, shape.of, shape.defined)
    return Spread(()) if isinstance(shape, Part) else shape


def paths(shape: Shape, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Part]]:
    """Every nested collection with the names that lead to it."""
    match shape:
        case Flat():
            return []
        case Spread(members):
            return [found for name, inner in members for found in paths(inner, (*path, name))]
        case Part(element=element):
            return [(path, shape), *paths(element, path)]


def relations_of_view(catalog: Catalog, name: str) -> tuple[str, ...]:
    """The relations whose changes are changes of a view."""
    view = catalog.view(name)
    if view is None or not isinstance(view.shape, Layout):
        return (name,)
    return (view.shape.relation, *(part.relation for part in view.shape.parts))


def value_changes(
    catalog: Catalog, watched: Iterable[str], moved: Mapping[str, ZSet], number: int, handle: Handle
) -> dict[str, Change]:
    """The changes of the watched views of OQL."""
    found: dict[str, Change] = {}
    for name in watched:
        view = catalog.view(name)
        if view is not None and isinstance(view.shape, Layout):
            deltas = {r: moved[r] for r in relations_of_view(catalog, name) if r in moved}
            if deltas:
                found[name] = ValueChange(name, view.shape, deltas, number, catalog, handle)
    return found
