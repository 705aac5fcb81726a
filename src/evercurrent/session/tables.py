"""The handle of a table: its rows, and every way to change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table as Declaration
from evercurrent.data.showing import show_value
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.conversion import RowReader, give_row, is_many
from evercurrent.rows.locate import key_of, locate, no_key
from evercurrent.rows.readable import Rows, signature
from evercurrent.rows.readers import rows_of
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Callback, Subscription, When

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class Table(Rows):
    """A table of a database: `db.table("orders")`.

    Every call is a transaction of its own, or part of the open one. A call that raises has changed nothing.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.table(name).name
        self._key = self.name.lower()

    # --- changing ------------------------------------------------------------------------------------------

    def insert(self, rows: Any) -> int:
        """Insert a row, or many; returns how many.

        A row is a mapping (columns left out get their default, or NULL), a tuple in column order, a NamedTuple or a
        dataclass. A list or other iterable of rows is many; so is an Arrow table or a pandas frame.
        """
        with self._session.changing() as transaction:
            read = rows_of(self._reader, rows)
            transaction.on(self._key).change([(row, 1) for row in read])
            return len(read)

    def delete(self, which: Any) -> int:
        """Delete a row, or many; returns how many.

        A row is given by its key (a mapping of the key's columns, or the bare value of a key of one column) or whole;
        one occurrence of it goes. A row that is not there is an error.
        """
        with self._session.changing() as transaction:
            pending = transaction.on(self._key)
            if not is_many(which):
                pending.change([(locate(pending, self._reader, which), -1)])
                return 1
            found = [(locate(pending, self._reader, one), -1) for one in which]
            pending.change(found)
            return len(found)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row, given by its key or whole: `orders.update({"id": 1}, total="12.00")`.

        Columns whose names are no Python identifiers go into a mapping: `orders.update(1, {"unit price": 3})`.
        """
        with self._session.changing() as transaction:
            pending = transaction.on(self._key)
            if changes is not None and not isinstance(changes, Mapping):
                raise QueryError(
                    f"update takes the columns to change, not {show_value(changes)}",
                    hint="table.update(key, {'column': value}); table.replace(old, new) replaces a row",
                )
            old = locate(pending, self._reader, which)
            new = self._reader.replace_columns(old, {**(changes or {}), **columns})
            pending.change([(old, -1), (new, 1)])

    def replace(self, old: Any, new: Any) -> None:
        """Put the row `new` in the place of the row `old`, which is given by its key or whole."""
        with self._session.changing() as transaction:
            pending = transaction.on(self._key)
            pending.change([(locate(pending, self._reader, old), -1), (self._reader.one(new), 1)])

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, key: Any, default: Any = None, *, pending: bool = False) -> Any:
        """The row with this key (a mapping, or the value of the primary key), or the default."""
        with self._session.lock:
            meant = key_of(self._store, self._reader, key)
            if meant is None:
                raise no_key(self._store, f"{show_value(key)} is a whole row, not a key")
            index, value = meant
            transaction = self._session.transaction
            if pending and transaction is not None:
                found = transaction.on(self._key).find(index, value)
            else:
                found = [index.rows[value]] if value in index.rows else []
            return give_row(self.schema, found[0]) if found else default

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        self._require_stored()
        with self._session.lock:
            transaction = self._session.transaction
            changed = transaction.pending_change(self._key) if pending and transaction is not None else None
            if changed is not None:
                return iter(list(changed))
            return iter(list(self._store))

    def __len__(self) -> int:
        self._require_stored()
        return len(self._store)

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._declaration.fields

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key; none, if it has none."""
        key = self._declaration.primary_key
        return key.columns if key is not None else ()

    def subscribe(self, callback: Callback, *, when: When = "after") -> Subscription:
        """Call `callback(change)` once for each transaction that changes the table; see `View.subscribe`."""
        return self._session.subscribe(self.name, callback, when)

    # --- within ---------------------------------------------------------------------------------------------

    def _require_stored(self) -> None:
        if not self._declaration.stored:
            raise UnsupportedError(
                f"{self.name} is not stored: it only forwards its changes, so its rows cannot be read",
                hint="create the table as a stored one to read it",
            )

    @property
    def _declaration(self) -> Declaration:
        return self._session.table(self.name)

    @property
    def _store(self) -> Store:
        self._session.table(self.name)  # says so if it was dropped
        return self._session.stores[self._key]

    @property
    def _reader(self) -> RowReader:
        found = self._session.readers.get(self._key)
        if found is None:
            self._session.table(self.name)  # says so: it was dropped
            raise AssertionError(self.name)
        return found

    def __bool__(self) -> bool:
        """A handle is always true; `len()` says whether there are rows."""
        return True

    def _title(self) -> str:
        return self.name

    def __repr__(self) -> str:
        count = count_text(len(self)) if self._declaration.stored else "not stored"
        return f"<Table {self.name}({signature(self.schema)}): {count}>"
