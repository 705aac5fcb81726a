"""A catalog without some of its classes: refused where other classes, views or assertions need them.

Their tables are dropped with them, and so are the names that are bound to their objects, and their aliases.

>>> from evercurrent.catalog.classes import Class
>>> catalog = replace(Catalog(), schema=Schema({"person": Class("person"), "firm": Class("firm")}))
>>> list(without_classes(catalog, ["firm"]).schema.classes)
['person']
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.dependencies import dependants
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.wellformed import check
from evercurrent.errors import QueryError


def without_classes(catalog: Catalog, names: Collection[str]) -> Catalog:
    schema = catalog.schema
    for name in names:
        if name not in schema.classes:
            raise unknown("class", name, list(schema.classes))
    tables = {t.name.lower() for name in names for t in tables_of(schema, name)}
    left = Schema({n: c for n, c in schema.classes.items() if n not in names})
    needed = [f"class {c.name}" for name in names for c in schema.subclasses(name) if c.name not in names]
    if not needed:
        try:
            check(left)
        except QueryError as problem:
            needed.append(problem.message)
    for table in sorted(tables):
        needed += [str(d) for d in dependants(catalog, table) if d.name.lower() not in tables]
    if needed:
        raise QueryError(
            f"class {', '.join(names)} cannot be dropped: {', '.join(dict.fromkeys(needed))}",
            hint="drop what depends on it first",
        )
    return replace(
        catalog,
        tables={k: t for k, t in catalog.tables.items() if k not in tables},
        schema=left,
        aliases={a: c for a, c in catalog.aliases.items() if c not in names},
        objects={n: c for n, c in catalog.objects.items() if c not in names},
    )


def overrides_operation(schema: Schema, names: Collection[str]) -> bool:
    """Whether one of these classes overrides an operation of a class that it extends."""
    return any(
        o.name in schema.operations(parent)
        for name in names
        if (parent := schema.classes[name].parent) is not None
        for o in schema.classes[name].operations
    )
