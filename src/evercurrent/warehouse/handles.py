"""The handles of tables and views on a warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.calculus.nodes import Relation
from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.catalog.nodes import View as ViewNode
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.engine.spark.storage.delta_tables import table_of
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import changes_frame, user_frame
from evercurrent.errors import QueryError
from evercurrent.oql_views.changes import relations_of_view
from evercurrent.rows.conversion import give_row, is_row
from evercurrent.rows.locate import key_of, locate, no_key
from evercurrent.rows.readable import Rows, signature
from evercurrent.rows.readers import rows_of
from evercurrent.rows.store import positions
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.session.views import in_order
from evercurrent.warehouse.deferred.catch_up import current, rows_at
from evercurrent.warehouse.history import change_segments
from evercurrent.warehouse.maintenance.notifications import feed_name, subscribe

if TYPE_CHECKING:
    from evercurrent.design.explain import Explanation
    from evercurrent.design.why import Why
    from evercurrent.engine.spark.storage.file_schema import Frame
    from evercurrent.warehouse.changes.transactions import Transaction
    from evercurrent.warehouse.database import Warehouse


class Stored(Rows):
    """Rows that lie in a store, at the present version or an earlier one."""

    name: str

    def __init__(self, db: Warehouse) -> None:
        self._db = db

    def _segments(self, version: int | None = None) -> Store:
        raise AssertionError

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        core = self._db._core
        with core.lock:
            types = [f.type for f in self.schema]
            entries = core.engine.rows(self._segments(), types)
            return iter([row for row, weight in entries for _ in range(weight)])

    def __len__(self) -> int:
        return sum(1 for _ in self._internal())

    def __bool__(self) -> bool:
        """A handle is always true; `len()` says whether there are rows."""
        return True

    def dataframe(self, *, version: int | None = None) -> Frame:
        """The rows as a Spark DataFrame: of the present version, or of an earlier one that is still kept."""
        core = self._db._core
        with core.lock:
            types = [f.type for f in self.schema]
            frame = core.engine.frame(self._segments(version), types)
            return user_frame(core.engine.session, frame, self.schema)

    def _changes(self, name: str, since: int) -> Frame:
        core = self._db._core
        with core.lock:
            segments = change_segments(self._db._core, name, since)
            return changes_frame(core.engine.session, core.engine.folder, segments, self.schema)

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        """Call `callback(change)` once for each version that changes this, in the order of versions.

        `change.inserted` and `change.deleted` are lists of rows, the minimal change; `change.transaction` is the version.
        With `when="before"` the callback is part of the batch: it reads the version that is about to be committed, it
        cannot change anything, and if it raises nothing is committed. With `when="after"` the version stands whatever
        the callback does. `since`: begin with what has changed after that version, from the log.
        """
        core = self._db._core
        with core.lock:
            for relation in relations_of_view(core.catalog, self.name):
                current(core, relation)  # what has waited until now is not told
            past = None if since is None else self._past(since)
            return subscribe(core, self.name, callback, when, past)

    def _past(self, since: int) -> dict[int, dict[str, Segment]]:
        """What the versions after one list of this, and of the parts that it is kept in."""
        core = self._db._core
        found: dict[int, dict[str, Segment]] = {}
        for relation in relations_of_view(core.catalog, self.name):
            feed = feed_name(core, relation)
            for version, segment in change_segments(self._db._core, feed, since):
                found.setdefault(version, {})[feed] = segment
        return found

    def _title(self) -> str:
        return self.name


class Table(Stored):
    """A table of a warehouse: `db.table("orders")`. Every call is a transaction of its own, or part of the open one."""

    def __init__(self, db: Warehouse, name: str) -> None:
        super().__init__(db)
        self.name = db._core.table(name).name

    @property
    def _node(self) -> TableNode:
        return self._db._core.table(self.name)

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._node.fields

    @property
    def primary_key(self) -> tuple[str, ...]:
        key = self._node.primary_key
        return key.columns if key is not None else ()

    def _segments(self, version: int | None = None) -> Store:
        core = self._db._core
        snapshot = None if version is None else core.engine.log.snapshot(version)
        return core.table_segments(self.name, snapshot)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        transaction = self._db._transaction
        rows = super()._internal()
        if not pending or transaction is None or self._key not in transaction.pending:
            return rows
        from evercurrent.data.zset import ZSet

        return iter(list((ZSet.of(rows) + transaction.pending[self._key].delta).inserted()))

    def changes(self, *, since: int) -> Frame:
        """What has changed after a version, as a DataFrame with `_change_type` and `_commit_version`."""
        return self._changes(table_store(self.name), since)

    @property
    def _key(self) -> str:
        return self.name.lower()

    # --- changing ------------------------------------------------------------------------------------------

    def insert(self, rows: Any) -> int:
        """Insert a row, or many (an iterable, an Arrow table, a pandas frame); returns how many."""
        with self._db.transaction() as transaction:
            read = rows_of(self._db._core.readers[self._key], rows)
            transaction.change(self._key, [(row, 1) for row in read])
            return len(read)

    def delete(self, which: Any) -> int:
        """Delete a row, or many, each given by its key or whole; returns how many."""
        with self._db.transaction() as transaction:
            one = is_row(which) or isinstance(which, str | bytes) or not isinstance(which, Iterable)
            rows = locate_all(self._db, transaction, self._key, [which] if one else which)
            found = [(row, -1) for row in rows]
            transaction.change(self._key, found)
            return len(found)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row, given by its key or whole."""
        with self._db.transaction() as transaction:
            old = self._locate(transaction, which)
            new = self._db._core.readers[self._key].replace_columns(old, {**(changes or {}), **columns})
            transaction.change(self._key, [(old, -1), (new, 1)])

    def replace(self, old: Any, new: Any) -> None:
        """Put the row `new` in the place of the row `old`, which is given by its key or whole."""
        with self._db.transaction() as transaction:
            reader = self._db._core.readers[self._key]
            transaction.change(self._key, [(self._locate(transaction, old), -1), (reader.one(new), 1)])

    def get(self, key: Any, default: Any = None) -> Any:
        """The row with this key (a mapping, or the value of the primary key), or the default."""
        with self._db.transaction() as transaction:
            store = transaction.partial.stores[self._key]
            meant = key_of(store, self._db._core.readers[self._key], key)
            if meant is None:
                raise no_key(store, f"{key!r} is a whole row, not a key")
            index, value = meant
            self._load(transaction, index.constraint.columns, value)
            found = index.rows.get(value)
            return default if found is None else give_row(self.schema, found)

    def _locate(self, transaction: Transaction, which: Any) -> Row:
        return locate_all(self._db, transaction, self._key, [which])[0]

    def _load(self, transaction: Transaction, columns: tuple[str, ...], value: Any) -> None:
        key = value if len(columns) > 1 else (value,)
        transaction.load_key(self._key, positions(self._node, columns), key)

    def __repr__(self) -> str:
        return f"<Table {self.name}({signature(self.schema)}) of {self._db!r}>"


