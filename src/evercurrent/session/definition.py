"""CREATE and DROP in a database inside this process.

Each statement makes a new catalog, checks everything that depends on what it changes, compiles the program for the new
catalog and installs it; only then does anything change. A statement that fails anywhere has changed nothing.

    create_table(session, table, replacing=False, quietly=False)      CREATE TABLE
    drop(session, "view", "spend", quietly=False, cascade=True)       DROP VIEW spend CASCADE
"""

from __future__ import annotations

import warnings
from typing import cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import refuse_class_table, to_drop
from evercurrent.catalog.nodes import Assertion, Table, View
from evercurrent.catalog.removal import remove, remove_dependant
from evercurrent.design.evaluation import run_query
from evercurrent.design.window_notes import table_note
from evercurrent.errors import CostWarning, EvaluationError, UnsupportedError
from evercurrent.session.blame import assertion_error, blame_definition
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session
from evercurrent.statements.definition import (
    add_view,
    check_foreign_keys,
    may_create,
    may_create_assertion,
    references_to,
    referring_error,
)
from evercurrent.statements.redefinition import over_kept, redefine_dependants


def create_table(session: Session, table: Table, *, replacing: bool, quietly: bool) -> None:
    """CREATE [OR REPLACE] TABLE [IF NOT EXISTS]. A replaced table is empty."""
    with defining(session):
        if not may_create(session.catalog, table.name, "table", replacing, quietly):
            return
        check_foreign_keys(session.catalog, table)
        old = session.catalog.table(table.name)
        catalog = session.catalog.with_table(table)
        if old is not None:
            refuse_class_table(session.catalog, table.name)
            catalog = catalog.without_indexes_of(table.name)
            _check_children(session, catalog, table)
            catalog = redefine_dependants(catalog, table.name)
        install(session, catalog, emptied={table.name.lower()})


def _check_children(session: Session, catalog: Catalog, table: Table) -> None:
    """Refuses to replace a table while rows refer to it: a replaced table is empty."""
    for child, reference in references_to(catalog, table):
        store = session.stores[child.name.lower()]
        if any(r.counts for r in store.references if r.constraint == reference):
            raise referring_error(table, child, reference)


def create_view(session: Session, view: View, *, replacing: bool, quietly: bool) -> None:
    """CREATE [OR REPLACE] VIEW [IF NOT EXISTS]."""
    with defining(session):
        if not may_create(session.catalog, view.name, "view", replacing, quietly):
            return
        view = over_kept(view, session.catalog)
        catalog = add_view(session.catalog, view)
        check_unstored(session, view)
        install(session, catalog)
        warn_of_windows(session, view)


def warn_of_windows(session: Session, view: View) -> None:
    """Warns of windows over a whole table of which one change moves many results: one warning for each view."""
    stages = session.maintenance.design.stages.get(view.name)
    note = None if stages is None else table_note(stages.plan)
    if note is not None:
        warnings.warn(f"view {view.name}: {note}", CostWarning, stacklevel=2)


def create_assertion(session: Session, assertion: Assertion, *, replacing: bool, quietly: bool) -> None:
    """CREATE [OR REPLACE] ASSERTION [IF NOT EXISTS]; refused if the data already violates it."""
    with defining(session):
        if not may_create_assertion(session.catalog, assertion, replacing, quietly):
            return
        assertion = over_kept(assertion, session.catalog)
        check_unstored(session, assertion)
        try:
            rows = run_query(
                cast(Query, assertion.query), session.catalog, session.table_rows, session.maintenance.rows
            )
        except EvaluationError as error:
            raise blame_definition(session.scene(), error, [assertion]) from error
        if rows:
            raise assertion_error(assertion, list(rows.insertions()))
        install(session, session.catalog.with_assertion(assertion))


def check_unstored(session: Session, node: View | Assertion) -> None:
    """Refuses what reads rows that were not kept."""
    for name in node.uses:
        if name.lower() in session.forwarded:
            raise UnsupportedError(
                f"{name} is not stored and has had changes already, so {node.name} cannot be computed over it",
                hint=f"create {node.name} before the first change of {name}, or store {name}",
            )


def drop(session: Session, kind: str, name: str, *, quietly: bool, cascade: bool) -> None:
    """DROP TABLE, VIEW or ASSERTION [IF EXISTS] [CASCADE]."""
    with defining(session):
        catalog = session.catalog
        gone = to_drop(catalog, kind, name, quietly=quietly, cascade=cascade)
        if gone is None:
            return
        for dependant in gone:
            catalog = remove_dependant(catalog, dependant, name)
        install(session, remove(catalog, kind, name))
