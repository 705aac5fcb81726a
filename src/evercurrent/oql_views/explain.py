"""How a view of OQL is kept: its type, the relations that hold it, and where it is UNDEFINED instead of failing.

    select struct(E: e.name, D: e.dept.name) from e in Employees      older: bag<struct(E: string, D: string)>
                                                                      view older (E STRING, D STRING, D.defined BOOLEAN)

The lines after these are those of any view: what it reads, what it keeps, what a change costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import View
from evercurrent.catalog.removal import remove
from evercurrent.design.events import CLASSES
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.define import views
from evercurrent.frontend.oql.kinds import Coll
from evercurrent.frontend.oql.layout import Layout, kind_of_shape
from evercurrent.frontend.oql.parse import parse
from evercurrent.oql_views.translation import context_of
from evercurrent.source import Place


class Keeper(Protocol):
    """What keeps views: a session, or the core of a warehouse."""

    @property
    def catalog(self) -> Catalog: ...

    def view(self, name: str) -> View: ...


K = TypeVar("K", bound=Keeper)


def explain_family(
    keeper: K, view: View, stage: str | None, one: Callable[[K, View, str | None], str]
) -> str:
    """The explanation of a view and of its parts; `one` explains a single relation."""
    assert isinstance(view.shape, Layout)
    names = [view.shape.relation, *(part.relation for part in view.shape.parts)]
    parts = [keeper.view(name) for name in names]
    if stage is None:
        lines = list(_head(keeper.catalog, view, view.shape, names))
        besides = [] if len(parts) == 1 or view.inline else [view]
        return "\n".join([*lines, *(one(keeper, part, None) for part in (*parts, *besides))])
    if len(parts) == 1:
        return one(keeper, parts[0], stage)
    told = [f"{part.name}:\n{one(keeper, part, stage)}" for part in parts]
    if stage == "events":  # figure 10 knows the whole, figure 11 is applied to the parts
        told.insert(
            0,
            f"view {view.name}: Nest ({CLASSES['Nest']}); each of its {len(parts)} parts is kept as a view of its own",
        )
    return "\n\n".join(told)


def type_text(layout: Layout) -> str:
    """The type of a view's value.

    >>> from evercurrent.frontend.oql.kinds import STRING_KIND
    >>> from evercurrent.frontend.oql.layout import Flat
    >>> type_text(Layout("v", "bag", Flat(STRING_KIND, "value")))
    'bag<string>'
    """
    slot = kind_of_shape(layout.element)
    return str(slot.kind) if layout.shape is None else str(Coll(layout.shape, slot))  # type: ignore[arg-type]


def _head(catalog: Catalog, view: View, layout: Layout, names: list[str]) -> Iterator[str]:
    yield f"{view.name}: {type_text(layout)}"
    if len(names) > 1:
        arrays = "made when they are read" if view.inline else "kept besides"
        yield f"  kept in {', '.join(names)}; SQL reads it with arrays, {arrays}"
    for message, place in cautions(catalog, view):
        where = f" (line {place.line}, column {place.column})" if place is not None else ""
        yield f"  caution {message}: then it is undefined{where}"


def cautions(catalog: Catalog, view: View) -> list[tuple[str, Place | None]]:
    """Where the view is UNDEFINED instead of failing."""
    statement = parse(view.text)[0]
    assert isinstance(statement, syntax.Define)
    context = context_of(remove(catalog, "view", view.name))
    views(context, view.name, statement.body, view.text)
    return list(dict.fromkeys(context.cautions))
