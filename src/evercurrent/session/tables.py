"""The handle of a table in a database inside this process: how its rows are found and read.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
>>> t = db.table("t")
>>> t.insert((1, 10)), t.update(1, n=11), t.rows(), t.delete(1), len(t)
(1, None, [(1, 11)], 1, 0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.errors import UnsupportedError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.locate import key_of, locate, no_key
from evercurrent.rows.readable import signature
from evercurrent.rows.readers import rows_of
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.session.bulk import take_columns
from evercurrent.session.keeping import require_keeper
from evercurrent.session.plans.joined_calls import get_given, insert_joined
from evercurrent.session.plans.small_calls import KEYS
from evercurrent.session.plans.small_changes import SmallChanges, small_change
from evercurrent.session.transactions import Block
from evercurrent.statements.handles import Table

if TYPE_CHECKING:
    from evercurrent.session.session import Session
    from evercurrent.statements.target import Changes


PLAIN = frozenset((tuple, dict, list))
"""Classes of rows that are no columns."""


class SessionTable(Table):
    """A table inside this process."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.table(name).name
        self._table = self.name.lower()

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        return self._session.subscribe(self._declaration.name, callback, when, since)

    def _changes_since(self, since: int) -> Any:
        with self._session.lock:
            return require_keeper(self._session.keeper, "changes(since=...)").changes(
                self._declaration, since
            )

    # --- one row, the short way ----------------------------------------------------------------------------

    def insert(self, rows: Any) -> int:
        session = self._session
        if type(rows) is not tuple and type(rows) is not dict:
            pass
        elif session.transaction is not None:
            if insert_joined(session, self._table)(rows):
                return 1
        else:
            small = session.small.get(self._table)
            if small is not None and small.insert_given(rows):
                return 1
            made = self._renew(small)
            if made is not None and made.insert_given(rows):
                return 1
        with self._changing() as transaction:
            if type(rows) in PLAIN:
                return self._insert(transaction, rows)
            work = take_columns(
                session, transaction, {self._key: rows}, False, lambda: self._insert(transaction, rows)
            )
            return (
                self._insert(transaction, rows) if work is None else work.changes[self._key].inserted.num_rows
            )

    def delete(self, which: Any) -> int:
        session = self._session
        if session.transaction is None and type(which) in KEYS:
            small = session.small.get(self._table)
            if small is not None and small.delete_given(which):
                return 1
            made = self._renew(small)
            if made is not None and made.delete_given(which):
                return 1
        return super().delete(which)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        session = self._session
        if session.transaction is None and type(which) in KEYS and (changes is None or type(changes) is dict):
            given = {**changes, **columns} if changes else columns
            small = session.small.get(self._table)
            if small is not None and small.updates[(*given,)](which, given):
                return
            made = self._renew(small)
            if made is not None and made.updates[(*given,)](which, given):
                return
        super().update(which, changes, **columns)

    def get(self, key: Any, default: Any = None, *, pending: bool = False) -> Any:
        if not pending:
            found = get_given(self._session, self._table)(key)
            if found is not False:
                return default if found is None else found
        return super().get(key, default, pending=pending)

    def _renew(self, small: SmallChanges | None) -> SmallChanges | None:
        """The functions that fit the database as it is now, if these are others."""
        with self._session.lock:
            made = small_change(self._session, self._table)
        return None if made is small else made

    def _insert(self, transaction: Any, rows: Any) -> int:
        read = rows_of(self._reader, rows)
        transaction.change(self._key, [(row, 1) for row in read])
        return len(read)

    def _changing(self) -> Block:
        return self._session.changing()

    def _locate(self, transaction: Changes, which: list[Any]) -> list[Row]:
        pending = transaction.on(self._key)
        return [locate(pending, self._reader, one) for one in which]

    def _find(self, key: Any, pending: bool) -> Row | None:
        with self._session.lock:
            meant = key_of(self._store, self._reader, key)
            if meant is None:
                raise no_key(self._store, f"{show_value(key)} is a whole row, not a key")
            index, value = meant
            transaction = self._session.transaction
            if pending and transaction is not None:
                return next(iter(transaction.on(self._key).find(index, value)), None)
            return index.rows.get(value)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        self._require_stored()
        with self._session.lock:
            transaction = self._session.transaction
            changed = transaction.pending_change(self._key) if pending and transaction is not None else None
            return iter(list(self._store if changed is None else changed))

    def __len__(self) -> int:
        self._require_stored()
        return len(self._store)

    def _require_stored(self) -> None:
        if not self._declaration.stored:
            raise UnsupportedError(
                f"{self.name} is not stored: it only forwards its changes, so its rows cannot be read",
                hint="create the table as a stored one to read it",
            )

    @property
    def _declaration(self) -> TableNode:
        return self._session.table(self.name)

    @property
    def _store(self) -> Store:
        self._session.table(self.name)  # raises if it was dropped
        return self._session.stores[self._key]

    @property
    def _reader(self) -> RowReader:
        found = self._session.readers.get(self._key)
        if found is None:
            self._session.table(self.name)  # raises: it was dropped
            raise AssertionError(self.name)
        return found

    def __repr__(self) -> str:
        count = count_text(len(self)) if self._declaration.stored else "not stored"
        return f"<Table {self.name}({signature(self.schema)}): {count}>"
