"""The handle of a table: its rows, and every way to change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table as Declaration
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, QueryError, UnsupportedError
from evercurrent.session.intake import rows_of
from evercurrent.session.pending import Change, Pending
from evercurrent.session.reading import Rows, signature
from evercurrent.session.rows import RowReader, give_row, is_row
from evercurrent.session.store import KeyIndex, positions, same_columns
from evercurrent.session.subscriptions import Callback, Subscription, When

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class Table(Rows):
    """A table of a database: `db.table("orders")`.

    Every call is a transaction of its own, or part of the open one. A call that raises has changed nothing.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.table(name).name

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
            if is_row(which) or isinstance(which, str | bytes) or not isinstance(which, Iterable):
                pending.change([(self._resolve(pending, which), -1)])
                return 1
            found = [(self._resolve(pending, one), -1) for one in which]
            pending.change(found)
            return len(found)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row, given by its key or whole: `orders.update({"id": 1}, total="12.00")`.

        Columns whose names are no Python identifiers go into a mapping: `orders.update(1, {"unit price": 3})`.
        """
        with self._session.changing() as transaction:
            pending = transaction.on(self._key)
            old = self._resolve(pending, which)
            new = self._reader.changed(old, {**(changes or {}), **columns})
            pending.change([(old, -1), (new, 1)])

    def replace(self, old: Any, new: Any) -> None:
        """Put the row `new` in the place of the row `old`, which is given by its key or whole."""
        with self._session.changing() as transaction:
            pending = transaction.on(self._key)
            pending.change([(self._resolve(pending, old), -1), (self._reader.one(new), 1)])

    def _resolve(self, pending: Pending, which: Any) -> Row:
        """The stored row that the user means."""
        index, key = self._key_of(which)
        if index is None:
            return self._reader.one(which)
        found = pending.find(index, key)
        if len(found) == 1:
            return found[0]
        columns = ", ".join(index.constraint.columns)
        if not found:
            raise ConstraintError(
                f"{self.name} has no row with {columns} = {which!r}", constraint="existing row", rows=[which]
            )
        raise ConstraintError(
            f"{self.name} has {len(found)} pending rows with {columns} = {which!r}",
            constraint=index.constraint.name,
            rows=[give_row(self.schema, row) for row in found],
            hint="give the whole row",
        )

    def _key_of(self, which: Any) -> tuple[KeyIndex | None, Any]:
        """The key that is meant and its value; (None, ...) if it is a whole row."""
        width = len(self.schema)
        if isinstance(which, Mapping):
            given = {self._reader.position(name): value for name, value in which.items()}
            if len(given) == width:
                return None, None
            names = [self.schema[i].name for i in given]
            index = self._store.index(names)
            if index is None:
                raise self._no_key(f"({', '.join(names)}) is no key of {self.name}")
            wanted = positions(self._declaration, index.constraint.columns)
            return index, self._key_value(wanted, [given[i] for i in wanted])
        if hasattr(which, "_fields") or (is_row(which) and not isinstance(which, tuple)):
            return None, None
        if isinstance(which, tuple) and len(which) == width:
            return None, None
        values = list(which) if isinstance(which, tuple) else [which]
        index = self._store.primary
        if index is None or len(index.constraint.columns) != len(values):
            raise self._no_key(f"{which!r} is neither a key nor a row of {self.name}")
        return index, self._key_value(positions(self._declaration, index.constraint.columns), values)

    def _key_value(self, wanted: tuple[int, ...], values: list[Any]) -> Any:
        read = [self._reader.value(i, value) for i, value in zip(wanted, values, strict=True)]
        return read[0] if len(read) == 1 else tuple(read)

    def _no_key(self, message: str) -> QueryError:
        keys = [f"({', '.join(u.columns)})" for u in self._declared_keys()]
        hint = f"its keys are {', '.join(keys)}" if keys else "it has no key: give the whole row"
        return QueryError(message, hint=hint)

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, key: Any, default: Any = None, *, pending: bool = False) -> Any:
        """The row with this key (a mapping, or the value of the primary key), or the default."""
        with self._session.lock:
            index, value = self._key_of(key)
            if index is None:
                raise self._no_key(f"{key!r} is a whole row, not a key")
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
            if pending and transaction is not None and self._key in transaction.pending:
                return iter(list(transaction.pending[self._key]))
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
    def _key(self) -> str:
        return self.name.lower()

    @property
    def _declaration(self) -> Declaration:
        return self._session.table(self.name)

    @property
    def _store(self) -> Any:
        self._session.table(self.name)  # says so if it was dropped
        return self._session.stores[self._key]

    @property
    def _reader(self) -> RowReader:
        self._session.table(self.name)
        return self._session.readers[self._key]

    def _declared_keys(self) -> list[Any]:
        declaration = self._declaration
        return ([declaration.primary_key] if declaration.primary_key else []) + list(declaration.unique)

    def _title(self) -> str:
        return self.name

    def __repr__(self) -> str:
        count = f"{len(self)} rows" if self._declaration.stored else "not stored"
        return f"<Table {self.name}({signature(self.schema)}): {count}>"
