"""From definitions to a catalog, whatever their order.

    catalog_of(definitions, known)      tables, views, assertions, classes, operations, macros, imports, names

A definition is a mapping with a `kind`, a `name` and a `text`, and what else it says. Both databases that outlive their program keep
these: one on Spark in every version, one in a file in a table of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.lookup import require_table
from evercurrent.catalog.nodes import Index
from evercurrent.catalog.rules import positions
from evercurrent.definitions.operations import with_operation
from evercurrent.definitions.python_definitions import python_view
from evercurrent.definitions.spark_definitions import spark_view
from evercurrent.definitions.tables import table_of
from evercurrent.errors import EvercurrentError, QueryError, StorageError, UnsupportedError
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.define import views
from evercurrent.frontend.oql.parse import parse
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView
from evercurrent.oql_views.translation import context_of
from evercurrent.statements.redefinition import over_kept
from evercurrent.statements.target import Definition
from evercurrent.term.handed_over import HandedOver

RANKS = {"classes": 0, "operation": 1, "macro": 2, "import": 3, "object": 4}
"""What tables and views are read against comes before them: they were translated against all of it."""


def catalog_of(definitions: Iterable[Definition], known: HandedOver) -> Catalog:
    """Returns the catalog of the definitions, whatever their order; the functions that they name are those that are `known`."""
    catalog = Catalog()
    waiting = sorted(definitions, key=lambda d: RANKS.get(d["kind"], len(RANKS)))
    while waiting:
        left = []
        problem: EvercurrentError | None = None
        for definition in waiting:
            try:
                catalog = add_definition(catalog, definition, known)
            except (QueryError, UnsupportedError) as found:
                left.append(definition)
                problem = found
        if len(left) == len(waiting):
            raise StorageError(f"the definition of {left[0]['name']} cannot be read: {problem}") from problem
        waiting = left
    return catalog


def add_definition(catalog: Catalog, definition: Definition, known: HandedOver | None = None) -> Catalog:
    """Returns the catalog with one definition more. Lost tables, which a table has referred to, are read for it alone."""
    known = HandedOver() if known is None else known
    if definition["kind"] == "classes":
        return with_classes(catalog, classes_of(definition["text"], catalog.schema))
    if definition["kind"] == "operation":
        return with_operation(catalog, definition, known)
    if definition.get("language") == "oql" or definition["kind"] in ("macro", "import", "object"):
        return add_oql_definition(catalog, definition)
    if definition["kind"] == "index":
        return catalog.with_index(index_of(catalog, definition))
    if "columns" in definition:
        return catalog.with_table(table_of(definition))
    scope = catalog
    for lost in definition.get("lost", ()):
        scope = add_definition(scope, lost, known)
    if definition.get("language") == "spark":
        return catalog.with_view(spark_view(definition, scope))
    if definition.get("language") == "python":
        return catalog.with_view(python_view(definition, scope, known))
    statement = parse_statement(definition["text"], scope, definition.get("policy") or "incremental")
    match statement:
        case CreateTable(table):
            gone = {lost["name"].lower() for lost in definition.get("lost", ())}
            kept = tuple(f for f in table.foreign_keys if f.parent.lower() not in gone)
            return catalog.with_table(replace(table, foreign_keys=kept))
        case CreateView(view):
            mode = definition.get("mode") or view.mode
            return catalog.with_view(replace(over_kept(view, scope), mode=mode))
        case CreateAssertion(assertion):
            return catalog.with_assertion(over_kept(assertion, scope))
        case _:
            raise StorageError(f"{definition['name']} is not defined by a definition")


def index_of(catalog: Catalog, definition: Definition) -> Index:
    """Returns the index of a definition; a QueryError while its table is not defined."""
    about = definition["index"]
    table = require_table(catalog, about["table"])
    found = Index(definition["name"], table.name, tuple(map(str, about["columns"])))
    positions(table, found.columns)
    return found


def add_oql_definition(catalog: Catalog, definition: Definition) -> Catalog:
    """The catalog with the views of a definition, or with what else OQL defines."""
    name, text = definition["name"], definition["text"]
    match definition["kind"]:
        case "macro":
            return replace(catalog, macros={**catalog.macros, name: text})
        case "object":
            if text not in catalog.schema.classes:
                raise QueryError(f"there is no class {text}")
            return replace(catalog, objects={**catalog.objects, name: text})
        case "import":
            if text not in catalog.schema.classes:
                raise QueryError(f"there is no class {text}")
            return replace(catalog, aliases={**catalog.aliases, name: text})
        case _:
            statement = cast(syntax.Define, parse(text)[0])
            context = context_of(catalog)
            policy = definition.get("policy") or "incremental"
            mode = definition.get("mode") or "strict"
            for view in views(
                context,
                name,
                statement.body,
                text,
                keep=definition.get("publish", True) is not False,
                policy=policy,
                mode=mode,
            ):
                catalog = catalog.with_view(view)
            return catalog


def with_classes(catalog: Catalog, schema: Schema) -> Catalog:
    """The catalog with a larger schema, and the tables of the classes that are new."""
    new = [name for name in schema.classes if name not in catalog.schema.classes]
    catalog = replace(catalog, schema=schema)
    for name in new:
        for table in tables_of(schema, name):
            if catalog.relation(table.name) is not None:
                raise QueryError(
                    f"class {name} needs a table {table.name}, and there is already a relation of this name",
                    place=schema.classes[name].place,
                    hint="give the class another extent",
                )
            catalog = catalog.with_table(table)
    return catalog
