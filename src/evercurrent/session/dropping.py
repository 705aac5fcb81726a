"""DROP: refused where something depends on what is dropped, unless CASCADE takes that along.

A table that refers to a dropped one by a foreign key is not dropped: it loses the foreign key.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import Dependant, parts_of
from evercurrent.catalog.lookup import to_drop
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session


def drop(session: Session, kind: str, name: str, *, quietly: bool, cascade: bool) -> None:
    """DROP TABLE, VIEW or ASSERTION [IF EXISTS] [CASCADE]."""
    with defining(session):
        catalog = session.catalog
        gone = to_drop(catalog, kind, name, quietly=quietly, cascade=cascade)
        if gone is None:
            return
        for dependant in gone:
            catalog = without(catalog, dependant, name)
        catalog = removed(catalog, kind, name)
        install(session, catalog)


def without(catalog: Catalog, dependant: Dependant, name: str) -> Catalog:
    """The catalog when what depended on a dropped relation is gone; a table only loses its foreign keys to it."""
    if dependant.kind != "table":
        return removed(catalog, dependant.kind, dependant.name)
    table = catalog.table(dependant.name)
    assert table is not None
    left = tuple(f for f in table.foreign_keys if f.parent.lower() != name.lower())
    return catalog.with_table(replace(table, foreign_keys=left))


def removed(catalog: Catalog, kind: str, name: str) -> Catalog:
    """The catalog without a table, view or assertion; an assertion may bear the name of a view."""
    key = name.lower()
    match kind:
        case "table":
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
