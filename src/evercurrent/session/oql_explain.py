"""How a view of OQL is kept: its type, the relations that hold it, and where UNDEFINED stands for what would be an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import View
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.define import views
from evercurrent.frontend.oql.kinds import Coll
from evercurrent.frontend.oql.layout import Layout, kind_of_shape
from evercurrent.frontend.oql.parse import parse
from evercurrent.session.dropping import removed
from evercurrent.source import Place

if TYPE_CHECKING:
    from evercurrent.session.session import Session

One = Callable[["Session", View, "str | None"], str]


def explain_family(session: Session, view: View, stage: str | None, one: One) -> str:
    """The explanation of a view and of its parts; `one` explains a single relation."""
    assert isinstance(view.shape, Layout)
    names = [view.shape.relation, *(part.relation for part in view.shape.parts)]
    parts = [session.view(name) for name in names]
    if stage is None:
        lines = list(_head(session.catalog, view, view.shape, names))
        return "\n".join([*lines, *(one(session, part, None) for part in parts)])
    if len(parts) == 1:
        return one(session, parts[0], stage)
    return "\n\n".join(f"{part.name}:\n{one(session, part, stage)}" for part in parts)


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
        yield f"  kept in {', '.join(names)}; SQL reads it with arrays, made when they are read"
    for message, place in cautions(catalog, view):
        where = f" (line {place.line}, column {place.column})" if place is not None else ""
        yield f"  caution {message}: then it is undefined{where}"


def cautions(catalog: Catalog, view: View) -> list[tuple[str, Place | None]]:
    """Where the view is UNDEFINED instead of failing."""
    from evercurrent.session.oql import context_of

    statement = parse(view.text)[0]
    assert isinstance(statement, syntax.Define)
    context = context_of(removed(catalog, "view", view.name))
    views(context, view.name, statement.body, view.text)
    return list(dict.fromkeys(context.cautions))
