"""CREATE and DROP on a warehouse. A definition is kept as its text, in every version; opening a version reads them again.

    CREATE VIEW spend AS SELECT ...       {"kind": "view", "name": "spend", "text": "CREATE VIEW spend AS SELECT ...", ...}

A statement makes a new catalog, compiles it, fills what is new from what is stored, and commits; whatever fails before
the commit has changed nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import to_drop
from evercurrent.catalog.nodes import Assertion, Table, View
from evercurrent.catalog.removal import remove, remove_dependant
from evercurrent.definitions.python_definitions import python_fields
from evercurrent.definitions.spark_definitions import spark_fields
from evercurrent.engine.spark.translate.types import require_stored
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.frontend.sql.statements import (
    CreateAssertion,
    CreateTable,
    CreateView,
    DropRelation,
    Select,
    Statement,
)
from evercurrent.statements.definition import (
    add_view,
    check_foreign_keys,
    may_create,
    may_create_assertion,
    references_to,
    referring_error,
)
from evercurrent.statements.oql import definition_of as about_definition
from evercurrent.statements.redefinition import over_kept, redefine_dependants
from evercurrent.warehouse.core import Core, Definition
from evercurrent.warehouse.definitions.drafts import change
from evercurrent.warehouse.maintenance.publish import PUBLISHING, definition_of
from evercurrent.warehouse.queries import answer

# --- creating ----------------------------------------------------------------------------------------------


def can_be_drafted(core: Core, statement: Statement) -> bool:
    """Whether a statement can be one version with other definitions: replacing a table needs the rows that refer to it."""
    match statement:
        case CreateTable(table):
            return core.catalog.relation(table.name) is None
        case CreateView() | CreateAssertion() | DropRelation():
            return True
        case _:
            return False


def create(core: Core, statement: Statement, text: str) -> None:
    """CREATE TABLE, VIEW or ASSERTION."""
    match statement:
        case CreateTable(table, replacing, quietly):
            create_table(core, table, text, replacing, quietly)
        case CreateView(view, replacing, quietly):
            create_view(core, view, text, replacing, quietly)
        case CreateAssertion(assertion, replacing, quietly):
            create_assertion(core, assertion, text, replacing, quietly)
        case _:
            raise AssertionError(statement)


def create_table(
    core: Core,
    table: Table,
    text: str,
    replacing: bool,
    quietly: bool,
    source: Mapping[str, Any] | None = None,
) -> None:
    """CREATE TABLE; with `source`, a table that others write."""
    if not may_create(core.catalog, table.name, "table", replacing, quietly):
        return
    if not table.stored:
        raise UnsupportedError("a table that is not stored is not there on Spark")
    for c in table.columns:
        require_stored(c.type)
    check_foreign_keys(core.catalog, table)
    old = core.catalog.table(table.name)
    catalog = core.catalog.with_table(table)
    emptied: frozenset[str] = frozenset()
    if old is not None:
        check_children(core, catalog, table)
        catalog = redefine_dependants(catalog, table.name)
        emptied = frozenset({table.name.lower()})
    definition = {**about_definition("table", table.name, text), "source": source}
    change(core, catalog, "CREATE TABLE", definition, emptied=emptied)


def check_children(core: Core, catalog: Catalog, table: Table) -> None:
    """A replaced table is empty: no row may refer to it, and its key must still be there."""
    for child, reference in references_to(catalog, table):
        known = " AND ".join(f"{quote_name(c)} IS NOT NULL" for c in reference.columns)
        asked = parse_statement(f"SELECT 1 FROM {quote_name(child.name)} WHERE {known} LIMIT 1", core.catalog)
        assert isinstance(asked, Select)
        if answer(core, asked.ordered.query):
            raise referring_error(table, child, reference)


def create_view(core: Core, view: View, text: str, replacing: bool, quietly: bool) -> None:
    if not may_create(core.catalog, view.name, "view", replacing, quietly):
        return
    for f in view.fields:
        require_stored(f.type)
    view = over_kept(view, core.catalog)
    catalog = add_view(core.catalog, view)
    published = {k: v for k, v in definition_of(core, view.name).items() if k in PUBLISHING}
    about = {
        **about_definition("view", view.name, text, view.policy, view.mode),
        **python_fields(view),
        **spark_fields(view),
    }
    change(core, catalog, "CREATE VIEW", {**about, **published})


def create_assertion(core: Core, assertion: Assertion, text: str, replacing: bool, quietly: bool) -> None:
    if not may_create_assertion(core.catalog, assertion, replacing, quietly):
        return
    assertion = over_kept(assertion, core.catalog)
    catalog = core.catalog.with_assertion(assertion)
    change(core, catalog, "CREATE ASSERTION", about_definition("assertion", assertion.name, text))


def drop(core: Core, kind: str, name: str, quietly: bool, cascade: bool) -> None:
    """DROP TABLE, VIEW or ASSERTION [IF EXISTS] [CASCADE]. A table that refers to a dropped one loses its foreign keys."""
    catalog = core.catalog
    gone = to_drop(catalog, kind, name, quietly=quietly, cascade=cascade)
    if gone is None:
        return
    dropped = {(kind, name.lower())}
    edited: dict[tuple[str, str], Definition] = {}
    for dependant in gone:
        catalog = remove_dependant(catalog, dependant, name)
        if dependant.kind == "table":
            edited["table", dependant.name.lower()] = without_references(core, dependant.name, name)
        else:
            dropped.add((dependant.kind, dependant.name.lower()))
    catalog = remove(catalog, kind, name)
    emptied = frozenset({name.lower()} if kind == "table" else ())  # another of this name would be empty
    change(core, catalog, f"DROP {kind.upper()}", dropped=dropped, edited=edited, emptied=emptied)


def without_references(core: Core, child: str, parent: str) -> Definition:
    """The definition of a table that has lost its foreign keys to another: the text stays, and that of the other with it."""
    by_name = {d["name"].lower(): d for d in core.definitions if d["kind"] == "table"}
    known = by_name[child.lower()]
    return {**known, "lost": [*known.get("lost", ()), by_name[parent.lower()]]}
