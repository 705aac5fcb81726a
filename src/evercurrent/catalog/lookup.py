"""Finding what a name stands for, and whether it may be dropped; errors that suggest what was meant.

>>> require_table(Catalog().with_table(Table("orders", ())), "order")
Traceback (most recent call last):
...
evercurrent.errors.QueryError: there is no table 'order'
hint: did you mean 'orders'?
"""

from __future__ import annotations

import difflib

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import Dependant, all_dependants, dependants
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError


def require_table(catalog: Catalog, name: str) -> Table:
    _require_name(name, "table")
    found = catalog.table(name)
    if found is not None:
        return found
    if catalog.view(name) is not None:
        raise QueryError(f"{name} is a view, not a table", hint=f"db.view({name!r}) reads it")
    raise unknown("table", name, [t.name for t in catalog.tables.values()])


def require_view(catalog: Catalog, name: str) -> View:
    _require_name(name, "view")
    found = catalog.view(name)
    if found is not None:
        return found
    if catalog.table(name) is not None:
        raise QueryError(f"{name} is a table, not a view", hint=f"db.table({name!r}) reads it")
    raise unknown("view", name, [v.name for v in catalog.views.values()])


def _require_name(name: object, kind: str) -> None:
    if not isinstance(name, str):
        raise QueryError(f"the name of a {kind} is a string, not {show_value(name)}")


def unknown(kind: str, name: str, names: list[str]) -> QueryError:
    near = difflib.get_close_matches(name, names, 1)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif names:
        hint = f"there are {', '.join(sorted(names)[:10])}" + (", ..." if len(names) > 10 else "")
    else:
        hint = f"there is no {kind} yet: db.execute('CREATE {kind.upper()} ...') makes one"
    return QueryError(f"there is no {kind} {name!r}", hint=hint)


def refuse_class_table(catalog: Catalog, name: str) -> None:
    """The tables of a class are created and dropped with it."""
    for c in catalog.schema.classes.values():
        if any(t.name.lower() == name.lower() for t in tables_of(catalog.schema, c.name)):
            raise QueryError(
                f"table {name} belongs to class {c.name}",
                hint=f"db.drop_class({c.name!r}) drops it with the class",
            )


def to_drop(
    catalog: Catalog, kind: str, name: str, *, quietly: bool, cascade: bool
) -> list[Dependant] | None:
    """What is dropped with a table, view or assertion; None if it is not there and need not be."""
    found: object
    match kind:
        case "table" | "view":
            found = catalog.table(name) if kind == "table" else catalog.view(name)
            if found is None and not (quietly and catalog.relation(name) is None):
                require_table(catalog, name) if kind == "table" else require_view(catalog, name)
        case _:
            found = catalog.assertions.get(name.lower())
            if found is None and not quietly:
                raise unknown("assertion", name, [a.name for a in catalog.assertions.values()])
    if found is None:
        return None
    if kind == "table":
        refuse_class_table(catalog, name)
    needed = [] if kind == "assertion" else dependants(catalog, name)
    if needed and not cascade:
        raise QueryError(
            f"{kind} {name} cannot be dropped: {', '.join(map(str, needed))} "
            f"{'depends' if len(needed) == 1 else 'depend'} on it",
            hint=f"DROP {kind.upper()} {name} CASCADE drops what depends on it too",
        )
    return all_dependants(catalog, name) if needed else []
