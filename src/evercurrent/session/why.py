"""Why a view has a row, asked of a database in process: the parts that read its stores.

    why(session, view, (7, "12.00"))      {"orders": [(1, 7, Decimal("12.00"))]}

What "comes from" means, and how it is shown, is said in `design.why`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import View
from evercurrent.data.zset import Row
from evercurrent.design.why import (
    NOTHING,
    Contents,
    Why,
    explain_row,
    filter_needed,
    is_valued,
    objects_of,
    read_row,
)
from evercurrent.errors import UnsupportedError

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def why(session: Session, view: View, row: Any = NOTHING) -> Why:
    """The base rows that a row of a view comes from; of a view in OQL, an element, or without one the whole value."""
    with session.lock:
        found = _why(session, view, row)
        return replace(found, objects=objects_of(found, session.catalog, _handle(session)))


def _why(session: Session, view: View, row: Any) -> Why:
    if is_valued(view):
        from evercurrent.oql_views.why import why_value
        from evercurrent.session.target import SessionTarget
        from evercurrent.statements.oql import stitcher_of

        return why_value(
            view, row, session.catalog, contents_of(session), stitcher_of(SessionTarget(session))
        )
    return explain_row(view, read_row(view.name, view.fields, row), session.catalog, contents_of(session))


def _handle(session: Session) -> Callable[[int], Any]:
    return (lambda oid: None) if session.space is None else session.space.at


def contents_of(session: Session) -> Contents:
    """The stored rows; by a key, where the needed values are those of one."""

    def contents(name: str, needs: Mapping[int, Set[Any]]) -> Iterable[tuple[Row, int]]:
        store = session.stores.get(name.lower())
        if store is None:
            return filter_needed(session.view_rows(name).items(), needs)
        if not store.table.stored:
            raise UnsupportedError(
                f"{store.table.name} is not stored: the origin of a row is not known",
                hint="create it as a stored table",
            )
        for position, values in needs.items():
            index = store.index_at({position})
            if index is not None and len(values) * 4 < len(store):
                rows = (index.rows.get(value) for value in values)
                return filter_needed(((row, 1) for row in rows if row is not None), needs)
        return filter_needed(store.contents().items(), needs)

    return contents
