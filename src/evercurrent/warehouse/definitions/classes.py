"""Classes on a warehouse: their ODL is a definition, and so is what each operation means.

    classes      "person, employee"    the ODL of both
    operation    "employee.yearly"     the term of its function, and the name `module:qualname` if it has one

Late binding is written out in the views that call an operation, so views in OQL are translated again whenever classes or operations
change; a view whose query stays the same keeps all that is kept of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.without_classes import without_classes
from evercurrent.definitions.operations import keep_operations
from evercurrent.definitions.reading import with_classes
from evercurrent.engine.spark.translate.types import require_stored
from evercurrent.frontend.odl.resolve import bind
from evercurrent.frontend.odl.show import odl
from evercurrent.statements.redefinition import redefine_oql
from evercurrent.warehouse.core import Core, Definition
from evercurrent.warehouse.definitions.drafts import change, name_of, together
from evercurrent.warehouse.version import Compiled


def require_stored_tables(catalog: Catalog, before: Catalog) -> Catalog:
    """The catalog, if all that is new in its tables can be kept."""
    for key, table in catalog.tables.items():
        if table is not before.tables.get(key):
            for c in table.columns:
                require_stored(c.type)
    return catalog


def create_classes(core: Core, schema: Schema, text: str) -> None:
    """Declare classes: their tables, their ODL among the definitions, and what their operations mean."""
    before = core.catalog
    new = [name for name in schema.classes if name not in before.schema.classes]
    names = [f"{n}.{o.name}" for n in new for o in schema.classes[n].operations]
    schema, operations = keep_operations(schema, names, core.functions)
    catalog = require_stored_tables(with_classes(before, schema), before)
    classes = {"kind": "classes", "name": ", ".join(new), "text": text, "policy": None}
    change(core, redefine_oql(catalog), "CREATE CLASS", classes, *operations)


def require_replaceable(core: Core, schema: Schema, names: list[str]) -> None:
    """Refuses classes that cannot take the place of those of these names."""
    catalog = with_classes(without_classes(core.catalog, names), schema)
    require_stored_tables(catalog, core.catalog)


def replace_classes(core: Core, schema: Schema, names: list[str]) -> None:
    """Puts classes of a larger schema in the place of those of these names, whose objects are deleted already."""
    with together(core):
        remove_classes(core, names)
        left = core.catalog.schema.classes
        new = {n: c for n, c in schema.classes.items() if n not in left}
        create_classes(core, Schema({**left, **new}), odl(Schema(new)))


def remove_classes(core: Core, names: list[str]) -> None:
    """Take classes out of the catalog and of the definitions."""
    before = core.catalog
    catalog = without_classes(before, names)
    dropped = {("object", n) for n in before.objects if n not in catalog.objects}
    dropped |= {("import", a) for a in before.aliases if a not in catalog.aliases}
    dropped |= {("operation", f"{n}.{o.name}") for n in names for o in before.schema.classes[n].operations}
    edited: dict[tuple[str, str], Definition] = {}
    for d in core.definitions:
        if d["kind"] == "classes":
            declared = d["name"].split(", ")
            left = [n for n in declared if n not in names]
            if not left:
                dropped.add(name_of(d))
            elif left != declared:
                text = odl(Schema({n: catalog.schema.classes[n] for n in left}))
                edited[name_of(d)] = {**d, "name": ", ".join(left), "text": text}
    emptied = frozenset(before.tables.keys() - catalog.tables.keys())
    change(core, catalog, "DROP CLASS", dropped=dropped, edited=edited, emptied=emptied)


# --- operations --------------------------------------------------------------------------------------------


def bind_operations(core: Core, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Give operations their functions. If one means something else than before, views follow, in a version of their own."""
    before = core.catalog.schema
    schema, definitions = keep_operations(bind(before, functions), functions, core.functions)
    catalog = replace(core.catalog, schema=schema)
    present = {d["name"]: d for d in core.definitions if d["kind"] == "operation"}
    wanted = {d["name"]: d for d in definitions}
    if all(present.get(name) == wanted.get(name) for name in functions):
        core.present = replace(core.present, compiled=Compiled(catalog, core.design))
        return
    change(core, redefine_oql(catalog), "CREATE OPERATION", *definitions)
