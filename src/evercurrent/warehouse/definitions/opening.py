"""From the definitions that a version keeps to its catalog and program.

open_version(core, 7)      the driver is at version 7 from now on
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.errors import EvercurrentError, QueryError, StorageError, UnsupportedError
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView
from evercurrent.statements.redefinition import over_kept
from evercurrent.term.handed_over import HandedOver
from evercurrent.warehouse.core import Core, Definition
from evercurrent.warehouse.definitions.classes import with_classes, with_operation
from evercurrent.warehouse.definitions.drafts import compile_catalog
from evercurrent.warehouse.definitions.oql import add_oql_definition
from evercurrent.warehouse.definitions.python_definitions import python_view
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.version import Version


def open_version(core: Core, version: int) -> None:
    """Goes to a version: reads its definitions and compiles them."""
    snapshot = core.engine.log.snapshot(version)
    try:
        catalog = catalog_of(snapshot, core.functions)
        compiled = compile_catalog(catalog, Design())
    except EvercurrentError:
        raise
    except Exception as problem:  # a definition that we have not written can be wrong in any way
        raise StorageError(
            f"the definitions of version {version} cannot be read: {type(problem).__name__}: {problem}"
        ) from problem
    core.install(Version(version, compiled, snapshot))
    core.published.clear()
    publish(core)


RANKS = {"classes": 0, "operation": 1, "macro": 2, "import": 3, "object": 4}
"""What tables and views are read against comes before them: they were translated against all of it."""


def catalog_of(snapshot: Snapshot, known: HandedOver) -> Catalog:
    """Returns the catalog of the definitions, whatever their order; the functions that they name are those that are `known`."""
    catalog = Catalog()
    waiting = sorted(snapshot.definitions, key=lambda d: RANKS.get(d["kind"], len(RANKS)))
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
    scope = catalog
    for lost in definition.get("lost", ()):
        scope = add_definition(scope, lost, known)
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
