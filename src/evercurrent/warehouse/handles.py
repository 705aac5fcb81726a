"""The handles of tables and views on a warehouse: rows in stores, at the present version or an earlier one.

    db.table("orders").dataframe(version=2).count()                0
    db.table("orders").dataframe().count()                         3
    db.view("spend").rows()                                        [(7, Decimal('12.50')), (8, Decimal('1.00'))]

`rows()` are read by the driver; `dataframe()` is a frame of the user's own session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.catalog.nodes import View as ViewNode
from evercurrent.catalog.rules import positions
from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row
from evercurrent.design.explain import Explanation
from evercurrent.design.why import Why
from evercurrent.engine.spark.storage.delta_tables import table_of
from evercurrent.engine.spark.storage.file_schema import Frame
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import changes_frame, user_frame
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.oql_views.changes import relations_of_view
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.locate import key_of, no_key
from evercurrent.rows.readable import signature
from evercurrent.rows.results import Result
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.statements.handles import Handle, Table, View
from evercurrent.statements.oql import value_of
from evercurrent.statements.order import order_rows
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.history import change_segments, require_same_columns, rows_at
from evercurrent.warehouse.maintenance.catch_up import catch_up_view, view_rows
from evercurrent.warehouse.maintenance.notifications import feed_name, subscribe
from evercurrent.warehouse.statements import WarehouseTarget
from evercurrent.warehouse.touched_rows import TouchedRows
from evercurrent.warehouse.why import why


class OpenWarehouse(Protocol):
    """What handles need of the warehouse that they belong to."""

    _core: Core

    @property
    def _target(self) -> WarehouseTarget: ...

    def _changing(self) -> Block: ...

    def execute(self, sql: str) -> Result: ...

    def explain(
        self, view: str | None = None, *, stage: str | None = None, changes: Mapping[str, int] | None = None
    ) -> Explanation: ...


class Stored(Handle):
    """Rows that lie in a store."""

    def __init__(self, db: OpenWarehouse) -> None:
        self._db = db

    def _segments(self, version: int | None = None) -> Store:
        raise NotImplementedError

    def __len__(self) -> int:
        return sum(1 for _ in self._internal())

    def dataframe(self, *, version: int | None = None) -> Frame:
        core = self._db._core
        with core.lock:
            types = [f.type for f in self.schema]
            frame = core.engine.frame(self._segments(version), types, home=True)
            return user_frame(core.engine.home, frame, self.schema)

    def _changes(self, name: str, since: int) -> Frame:
        core = self._db._core
        with core.lock:
            segments = change_segments(self._db._core, name, since)
            return changes_frame(core.engine.home, core.engine.folder, segments, self.schema)

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        core = self._db._core
        with core.lock:
            for relation in relations_of_view(core.catalog, self.name):
                catch_up_view(core, relation)  # the subscriber is not notified of what was deferred until now
            past = None if since is None else self._past(since)
            return subscribe(core, self.name, callback, when, past)

    def _past(self, since: int) -> dict[int, dict[str, Segment]]:
        """Returns what the versions after one list of this, and of the parts that it is kept in."""
        core = self._db._core
        found: dict[int, dict[str, Segment]] = {}
        for relation in relations_of_view(core.catalog, self.name):
            feed = feed_name(core.present, relation)
            for version, segment in change_segments(self._db._core, feed, since):
                found.setdefault(version, {})[feed] = segment
        return found


class StoredTable(Stored, Table):
    """A table of a warehouse."""

    def __init__(self, db: OpenWarehouse, name: str) -> None:
        super().__init__(db)
        self.name = db._core.table(name).name

    @property
    def _declaration(self) -> TableNode:
        return self._db._core.table(self.name)

    @property
    def _reader(self) -> RowReader:
        self._db._core.table(self.name)  # raises if it was dropped
        return self._db._core.readers[self._key]

    def _segments(self, version: int | None = None) -> Store:
        core = self._db._core
        if version is None:
            return core.present.table_rows(self.name)
        snapshot = core.engine.log.snapshot(version)
        require_same_columns(core, self.name, version, snapshot)
        return core.present.with_snapshot(version, snapshot).table_rows(self.name)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        target = self._db._target
        with target.lock:
            rows = target.pending_rows(self.name) if pending else target.table_rows(self.name)
            return iter(list(rows.insertions()))

    def _changes_since(self, since: int) -> Frame:
        return self._changes(table_store(self.name), since)

    def _changing(self) -> Block:
        return self._db._changing()

    def _locate(self, transaction: Any, which: list[Any]) -> list[Row]:
        rows: list[Row] = transaction.locate_rows(self._key, which)
        return rows

    def _find(self, key: Any, pending: bool) -> Row | None:
        core = self._db._core
        with core.lock:
            transaction = core.transaction
            partial = (
                TouchedRows(core.engine, core.present.catalog, core.snapshot.stores)
                if transaction is None
                else transaction.partial
            )
            store = partial.stores[self._key]
            meant = key_of(store, self._reader, key)
            if meant is None:
                raise no_key(store, f"{show_value(key)} is a whole row, not a key")
            index, value = meant
            columns = index.constraint.columns
            partial.load(
                self._key, positions(self._declaration, columns), [value if len(columns) > 1 else (value,)]
            )
            if pending and transaction is not None and self._key in transaction.pending:
                return next(iter(transaction.pending[self._key].find(index, value)), None)
            return index.rows.get(value)

    def __repr__(self) -> str:
        return f"<Table {self.name}({signature(self.schema)}) of {self._db!r}>"


class StoredView(Stored, View):
    """A view of a warehouse."""

    def __init__(self, db: OpenWarehouse, name: str) -> None:
        super().__init__(db)
        self.name = db._core.view(name).name

    @property
    def _declaration(self) -> ViewNode:
        return self._db._core.view(self.name)

    def _segments(self, version: int | None = None) -> Store:
        core = self._db._core
        self._require_kept("its rows at a version" if version is not None else "its segments")
        if version is None:
            return view_rows(core, self.name)
        snapshot = core.engine.log.snapshot(version)
        texts = {d["name"].lower(): d["text"] for d in snapshot.definitions if d["kind"] == "view"}
        present = {d["name"].lower(): d["text"] for d in core.snapshot.definitions if d["kind"] == "view"}
        if texts.get(self.name.lower()) != present.get(self.name.lower()):
            raise QueryError(f"at version {version} there was no view {self.name} of this definition")
        require_same_columns(core, self.name, version, snapshot)
        return rows_at(core, self.name, version, snapshot)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        target = self._db._target
        with target.lock:
            view = self._declaration
            return iter(order_rows(target.view_rows(view.name, pending), view.fields, view.order))

    def _require_kept(self, what: str) -> None:
        if self._declaration.inline:
            raise QueryError(
                f"{self.name} is kept in its parts only, so {what} cannot be read",
                hint=f"db.publish({self.name!r}) keeps it with arrays too; subscribe() tells what changes inside",
            )

    def dataframe(self, *, version: int | None = None) -> Frame:
        if version is not None or not self._declaration.inline:
            return super().dataframe(version=version)
        session = self._db._core.engine.home
        return session.createDataFrame(table_of(self.schema, list(self._internal())))

    def _changes_since(self, since: int) -> Frame:
        self._require_kept("its changes")
        return self._changes(self.name, since)

    def explain(self, stage: str | None = None, *, changes: Mapping[str, int] | None = None) -> Explanation:
        return self._db.explain(self.name, stage=stage, changes=changes)

    def source(self) -> str:
        raise UnsupportedError(
            "a view on Spark is kept by a program, which is not compiled to Python",
            hint='explain("program") shows it',
        )

    def value(self, *, pending: bool = False) -> Any:
        with self._db._core.lock:
            return value_of(self._db._target, self._declaration, pending)

    def why(self, *row: Any) -> Why:
        return why(self._db._target, self._declaration, *row)
