"""The trusted fast path into a table: the engine's compiled functions themselves.

    insert = db.feed("orders").insert; insert((1, 7, 950))      every view is updated, nothing is validated

`insert(row)` and `delete(row)` take a row as the engine represents it (`data.values`: a tuple in column order, decimals as
scaled integers, timestamps as naive UTC, arrays and structs as tuples), validate nothing, and belong to no transaction: each
call updates every view at once. A row that breaks a constraint, or is deleted without being there, leaves the database wrong. So
does an interrupt inside a call for a table that is not stored; for a stored one, the views are rebuilt from the tables.

Where someone watches the table's views (subscribers, assertions, views that are recomputed in full) there is work that the
compiled functions do not do: then each call is an ordinary transaction, with all its checks. For a stored table the rows are
kept too. `insert` and `delete` change when views or subscriptions do: take them from the feed again after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evercurrent.catalog.dependencies import base_tables
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError, TransactionError
from evercurrent.rows.store import Store
from evercurrent.session.blame import blame
from evercurrent.term.functions.numbers.bounds import OutOfBounds

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Trigger = Callable[[Row], object]


class Feed:
    """What `db.feed(table)` returns. `fast` says whether the functions are the compiled ones."""

    __slots__ = ("__weakref__", "_session", "delete", "fast", "insert", "table", "triggers")

    insert: Trigger
    delete: Trigger

    def __init__(self, session: Session, table: str) -> None:
        self._session = session
        self.table = session.table(table).name
        self.fast = False
        self.triggers: tuple[Trigger, Trigger, Trigger] = (self._refuse_outdated,) * 3  # at the sign: 1 or -1
        self.refresh()
        session.feeds.add(self)

    def refresh(self) -> None:
        """Take the functions that fit the views and subscriptions of now."""
        session = self._session
        with session.lock:
            self.triggers = (self._refuse_outdated,) * 3
            if session.catalog.table(self.table) is None:
                self.fast, self.insert, self.delete = False, self._refuse_dropped, self._refuse_dropped
                return
            kept = session.stores[self.table.lower()]
            # The table of a class keeps no rows of its own: a change of a row is one of an object.
            self.fast = not is_watched(session, self.table) and kept.stored == kept.table.stored
            if not self.fast:
                self.insert, self.delete = self._by_transaction(1), self._by_transaction(-1)
                return
            store = session.stores[self.table.lower()]
            trigger = session.maintenance.trigger
            insert, delete = trigger(self.table, 1), trigger(self.table, -1)
            self.triggers = (self._refuse_outdated, insert, delete)
            if store.table.stored:
                insert, delete = _store_and_trigger(self, store, 1), _store_and_trigger(self, store, -1)
            self.insert, self.delete = insert, delete
            if not store.table.stored:
                session.forwarded.add(self.table.lower())

    def _by_transaction(self, weight: int) -> Trigger:
        def change(row: Row) -> None:
            with self._session.changing() as transaction:
                transaction.on(self.table.lower()).change([(row, weight)])

        return change

    def _refuse_dropped(self, row: Row) -> None:
        raise TransactionError(f"the table {self.table} was dropped")

    def _refuse_outdated(self, row: Row) -> None:
        raise TransactionError(
            f"views or subscriptions of {self.table} have changed: the function is outdated",
            hint="take `insert` or `delete` from the feed again",
        )

    def widen(self, amount: str) -> None:
        """Has an amount computed row by row, and the states that a compiled function may have left halfway rebuilt."""
        session = self._session
        session.maintenance.torn = True
        with session.lock:  # rebuilds
            session.maintenance.widen(amount, session.table_rows)
            session.refresh_feeds()

    def tear(self) -> None:
        """Has everything rebuilt before it is read again: a compiled function was stopped halfway."""
        self._session.maintenance.torn = True

    def blame(self, error: EvaluationError, row: Row) -> EvaluationError:
        """Returns the error with the view, the expression and the row."""
        return blame(self._session.scene(), error, {self.table: ZSet({row: 1})})

    def __repr__(self) -> str:
        return f"<Feed of {self.table}, {'compiled' if self.fast else 'by transactions'}>"


def is_watched(session: Session, table: str) -> bool:
    """Whether somebody must be notified of a change of the table."""
    catalog, key = session.catalog, table.lower()
    if session.keeper is not None:
        return True
    watched = session.subscribers.watched | set(session.maintenance.design.recomputed)
    names = {name.lower() for name in watched}
    return (
        key in names
        or any(v in names and key in base_tables(catalog, frozenset({v})) for v in catalog.views)
        or any(key in base_tables(catalog, a.uses) for a in catalog.assertions.values())
    )


def _store_and_trigger(feed: Feed, store: Store, weight: int) -> Trigger:
    """The trigger, and the store beside it; if the trigger is stopped, the row is not stored and the views are rebuilt.

    The trigger is read from the feed: the program may be compiled again between two calls.
    """
    store.pin()
    primary, keys, references = store.primary, store.keys, store.references
    rows = store.rows

    def change(row: Row) -> None:
        try:
            feed.triggers[weight](row)
        except OutOfBounds as found:
            feed.widen(found.amount)
            return change(row)
        except EvaluationError as error:
            feed.tear()
            raise feed.blame(error, row) from error
        except BaseException:
            feed.tear()
            raise
        if primary is None:
            _count(rows, row, weight)
        elif weight > 0:
            rows[primary.key_of(row)] = row
        else:
            rows.pop(primary.key_of(row), None)
        for index in keys:
            key = index.key_of(row)
            if not index.has_null(key):
                if weight > 0:
                    index.rows[key] = row
                else:
                    index.rows.pop(key, None)
        for reference in references:
            key = reference.key_of(row)
            if not reference.has_null(key):
                _count(reference.counts, key, weight)
        for secondary in store.indexes:
            if weight > 0:
                secondary.put(row)
            elif primary is not None or row not in rows:
                secondary.remove(row)

    return change


def _count(counts: dict[object, int], key: object, weight: int) -> None:
    total = counts.get(key, 0) + weight
    if total:
        counts[key] = total
    else:
        counts.pop(key, None)
