"""OQL on a warehouse: the same definitions, kept as their text in every version.

A view with nested collections is stored in parts, as in process, and also in the form that Spark reads: a relation with arrays,
which is published like any other view.

    select struct(name: d.name, staff: d.staff) from d in Departments
    parts        one relation of departments, one of the members of their `staff`
    published    name STRING, staff ARRAY<...>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import View
from evercurrent.catalog.removal import remove
from evercurrent.definitions.reading import add_oql_definition
from evercurrent.engine.spark.translate.types import require_stored
from evercurrent.frontend.oql.layout import Layout
from evercurrent.statements.redefinition import redefine_users
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.drafts import change


def redefine_publishing(core: Core, view: View, definition: Mapping[str, Any]) -> bool:
    """Whether another place of publishing changes how a view is kept; then it is defined again.

    What is published nowhere is not kept with arrays: a change inside costs what changed, whatever the size of the collection.
    """
    keeps = definition.get("publish", True) is not False
    if not isinstance(view.shape, Layout) or not view.shape.parts or keeps is not view.inline:
        return False
    catalog = add_oql_definition(remove(core.catalog, "view", view.name), definition)
    catalog = redefine_users(catalog, core.catalog, view.name)
    change(core, require_stored_views(catalog, core.catalog), "PUBLISH", definition)
    return True


def require_stored_views(catalog: Catalog, before: Catalog) -> Catalog:
    """The catalog, if all that is new in it can be kept."""
    for key, view in catalog.views.items():
        if view is not before.views.get(key):
            for f in view.fields:
                require_stored(f.type)
    return catalog
