"""From a catalog to its definitions: what must be kept so that `reading.catalog_of` makes the same catalog again.

    definitions_of(catalog, known)      [{"kind": "table", "name": "orders", ...}, {"kind": "view", "name": "spend", ...}]

The tables of classes are not listed, for they follow from the classes; nor are the parts in which a view of OQL is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.nodes import View, is_part
from evercurrent.definitions.operations import keep_operations
from evercurrent.definitions.python_definitions import python_fields
from evercurrent.definitions.tables import table_definition
from evercurrent.frontend.odl.show import odl
from evercurrent.statements.oql import definition_of
from evercurrent.statements.target import Definition
from evercurrent.term.handed_over import HandedOver


def definitions_of(catalog: Catalog, known: HandedOver) -> Iterator[Definition]:
    """Yields the definitions of a catalog. The functions that they name are added to those that are `known`."""
    yield from class_definitions(catalog.schema, known)
    for name, text in catalog.macros.items():
        yield definition_of("macro", name, text)
    for alias, name in catalog.aliases.items():
        yield definition_of("import", alias, name)
    for name, of in catalog.objects.items():
        yield definition_of("object", name, of)
    of_classes = class_tables(catalog.schema)
    for key, table in catalog.tables.items():
        if key not in of_classes:
            yield table_definition(table)
    for index in catalog.indexes.values():
        columns = {"table": index.table, "columns": list(index.columns)}
        yield {**definition_of("index", index.name, ""), "index": columns}
    for view in catalog.views.values():
        if not is_part(view):
            yield view_definition(view)
    for assertion in catalog.assertions.values():
        yield definition_of("assertion", assertion.name, assertion.text)


def class_tables(schema: Schema) -> frozenset[str]:
    """Returns the lower-cased names of the tables of all classes."""
    return frozenset(t.name.lower() for name in schema.classes for t in tables_of(schema, name))


def class_definitions(schema: Schema, known: HandedOver) -> Iterator[Definition]:
    """Yields the definitions of classes and of their operations."""
    if not schema.classes:
        return
    names = [f"{c.name}.{o.name}" for c in schema.classes.values() for o in c.operations]
    _, operations = keep_operations(schema, names, known)
    yield definition_of("classes", ", ".join(schema.classes), odl(schema))
    yield from operations


def view_definition(view: View) -> Definition:
    """Returns the definition of a view."""
    about = definition_of("view", view.name, view.text, view.policy, view.mode)
    if view.language == "oql":
        return {**about, "language": "oql", "publish": False}
    return {**about, **python_fields(view)}
