"""Named objects on a warehouse: names are definitions, what they are bound to are rows of a table, so both are durable.

Binding a name for the first time is two versions: the name, bound to nil, and what it is bound to.

    at version 7: db.bind("boss", ann)       version 8: boss is nil; version 9: boss is ann
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.frontend.oql.names import NAMES
from evercurrent.objects.names import names_table
from evercurrent.statements.oql import definition_of
from evercurrent.statements.table_text import table_text
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.drafts import change, together
from evercurrent.warehouse.definitions.statements import create_table


def declare_name(core: Core, name: str, of: str) -> None:
    """Declares a name for objects of a class."""
    with together(core):
        if core.catalog.table(NAMES) is None:
            table = names_table()
            create_table(core, table, table_text(table), False, True)
        catalog = replace(core.catalog, objects={**core.catalog.objects, name: of})
        change(core, catalog, "BIND", definition_of("object", name, of))
