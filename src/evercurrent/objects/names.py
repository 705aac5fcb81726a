"""Named objects: entry points into the data, under names that queries may use.

    db.bind("Boss", ann)          Boss.name, select e from e in Employees where e.manager = Boss

A name is a row of a table of its own, so what is bound can change and views follow. An object that is deleted leaves its name
behind, bound to nil.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table as Declaration
from evercurrent.catalog.nodes import TableColumn, Unique
from evercurrent.data.showing import show_value
from evercurrent.data.types import BIGINT, STRING
from evercurrent.errors import QueryError
from evercurrent.frontend.oql.names import NAMES
from evercurrent.objects.model.handles import Object
from evercurrent.session.definition import create_table
from evercurrent.session.installation import defining, install
from evercurrent.session.tables import SessionTable

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def bind(session: Session, name: str, thing: Any) -> None:
    """Bind a name to an object, or to nil; the class is that of the first object."""
    with session.lock:
        if is_bound(session.catalog, name, thing):
            SessionTable(session, NAMES).update({"name": name}, oid=None if thing is None else thing.oid)
            return
        if session.catalog.table(NAMES) is None:
            create_table(session, names_table(), replacing=False, quietly=True)
        with defining(session):
            objects = {**session.catalog.objects, name: type(thing).__name__}
            install(session, replace(session.catalog, objects=objects))
        SessionTable(session, NAMES).insert({"name": name, "oid": thing.oid})


def is_bound(catalog: Catalog, name: str, thing: Any) -> bool:
    """Whether a name is bound already; an error if it cannot be bound to this."""
    if not name.isidentifier():
        raise QueryError(f"{name!r} is not a name that a query can use")
    if thing is not None and not isinstance(thing, Object):
        raise QueryError(
            f"{show_value(thing)} is not an object", hint="bind a name to an object of a class, or to None"
        )
    known = catalog.objects.get(name)
    if known is None:
        if thing is None:
            raise QueryError(
                f"{name} is not bound", hint="the class of the first object is the class of the name"
            )
        if catalog.relation(name) is not None or name in catalog.macros:
            raise QueryError(f"there is already a table, view or definition {name}")
        return False
    if thing is not None and not catalog.schema.is_a(type(thing).__name__, known):
        raise QueryError(f"{name} is bound to objects of {known}, and {show_value(thing)} is not one")
    return True


def names_table() -> Declaration:
    """The table of names and identities."""
    columns = (TableColumn("name", STRING, False), TableColumn("oid", BIGINT))
    return Declaration(NAMES, columns, Unique(f"{NAMES}_name", ("name",)))
