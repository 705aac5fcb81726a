"""The handle of a table in a database inside this process: how its rows are found and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.errors import UnsupportedError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.locate import key_of, locate, no_key
from evercurrent.rows.readable import signature
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.session.transactions import Block
from evercurrent.statements.handles import NO_VERSIONS, Table, refuse_in_process

if TYPE_CHECKING:
    from evercurrent.session.session import Session
    from evercurrent.statements.target import Changes


class SessionTable(Table):
    """A table inside this process."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.table(name).name

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        if since is not None:
            refuse_in_process("subscribe(since=...)", NO_VERSIONS)
        return self._session.subscribe(self._declaration.name, callback, when)

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
