"""CREATE INDEX and DROP INDEX in a database inside this process.

    create_index(session, Index("by_customer", "orders", ("customer",)), quietly=False)
    EXPLAIN DELETE FROM orders WHERE customer = 9        orders: index by_customer (customer = ?)

An index is filled from the rows of its table, and from then on changed with them by every commit.
"""

from __future__ import annotations

from evercurrent.catalog.lookup import refuse_class_table, unknown
from evercurrent.catalog.nodes import Index
from evercurrent.catalog.rules import positions
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.secondary_index import SecondaryIndex
from evercurrent.session.installation import defining, install
from evercurrent.session.session import Session


def create_index(session: Session, index: Index, *, quietly: bool) -> None:
    """CREATE INDEX [IF NOT EXISTS]."""
    with defining(session):
        if index.name.lower() in session.catalog.indexes:
            if quietly:
                return
            known = session.catalog.indexes[index.name.lower()]
            raise QueryError(f"there is already an index {known.name}", hint="DROP INDEX drops it")
        table = session.table(index.table)
        refuse_class_table(session.catalog, table.name)
        if not table.stored:
            raise UnsupportedError(f"{table.name} is not stored: it has no rows that an index could find")
        store = session.stores[table.name.lower()]
        made = SecondaryIndex(index, positions(table, index.columns), store.contents().weights)
        # One with this name can only be left over from an interrupt.
        store.indexes = [i for i in store.indexes if i.name.lower() != index.name.lower()] + [made]
        install(session, session.catalog.with_index(index))


def drop_index(session: Session, name: str, *, quietly: bool) -> None:
    """DROP INDEX [IF EXISTS]."""
    with defining(session):
        found = session.catalog.indexes.get(name.lower())
        if found is None:
            if quietly:
                return
            raise unknown("index", name, [i.name for i in session.catalog.indexes.values()])
        install(session, session.catalog.without_index(name))
        store = session.stores[found.table.lower()]
        store.indexes = [i for i in store.indexes if i.name.lower() != name.lower()]
