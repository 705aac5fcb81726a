"""Who depends on whom: views and assertions on what their queries read, tables on the parents of their foreign keys.

Dependence has no cycles except a table's reference to itself and references between tables: only views are ever put in
order.

>>> from evercurrent.catalog.nodes import View
>>> catalog = Catalog().with_view(View("spend", (), None, uses=frozenset({"orders"})))
>>> catalog = catalog.with_view(View("top_spend", (), None, uses=frozenset({"spend"})))
>>> [str(d) for d in all_dependants(catalog, "orders")]
['view top_spend', 'view spend']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Assertion, PartOf, Table, View

Kind = Choice["table", "view", "assertion"]


@dataclass(frozen=True, slots=True)
class Dependant:
    """Something that would be left without what it needs."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def uses(node: Table | View | Assertion) -> frozenset[str]:
    """The lower-cased names of the relations that a declaration needs."""
    if isinstance(node, Table):
        return frozenset(f.parent.lower() for f in node.foreign_keys) - {node.name.lower()}
    return frozenset(name.lower() for name in node.uses)


def dependants(catalog: Catalog, name: str) -> list[Dependant]:
    """What needs the relation, or a part of it, directly, in the order of declaration."""
    keys = {name.lower(), *(part.name.lower() for part in parts_of(catalog, name))}
    views = [v for key, v in catalog.views.items() if key not in keys]
    return (
        [Dependant("table", t.name) for t in catalog.tables.values() if keys & uses(t)]
        + [Dependant("view", v.name) for v in views if keys & uses(v)]
        + [Dependant("assertion", a.name) for a in catalog.assertions.values() if keys & uses(a)]
    )


def parts_of(catalog: Catalog, name: str) -> list[View]:
    """The views that only keep parts of a view; they are created and dropped with it."""
    return [
        v
        for v in catalog.views.values()
        if isinstance(v.shape, PartOf) and v.shape.view.lower() == name.lower()
    ]


def all_dependants(catalog: Catalog, name: str) -> list[Dependant]:
    """What needs the relation, directly or not; each before what it needs, so in the order in which to drop.

    A table that refers to a dropped one is not gone with it, only its foreign key is: it is listed, and what
    depends on it is not.
    """
    result: list[Dependant] = []

    def visit(dependant: Dependant) -> None:
        if dependant in result:
            return
        if dependant.kind == "view":
            for further in dependants(catalog, dependant.name):
                visit(further)
        result.append(dependant)

    for direct in dependants(catalog, name):
        visit(direct)
    return result


def view_order(catalog: Catalog) -> list[View]:
    """All views, each after the views that it reads."""
    result: dict[str, View] = {}

    def visit(view: View) -> None:
        if view.name.lower() in result:
            return
        for name in sorted(uses(view)):
            further = catalog.view(name)
            if further is not None:
                visit(further)
        result[view.name.lower()] = view

    for view in catalog.views.values():
        visit(view)
    return list(result.values())


def base_tables(catalog: Catalog, names: frozenset[str]) -> frozenset[str]:
    """The lower-cased names of the tables that these relations are made of."""
    result: set[str] = set()
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop().lower()
        if name in seen:
            continue
        seen.add(name)
        view = catalog.view(name)
        if view is None:
            result.add(name)
        else:
            waiting += uses(view)
    return frozenset(result)


def views_under(names: frozenset[str], catalog: Catalog) -> list[View]:
    """The views among these relations and those that they read, each after what it reads."""
    needed: set[str] = set()
    waiting = [name.lower() for name in names]
    while waiting:
        name = waiting.pop()
        view = catalog.view(name)
        if view is not None and name not in needed:
            needed.add(name)
            waiting += uses(view)
    return [view for view in view_order(catalog) if view.name.lower() in needed]
