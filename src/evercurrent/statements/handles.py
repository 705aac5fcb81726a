"""The handles of tables and views that users hold: the same methods on every database.

    db.table("orders").update(1, total="12.00")      locate the row with key 1, delete it, insert the changed one
    db.view("spend").rows()                          the rows, in the order of the view's ORDER BY

A database adds how rows are found and read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn

from evercurrent.catalog.nodes import Mode
from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.catalog.nodes import View as ViewNode
from evercurrent.data.showing import show_value
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.awaiting import BUFFER, ChangeStream
from evercurrent.rows.conversion import RowReader, is_many
from evercurrent.rows.readable import Rows, signature
from evercurrent.rows.readers import rows_of
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.statements.options import Policy

if TYPE_CHECKING:
    from evercurrent.design.explain import Explanation
    from evercurrent.design.why import Why
    from evercurrent.statements.target import Changes


def refuse_in_process(what: str, why: str) -> NoReturn:
    """Raises the error of what only a database on Spark can do."""
    raise UnsupportedError(
        f"{what} needs a database on Spark: {why}", hint="ec.connect(spark=spark, path=...) opens one"
    )


NO_VERSIONS = "one inside this process keeps no earlier versions"
NO_SPARK = "one inside this process has no Spark session"


class Handle(Rows):
    """A table or view, by its name."""

    name: str

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        """Call `callback(change)` once for each transaction that changes this, in the order of transactions.

        `change.inserted` and `change.deleted` are lists of rows, the minimal change; `change.transaction` is the number of the
        transaction (on Spark: the version). With `when="before"` the callback is part of the transaction: it reads the state that
        is about to be committed, it cannot change anything, and if it raises everything is undone. With `when="after"` the
        transaction stands whatever the callback does; what it changes itself is the next transaction. `since` (in a file, or on
        Spark): begin with what has changed after that version, from the log.
        """
        raise NotImplementedError

    def dataframe(self, *, version: int | None = None) -> Any:
        """The rows as a Spark DataFrame: of the present version, or of an earlier one that is still kept."""
        refuse_in_process("dataframe()", NO_SPARK)

    def changes(self, *, since: int | None = None, buffer: int = BUFFER) -> Any:
        """The changes from now on, for asyncio: `async for change in view.changes(): ...`.

        `buffer` changes may wait for the reader. If one more comes, the stream ends: it yields what waits, and raises `LimitError`.
        With `since`, what has changed after a version, with columns `_change_type` and `_commit_version`: in a file a `Result`, on Spark a
        DataFrame.
        """
        if since is not None:
            return self._changes_since(since)
        return ChangeStream(self.name, self.subscribe, buffer)

    def _changes_since(self, since: int) -> Any:
        refuse_in_process("changes(since=...)", NO_VERSIONS)

    def __bool__(self) -> bool:
        """A handle is always true; `len()` says whether there are rows."""
        return True

    def _title(self) -> str:
        return self.name


class Table(Handle):
    """A table of a database: `db.table("orders")`.

    Every call is a transaction of its own, or part of the open one. A call that raises has changed nothing.
    """

    # --- changing ------------------------------------------------------------------------------------------

    def insert(self, rows: Any) -> int:
        """Insert a row, or many; returns how many.

        A row is a mapping (columns left out get their default, or NULL), a tuple in column order, a NamedTuple or a
        dataclass. A list or other iterable of rows is many; so is an Arrow table or a pandas frame.
        """
        with self._changing() as transaction:
            read = rows_of(self._reader, rows)
            transaction.change(self._key, [(row, 1) for row in read])
            return len(read)

    def delete(self, which: Any) -> int:
        """Delete a row, or many; returns how many.

        A row is given by its key (a mapping of the key's columns, or the bare value of a key of one column) or whole;
        one occurrence of it is deleted. A row that is not there is an error.
        """
        with self._changing() as transaction:
            found = self._locate(transaction, list(which) if is_many(which) else [which])
            transaction.change(self._key, [(row, -1) for row in found])
            return len(found)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row, given by its key or whole: `orders.update({"id": 1}, total="12.00")`.

        Columns whose names are no Python identifiers go into a mapping: `orders.update(1, {"unit price": 3})`.
        """
        with self._changing() as transaction:
            if changes is not None and not isinstance(changes, Mapping):
                raise QueryError(
                    f"update takes the columns to change, not {show_value(changes)}",
                    hint="table.update(key, {'column': value}); table.replace(old, new) replaces a row",
                )
            (old,) = self._locate(transaction, [which])
            new = self._reader.replace_columns(old, {**(changes or {}), **columns})
            transaction.change(self._key, [(old, -1), (new, 1)])

    def upsert(self, rows: Any, *, key: str | Sequence[str] = ()) -> int:
        """Insert rows; one whose key is there already replaces that row. Returns how many.

        `key` are the columns of the key that is meant, by default the primary key. Rows are as for `insert`; of a mapping only the
        columns that it has are changed.
        """
        from evercurrent.statements.upsert import upsert

        with self._changing() as transaction:
            return upsert(
                transaction, self._declaration, self._reader, rows, (key,) if isinstance(key, str) else key
            )

    def replace(self, old: Any, new: Any) -> None:
        """Put the row `new` in the place of the row `old`, which is given by its key or whole."""
        with self._changing() as transaction:
            (found,) = self._locate(transaction, [old])
            transaction.change(self._key, [(found, -1), (self._reader.one(new), 1)])

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, key: Any, default: Any = None, *, pending: bool = False) -> Any:
        """The row with this key (a mapping, or the value of the primary key), or the default."""
        found = self._find(key, pending)
        return default if found is None else self._reader.write(found)

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._declaration.fields

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key; none, if it has none."""
        key = self._declaration.primary_key
        return key.columns if key is not None else ()

    # --- of each database -----------------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return self.name.lower()

    @property
    @abstractmethod
    def _declaration(self) -> TableNode: ...

    @property
    @abstractmethod
    def _reader(self) -> RowReader: ...

    @abstractmethod
    def _changing(self) -> AbstractContextManager[Any]:
        """Returns the transaction for one call."""

    @abstractmethod
    def _locate(self, transaction: Changes, which: list[Any]) -> list[Row]:
        """Returns the rows that are meant, each by a key or whole."""

    @abstractmethod
    def _find(self, key: Any, pending: bool) -> Row | None:
        """Returns the row with a key."""


class View(Handle):
    """A view of a database: `db.view("spend")`. It is always what its query would return on the committed data."""

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._declaration.fields

    @property
    def text(self) -> str:
        """The definition, as it was written."""
        return self._declaration.text

    @property
    def policy(self) -> Policy:
        """How the view is kept: `incremental`, `auto` or `full`."""
        return self._declaration.policy

    @property
    def mode(self) -> Mode:
        """When the view is updated: `strict`, `lazy` or `hybrid`."""
        return self._declaration.mode

    def value(self, *, pending: bool = False) -> Any:
        """The value of a view that was defined in OQL: a scalar, `Record`, `Bag`, `Set`, list or object, nested to any depth."""
        raise NotImplementedError

    def explain(self, stage: str | None = None, *, changes: Mapping[str, int] | None = None) -> Explanation:
        """How the view is kept, as text; a `stage` shows one step of its way.

        `calculus` (the query as it was understood), `normal` (normalised), `algebra` (all nesting removed), `optimised`,
        `program` (what is kept and what each change does to it), `source` (the Python that runs, in process). Without a stage: a
        summary, with the states, why they are kept, and how large they are now. On Spark it says besides what a batch with so
        many changed rows of each table, `changes={"orders": 100}`, would do and cost.
        """
        raise NotImplementedError

    def why(self, *row: Any) -> Why:
        """The rows of tables that a row of the view comes from, looking through the views that it reads.

        `row` is a whole row: a tuple as `rows()` returns it, or a mapping. Of a view in OQL it is an element, as `value()` has
        it; without one, the whole value is explained. The result prints itself; it is a mapping from the name of a table to
        its rows, and `objects` are the objects among them.
        """
        raise NotImplementedError

    def source(self) -> str:
        """The Python source that keeps the view, in process."""
        return str(self.explain("source"))

    @property
    @abstractmethod
    def _declaration(self) -> ViewNode: ...

    @abstractmethod
    def _internal(self, pending: bool = False) -> Iterator[Row]: ...

    def __repr__(self) -> str:
        return f"<View {self.name}({signature(self.schema)}): {count_text(len(self))}>"
