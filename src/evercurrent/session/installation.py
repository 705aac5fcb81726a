"""The one place where a new catalog takes effect: stores, program, subscriptions, all together.

    with defining(session):
        install(session, session.catalog.with_view(view))

Everything that can be refused is refused before anything changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evercurrent.catalog.catalog import Catalog
from evercurrent.design.compile import compile_all
from evercurrent.errors import TransactionError
from evercurrent.rows.constraints import children_of
from evercurrent.rows.store import Store
from evercurrent.session.session import Session
from evercurrent.statements.definition import readers_of, rules_of


@contextmanager
def defining(session: Session) -> Iterator[None]:
    """The lock, and the certainty that no transaction is open."""
    with session.lock:
        if session.open_transaction() is not None:
            raise TransactionError(
                "CREATE and DROP cannot be part of a transaction with other changes",
                hint="run the statement before or after the `with db.transaction()` block",
            )
        yield


def install(session: Session, catalog: Catalog, emptied: set[str] | None = None) -> None:
    """Makes the new catalog the database's: stores, program, subscriptions. `emptied`: tables that lose their rows."""
    stores = _stores(session, catalog, emptied or set())
    if not _only_new_tables(session.catalog, catalog):
        catalog, design = compile_all(catalog, session.maintenance.design, session.maintenance.design.refused)
    else:
        design = session.maintenance.design
    readers, rules = readers_of(catalog), rules_of(catalog)
    rows_before = {
        session.stores[key].table.name: session.table_rows(key)
        for key in emptied or ()
        if key in session.stores
    }
    session.maintenance.install(
        catalog, design, lambda name: session.contents_of(stores[name.lower()]), rows_before
    )
    gone = (
        (set(session.catalog.tables) | set(session.catalog.views)) - set(catalog.tables) - set(catalog.views)
    )
    for key in gone:
        relation = session.catalog.relation(key)
        assert relation is not None
        session.subscribers.forget(relation.name)
        session.forwarded.discard(key)
    for key in emptied or ():
        session.forwarded.discard(key)
    session.catalog, session.stores, session.readers, session.rules = catalog, stores, readers, rules
    session.children = children_of(stores)
    session.refresh_feeds()


def _only_new_tables(old: Catalog, new: Catalog) -> bool:
    """Whether nothing that is there has changed, so that the program is as it was."""
    same = old.views is new.views and old.assertions is new.assertions
    return same and all(new.tables.get(key) is table for key, table in old.tables.items())


def _stores(session: Session, catalog: Catalog, emptied: set[str]) -> dict[str, Store]:
    """The stores of the new catalog: as they are where nothing changed, with their rows where references did."""
    result: dict[str, Store] = {}
    for key, table in catalog.tables.items():
        old = session.stores.get(key)
        touched = any(f.parent.lower() in emptied for f in table.foreign_keys)
        if old is None or key in emptied:
            result[key] = session.new_store(table, catalog)
        elif old.table is table and not touched:
            result[key] = old
        else:
            result[key] = old.with_foreign_keys(table, catalog.table)
    return result