def locate_all(db: Warehouse, transaction: Transaction, table: str, which: Iterable[Any]) -> list[Row]:
    """The rows that are meant, each by a key or whole; what is stored under the keys is read at once."""
    which = list(which)
    reader = db._core.readers[table]
    pending = transaction.on(table)
    names = {f.name for f in db._core.catalog.tables[table].fields}
    if all(type(one) is dict and one.keys() == names for one in which):
        return reader.many(which)  # whole rows, as change feeds have them
    keys: dict[tuple[str, ...], set[Row]] = {}
    for one in which:
        meant = key_of(pending.store, reader, one)
        if meant is not None:
            index, value = meant
            columns = index.constraint.columns
            keys.setdefault(columns, set()).add(value if len(columns) > 1 else (value,))
    for columns, wanted in keys.items():
        transaction.partial.load(table, positions(db._core.catalog.tables[table], columns), wanted)
    return [locate(pending, reader, one) for one in which]


class View(Stored):
    """A view of a warehouse: `db.view("spend")`."""

    def __init__(self, db: Warehouse, name: str) -> None:
        super().__init__(db)
        self.name = db._core.view(name).name

    @property
    def _node(self) -> ViewNode:
        return self._db._core.view(self.name)

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._node.fields

    @property
    def text(self) -> str:
        """The definition, as it was written."""
        return self._node.text

    @property
    def policy(self) -> str:
        return self._node.policy

    @property
    def mode(self) -> str:
        """`strict`, `lazy` or `hybrid`."""
        return self._node.mode

    def _segments(self, version: int | None = None) -> Store:
        core = self._db._core
        self._require_kept("its rows at a version" if version is not None else "its segments")
        if version is None:
            return core.view_segments(self.name)
        snapshot = core.engine.log.snapshot(version)
        texts = {d["name"].lower(): d["text"] for d in snapshot.definitions if d["kind"] == "view"}
        present = {d["name"].lower(): d["text"] for d in core.snapshot.definitions if d["kind"] == "view"}
        if texts.get(self.name.lower()) != present.get(self.name.lower()):
            raise QueryError(f"at version {version} there was no view {self.name} of this definition")
        return rows_at(core, self.name, version, snapshot)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        return iter(in_order(list(self._rows()), self.schema, self._node.order))

    def _rows(self) -> Iterator[Row]:
        if not self._node.inline:
            return super()._internal()
        from evercurrent.warehouse.queries import answer

        core = self._db._core
        with core.lock:
            found = answer(core, Relation(self.name, self.schema))
        return iter([row for row, weight in found for _ in range(weight)])

    def _require_kept(self, what: str) -> None:
        if self._node.inline:
            raise QueryError(
                f"{self.name} is kept in its parts only, so {what} cannot be read",
                hint=f"db.publish({self.name!r}) keeps it with arrays too; subscribe() tells what changes inside",
            )

    def dataframe(self, *, version: int | None = None) -> Frame:
        """The rows as a Spark DataFrame: of the present version, or of an earlier one that is still kept."""
        if version is not None or not self._node.inline:
            return super().dataframe(version=version)
        session = self._db._core.engine.session
        return session.createDataFrame(table_of(self.schema, list(self._rows())))

    def changes(self, *, since: int) -> Frame:
        """What has changed after a version, as a DataFrame with `_change_type` and `_commit_version`."""
        self._require_kept("its changes")
        return self._changes(self.name, since)

    def explain(self, stage: str | None = None, *, changes: Mapping[str, int] | None = None) -> Explanation:
        """How the view is kept, as text: `calculus`, `normal`, `algebra`, `optimised` or `program`.

        Without a stage: its states, and what a batch with so many changed rows of each table, `changes={"orders": 100}`,
        would do and cost.
        """
        from evercurrent.warehouse.planning.explain import explain_view

        return explain_view(self._db._core, self._node, stage, changes)

    def value(self) -> Any:
        """The value of a view that was defined in OQL, at the present version."""
        from evercurrent.warehouse.definitions.oql import value

        with self._db._core.lock:
            return value(self._db, self._node)

    def why(self, *row: Any) -> Why:
        """The rows of tables that a row of the view comes from, at the present version; see `View.why` in process."""
        from evercurrent.warehouse.why import why

        return why(self._db, self._node, *row)

    def __repr__(self) -> str:
        return f"<View {self.name}({signature(self.schema)}): {count_text(len(self))}>"
