"""Named objects on a warehouse: names are definitions, what they are bound to are rows of a table, so both are durable.

Binding a name for the first time is two versions: the name, bound to nil, and what it is bound to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.frontend.oql.names import NAMES
from evercurrent.objects.names import is_bound, names_table
from evercurrent.statements.oql import definition_of
from evercurrent.warehouse.definitions.drafts import change, together
from evercurrent.warehouse.definitions.python_views import table_text
from evercurrent.warehouse.definitions.statements import create_table

if TYPE_CHECKING:
    from evercurrent.warehouse.database import Warehouse


def bind(db: Warehouse, name: str, thing: Any) -> None:
    """Bind a name to an object, or to nil; the class is that of the first object."""
    core = db._core
    with core.lock:
        oid = None if thing is None else thing.oid
        if is_bound(core.catalog, name, thing):
            known = db.table(NAMES).get(name)
            if known is None:
                db.table(NAMES).insert({"name": name, "oid": oid})
            else:
                db.table(NAMES).update(name, oid=oid)
            return
        db._require_no_transaction("the first binding of a name")
        with together(core):
            if core.catalog.table(NAMES) is None:
                table = names_table()
                create_table(core, table, table_text(table), False, True)
            of = type(thing).__name__
            catalog = replace(core.catalog, objects={**core.catalog.objects, name: of})
            change(core, catalog, "BIND", definition_of("object", name, of))
        db.table(NAMES).insert({"name": name, "oid": oid})
