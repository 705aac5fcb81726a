"""DROP: refused where something depends on what is dropped, unless CASCADE takes that along.

A table that refers to a dropped one by a foreign key is not dropped: it loses the foreign key.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import Dependant, all_dependants, dependants
from evercurrent.errors import QueryError
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session


def drop(session: Session, kind: str, name: str, *, quietly: bool, cascade: bool) -> None:
    """DROP TABLE, VIEW or ASSERTION [IF EXISTS] [CASCADE]."""
    with defining(session):
        catalog = session.catalog
        found = {"table": catalog.table, "view": catalog.view}.get(
            kind, lambda n: catalog.assertions.get(n.lower())
        )(name)
        if found is None:
            if quietly and (kind == "assertion" or catalog.relation(name) is None):
                return
            if kind == "table":
                session.table(name)
            elif kind == "view":
                session.view(name)
            raise QueryError(f"there is no {kind} {name!r}")
        needed = [] if kind == "assertion" else dependants(catalog, name)
        if needed and not cascade:
            raise QueryError(
                f"{kind} {name} cannot be dropped: {', '.join(map(str, needed))} "
                f"{'depends' if len(needed) == 1 else 'depend'} on it",
                hint=f"DROP {kind.upper()} {name} CASCADE drops what depends on it too",
            )
        gone = all_dependants(catalog, name) if needed else []
        for dependant in gone:
            catalog = _without(catalog, dependant, name)
        catalog = _remove(catalog, kind, name)
        install(session, catalog)


def _without(catalog: Catalog, dependant: Dependant, name: str) -> Catalog:
    if dependant.kind != "table":
        return _remove(catalog, dependant.kind, dependant.name)
    table = catalog.table(dependant.name)
    assert table is not None
    left = tuple(f for f in table.foreign_keys if f.parent.lower() != name.lower())
    return catalog.with_table(replace(table, foreign_keys=left))


def _remove(catalog: Catalog, kind: str, name: str) -> Catalog:
    key = name.lower()
    match kind:
        case "table":
            return replace(catalog, tables={k: v for k, v in catalog.tables.items() if k != key})
        case "view":
            return replace(
                catalog,
                views={k: v for k, v in catalog.views.items() if k != key},
                view_keys={k: v for k, v in catalog.view_keys.items() if k != key},
            )
        case _:
            return replace(catalog, assertions={k: v for k, v in catalog.assertions.items() if k != key})
