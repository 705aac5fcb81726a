"""A catalog without one of its tables, views or assertions.

    remove(catalog, "view", "spend")     the catalog without `spend` and the parts of its result

Whether something may be dropped is asked in `lookup`; here it is done.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import Dependant, parts_of


def remove(catalog: Catalog, kind: str, name: str) -> Catalog:
    """Returns the catalog without a table, view or assertion; an assertion may have the name of a view."""
    key = name.lower()
    match kind:
        case "table":
            catalog = catalog.without_indexes_of(name)
            return replace(catalog, tables={k: v for k, v in catalog.tables.items() if k != key})
        case "view":
            gone = {key, *(part.name.lower() for part in parts_of(catalog, name))}
            return replace(
                catalog,
                views={k: v for k, v in catalog.views.items() if k not in gone},
                view_keys={k: v for k, v in catalog.view_keys.items() if k not in gone},
            )
        case _:
            return replace(catalog, assertions={k: v for k, v in catalog.assertions.items() if k != key})


def remove_dependant(catalog: Catalog, dependant: Dependant, name: str) -> Catalog:
    """Returns the catalog without what depends on a dropped relation; a table only loses its foreign keys to it."""
    if dependant.kind != "table":
        return remove(catalog, dependant.kind, dependant.name)
    table = catalog.table(dependant.name)
    assert table is not None
    left = tuple(f for f in table.foreign_keys if f.parent.lower() != name.lower())
    return catalog.with_table(replace(table, foreign_keys=left))
