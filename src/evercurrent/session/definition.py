"""CREATE.

Each statement makes a new catalog, checks everything that depends on what it changes, compiles the program for the new
catalog and installs it; only then does anything change. A statement that fails anywhere has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, cast

from evercurrent.calculus.inline import inlined
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants, view_order
from evercurrent.catalog.lookup import refuse_class_table
from evercurrent.catalog.nodes import Assertion, ForeignKey, Table, View
from evercurrent.data.types import Decimal, Float, Integer, String, Type
from evercurrent.design.evaluation import run_query
from evercurrent.errors import ConstraintError, QueryError, UnsupportedError
from evercurrent.rows.store import parent_key
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session, broken_assertion

Redefine = Callable[[View | Assertion, Catalog], View | Assertion]
"""Resolves the text of a view or an assertion anew, against another catalog."""


# --- tables ------------------------------------------------------------------------------------------------


def create_table(
    session: Session, table: Table, *, replacing: bool, quietly: bool, redefine: Redefine
) -> None:
    """CREATE [OR REPLACE] TABLE [IF NOT EXISTS]. A replaced table is empty."""
    with defining(session):
        if not may_create(session.catalog, table.name, "table", replacing, quietly):
            return
        check_foreign_keys(session.catalog, table)
        old = session.catalog.table(table.name)
        catalog = session.catalog.with_table(table)
        if old is not None:
            refuse_class_table(session.catalog, table.name)
            _check_children(session, catalog, table)
            catalog = redefine_dependants(catalog, table.name, redefine)
        install(session, catalog, emptied={table.name.lower()})


def check_foreign_keys(catalog: Catalog, table: Table) -> None:
    for reference in table.foreign_keys:
        own = reference.parent.lower() == table.name.lower()
        parent = table if own else catalog.table(reference.parent)
        if parent is None:
            raise QueryError(
                f"{table.name}: FOREIGN KEY {reference.name} refers to {reference.parent}, which is no table"
            )
        check_foreign_key(table, parent, reference)


def check_foreign_key(table: Table, parent: Table, reference: ForeignKey) -> None:
    columns = ", ".join(reference.parent_columns)
    if parent_key(parent, reference) is None:
        raise QueryError(
            f"{table.name}: FOREIGN KEY {reference.name} refers to {parent.name} ({columns}), which is no key of it",
            hint=f"declare PRIMARY KEY or UNIQUE ({columns}) in {parent.name}",
        )
    own = {c.name.lower(): c.type for c in table.columns}
    theirs = {c.name.lower(): c.type for c in parent.columns}
    for child_column, parent_column in zip(reference.columns, reference.parent_columns, strict=True):
        a, b = own[child_column.lower()], theirs[parent_column.lower()]
        if not _comparable(a, b):
            raise QueryError(
                f"{table.name}.{child_column} is {a}, and {parent.name}.{parent_column}, to which it refers, is {b}",
                hint="give both columns the same type",
            )


def _comparable(a: Type, b: Type) -> bool:
    """Whether equal values of the two types look equal inside."""
    match a, b:
        case (Integer(), Integer()) | (String(), String()) | (Float(), Float()):
            return True
        case Decimal(scale=x), Decimal(scale=y):
            return x == y
        case _:
            return a == b


def _check_children(session: Session, catalog: Catalog, table: Table) -> None:
    """A replaced table is empty: no row may refer to it, and its key must still be there."""
    for child in catalog.tables.values():
        for reference in child.foreign_keys:
            if reference.parent.lower() == table.name.lower() and child is not table:
                check_foreign_key(child, table, reference)
                store = session.stores[child.name.lower()]
                if any(r.counts for r in store.references if r.constraint == reference):
                    raise ConstraintError(
                        f"{table.name} cannot be replaced: rows of {child.name} refer to it [{reference.name}]",
                        constraint=reference.name,
                    )


# --- views and assertions ----------------------------------------------------------------------------------


def create_view(session: Session, view: View, *, replacing: bool, quietly: bool, redefine: Redefine) -> None:
    """CREATE [OR REPLACE] VIEW [IF NOT EXISTS]."""
    with defining(session):
        if not may_create(session.catalog, view.name, "view", replacing, quietly):
            return
        view = over_kept(view, session.catalog)
        old = session.catalog.view(view.name)
        catalog = session.catalog.with_view(view)
        if old is not None:
            if any(
                d.name.lower() in {u.lower() for u in view.uses}
                for d in all_dependants(session.catalog, view.name)
            ) or (view.name.lower() in {u.lower() for u in view.uses}):
                raise QueryError(f"view {view.name} cannot be defined by itself", hint="use WITH RECURSIVE")
            catalog = redefine_dependants(catalog, view.name, redefine)
        check_unstored(session, view)
        install(session, catalog)


def create_assertion(session: Session, assertion: Assertion, *, replacing: bool, quietly: bool) -> None:
    """CREATE [OR REPLACE] ASSERTION [IF NOT EXISTS]; refused if the data already violates it."""
    with defining(session):
        if assertion.name.lower() in session.catalog.assertions and not replacing:
            if quietly:
                return
            raise QueryError(
                f"there is already an assertion {assertion.name}",
                hint="CREATE OR REPLACE ASSERTION replaces it",
            )
        assertion = over_kept(assertion, session.catalog)
        check_unstored(session, assertion)
        rows = run_query(
            cast(Query, assertion.query), session.catalog, session.table_rows, session.maintenance.rows
        )
        if rows:
            raise broken_assertion(assertion, list(rows.inserted()))
        install(session, session.catalog.with_assertion(assertion))


Defined = TypeVar("Defined", View, Assertion)


def over_kept(node: Defined, catalog: Catalog) -> Defined:
    """A definition over tables and views that are kept, and which these are."""
    query = inlined(cast(Query, node.query), catalog)
    return replace(node, query=query, uses=relations_of(query))


def check_unstored(session: Session, node: View | Assertion) -> None:
    """What was not kept cannot be read any more."""
    for name in node.uses:
        if name.lower() in session.forwarded:
            raise UnsupportedError(
                f"{name} is not stored and has had changes already, so {node.name} cannot be computed over it",
                hint=f"create {node.name} before the first change of {name}, or store {name}",
            )


def redefine_dependants(catalog: Catalog, name: str, redefine: Redefine) -> Catalog:
    """The catalog with everything that depends on a changed relation resolved anew, in order."""
    affected = {(d.kind, d.name.lower()) for d in all_dependants(catalog, name)}
    for view in view_order(catalog):
        if ("view", view.name.lower()) in affected:
            try:
                new = redefine(view, catalog)
            except QueryError as problem:
                raise _no_longer(view, name, problem) from problem
            assert isinstance(new, View)
            catalog = catalog.with_view(over_kept(new, catalog))
    for assertion in list(catalog.assertions.values()):
        if ("assertion", assertion.name.lower()) in affected:
            try:
                new = redefine(assertion, catalog)
            except QueryError as problem:
                raise _no_longer(assertion, name, problem) from problem
            assert isinstance(new, Assertion)
            catalog = catalog.with_assertion(over_kept(new, catalog))
    return catalog


def _no_longer(node: View | Assertion, name: str, problem: QueryError) -> QueryError:
    kind = "view" if isinstance(node, View) else "assertion"
    return QueryError(
        f"{kind} {node.name} depends on {name} and would be wrong: {problem.message}",
        place=problem.place,
        hint=f"drop {node.name} first, or keep the columns that it reads",
    )


# --- names --------------------------------------------------------------------------------------------------


def may_create(catalog: Catalog, name: str, kind: str, replacing: bool, quietly: bool) -> bool:
    """Whether to go on: the name is free, or what bears it is to be replaced."""
    other = catalog.view(name) if kind == "table" else catalog.table(name)
    same = catalog.table(name) if kind == "table" else catalog.view(name)
    if other is not None:
        raise QueryError(f"there is already a {'view' if kind == 'table' else 'table'} {other.name}")
    if same is None or replacing:
        return True
    if quietly:
        return False
    raise QueryError(
        f"there is already a {kind} {same.name}", hint=f"CREATE OR REPLACE {kind.upper()} replaces it"
    )
