"""The one place where a new catalog takes effect: stores, program, subscriptions, all together.

    with defining(session):
        install(session, session.catalog.with_view(view))       # the view is filled, and is updated from now on

Everything that can be refused is refused before anything changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import view_order
from evercurrent.catalog.nodes import Assertion, View
from evercurrent.design.compile import Design, compile_all
from evercurrent.errors import EvaluationError, TransactionError
from evercurrent.rows.store import Store
from evercurrent.session.blame import Scene, blame_definition
from evercurrent.session.catalog_change import CatalogChange
from evercurrent.session.maintenance import Contents
from evercurrent.session.session import Session


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


def install(session: Session, catalog: Catalog, emptied: Collection[str] = ()) -> None:
    """Makes the new catalog the database's: stores, program, subscriptions. `emptied`: tables that lose their rows."""
    stores = _stores(session, catalog, emptied)
    contents: Contents = lambda name: session.contents_of(stores[name.lower()])  # noqa: E731
    maintenance = session.maintenance
    if not _only_new_tables(session.catalog, catalog):
        statistics = maintenance.statistics(stores, contents)
        catalog, design = compile_all(
            catalog, maintenance.design, maintenance.design.refused, statistics=statistics
        )
    else:
        design = maintenance.design
    rows_before = {
        session.stores[key].table.name: session.table_rows(key) for key in emptied if key in session.stores
    }
    change = CatalogChange(session, catalog, stores, emptied)
    try:
        change.take_effect(lambda: maintenance.install(catalog, design, contents, rows_before))
    except EvaluationError as error:
        scene = Scene(catalog, lambda table: len(stores[table]), contents)
        raise blame_definition(scene, error, _new_queries(session.catalog, catalog)) from error


def install_loaded(session: Session, catalog: Catalog, stores: dict[str, Store]) -> None:
    """Makes a catalog that of a new database, with stores that hold their rows already."""
    catalog, design = compile_all(catalog, Design())
    CatalogChange(session, catalog, stores).take_effect(
        lambda: session.maintenance.install(catalog, design, lambda name: stores[name.lower()].contents())
    )


def _only_new_tables(old: Catalog, new: Catalog) -> bool:
    """Whether nothing that is there has changed, so that the program is as it was."""
    same = old.views is new.views and old.assertions is new.assertions
    return same and all(new.tables.get(key) is table for key, table in old.tables.items())


def _new_queries(old: Catalog, new: Catalog) -> list[View | Assertion]:
    """Returns the views and assertions that were not there before, each after those that it reads."""
    views: list[View | Assertion] = [v for v in view_order(new) if old.views.get(v.name.lower()) is not v]
    return views + [a for key, a in new.assertions.items() if old.assertions.get(key) is not a]


def _stores(session: Session, catalog: Catalog, emptied: Collection[str]) -> dict[str, Store]:
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
