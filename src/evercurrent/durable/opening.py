"""Opens a file: reads its definitions and tables, and fills the views.

    keeper = open_file(session, File("shop.db", "full", False), HandedOver(), print)

Views are computed from the tables, by the way that fills any new view; the file holds nothing of them but their definitions. So a
view is right after whatever has happened to the process that wrote the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import positions
from evercurrent.catalog.without_classes import without_classes
from evercurrent.data.zset import Row
from evercurrent.definitions.listing import class_tables
from evercurrent.definitions.reading import catalog_of
from evercurrent.durable.file import File
from evercurrent.durable.keeper import FileKeeper
from evercurrent.durable.objects import load_objects
from evercurrent.durable.stored_table import StoredTable
from evercurrent.errors import EvercurrentError, StorageError
from evercurrent.rows.secondary_index import SecondaryIndex
from evercurrent.rows.store import Store
from evercurrent.session.installation import install, install_loaded
from evercurrent.session.session import Session
from evercurrent.term.handed_over import HandedOver

Stage = Callable[[str], object]


def open_file(session: Session, file: File, known: HandedOver, stage: Stage) -> FileKeeper:
    """Makes a new session what the file says, and the file the keeper of the session."""
    with file.refusals("be read"), file.snapshot():
        keeper = FileKeeper(session, file, known)
        keeper.definitions = file.definitions()
        try:
            catalog = catalog_of(keeper.definitions.values(), known)
            keeper.tables = {key: StoredTable(t) for key, t in catalog.tables.items()}
            stores = load(session, file, catalog, keeper.tables, stage)
            stage(f"filling {_show_count(len(catalog.views), 'view')}")
            install_loaded(session, catalog, stores)
        except (EvercurrentError, KeyboardInterrupt):
            raise
        except Exception as problem:  # a definition that we have not written can be wrong in any way
            raise StorageError(
                f"the definitions of {file.path} cannot be read: {type(problem).__name__}: {problem}"
            ) from problem
        session.number, session.cursors = file.state("version"), file.cursors()
        dropped = file.classes_to_drop() if file.writes else []
    session.keeper = keeper
    session.refresh_feeds()
    if dropped:  # the process that dropped them ended when their objects had been deleted
        install(session, without_classes(session.catalog, dropped))
    return keeper


def load(
    session: Session, file: File, catalog: Catalog, tables: dict[str, StoredTable], stage: Stage
) -> dict[str, Store]:
    """Returns the stores of all tables, with the rows that the file holds; objects are made, too."""
    of_classes = class_tables(catalog.schema)
    stores: dict[str, Store] = {}
    for key, table in catalog.tables.items():
        if key not in of_classes:
            stage(f"reading {table.name}")
            stores[key] = Store(table, catalog.table)
            put_rows(stores[key], tables[key].rows(file.connection))
    if catalog.schema.classes:
        rows = {k: list(chain.from_iterable(tables[k].rows(file.connection))) for k in of_classes}
        stage("making objects")
        load_objects(session, catalog, rows, file.state("identities"))
        for key in of_classes:
            stores[key] = session.new_store(catalog.tables[key], catalog)
    for index in catalog.indexes.values():
        store = stores[index.table.lower()]
        store.indexes.append(
            SecondaryIndex(index, positions(store.table, index.columns), store.contents().weights)
        )
    for key, store in stores.items():
        if key not in of_classes:
            _require_references(catalog.tables[key], store, stores)
    return stores


def put_rows(store: Store, parts: Iterable[list[Row]]) -> None:
    """Fills an empty store; refuses rows that break its declared keys."""
    table, count = store.table, 0
    for rows in parts:
        count += len(rows)
        if store.primary is not None:
            store.rows.update(zip(map(store.primary.key_of, rows), rows, strict=True))
        else:
            for row in rows:
                store.rows[row] = store.rows.get(row, 0) + 1
        for index in store.keys:
            keyed = index.select_keyed_rows(rows)
            before = len(index.rows)
            index.rows.update(zip(map(index.key_of, keyed), keyed, strict=True))
            if len(index.rows) != before + len(keyed):
                raise _constraint_error(table, index.constraint.name)
        for reference in store.references:
            counts, key_of = reference.counts, reference.key_of
            for row in rows:
                key = key_of(row)
                if not reference.has_null(key):
                    counts[key] = counts.get(key, 0) + 1
    if len(store) != count:
        raise _constraint_error(table, "PRIMARY KEY")


def _require_references(table: Table, store: Store, stores: dict[str, Store]) -> None:
    for reference in store.references:
        index = stores[reference.parent].declared[reference.place]
        if index is not None and not reference.counts.keys() <= set(index.rows):
            raise _constraint_error(table, reference.constraint.name)


def _constraint_error(table: Table, constraint: str) -> StorageError:
    return StorageError(
        f"{table.name}: the rows in the file break {constraint}",
        hint="the file was changed by another program; restore it from a backup",
    )


def _show_count(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"
