"""An open transaction on a warehouse: its pending changes, and the stored rows that they touch.

    transaction.change("orders", [(old, -1), (new, 1)])     all of these changes or none
    transaction.deltas()                                    {"orders": the net change so far}

Changes are gathered in the driver. Nothing is written before the commit (`changes.transactions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evercurrent.catalog.rules import positions
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.engine import Engine
from evercurrent.locking.lock import Hold
from evercurrent.objects.model.work import Work
from evercurrent.rows.locate import key_of, locate
from evercurrent.rows.pending import Change, Pending
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.transactions import Status, closed_error
from evercurrent.warehouse.touched_rows import TouchedRows
from evercurrent.warehouse.version import Version


class Transaction:
    """What has been changed so far. `record` is there when it is committed and something had changed."""

    def __init__(self, engine: Engine, version: Version, hold: Hold, batch: str | None = None) -> None:
        self.version = version
        self.batch = batch
        self.partial = TouchedRows(engine, version.catalog, version.snapshot.stores)
        self.pending: dict[str, Pending] = {}
        self.status: Status = "open"
        self.record: RunRecord | None = None
        self.objects: Work | None = None  # what it has changed of the objects
        self.task: object = None  # the task of asyncio that it belongs to, if it does to one
        self.inner = 0  # how many blocks have joined it and are not left
        self.hold = hold  # it is over when the block that began the transaction is left

    def on(self, table: str) -> Pending:
        """Returns the pending change of a table, by its lower-cased name."""
        self.require_open()
        if table not in self.pending:
            self.version.require_own(table)
            self.pending[table] = Pending(self.partial.stores[table])
        return self.pending[table]

    def require_open(self) -> None:
        """Refuses changes after the transaction has failed or was rolled back."""
        if self.status != "open":
            raise closed_error(self.status)

    @property
    def number(self) -> int | None:
        """The version that the transaction became; None where nothing had changed."""
        return None if self.record is None else self.record.version

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Reads what is stored of these rows, so that they can be counted."""
        self.partial.load_rows(table, rows)

    def load_keys(self, table: str, columns: Sequence[int], keys: Iterable[Any]) -> None:
        """Reads what is stored under these keys."""
        self.partial.load(table, tuple(columns), [k if len(columns) > 1 else (k,) for k in keys])

    def change(self, table: str, changes: list[Change]) -> None:
        """Makes all of these changes or none."""
        if any(weight < 0 for _, weight in changes):
            # Inserted rows too: their keys are validated in the end, and so the files are read once.
            self.partial.load_rows(table, [row for row, _ in changes])
        self.on(table).change(changes)

    def locate_rows(self, table: str, which: Iterable[Any]) -> list[Row]:
        """Returns the stored rows that are meant, each by a key or whole; what is stored under the keys is read at once."""
        which = list(which)
        reader = self.version.compiled.readers[table]
        pending, declared = self.on(table), self.version.catalog.tables[table]
        names = {f.name for f in declared.fields}
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
            self.partial.load(table, positions(declared, columns), wanted)
        return [locate(pending, reader, one) for one in which]

    def deltas(self) -> dict[str, ZSet]:
        """Returns the net change of each table, with those of objects."""
        own = {name: p.delta for name, p in self.pending.items() if p.delta}
        if self.objects is None:
            return own
        theirs = self.objects.deltas()
        return {name: own.get(name, ZSet()) + theirs.get(name, ZSet()) for name in {**own, **theirs}}

    def rollback(self) -> None:
        """Drops all changes; the rest of the block can make no others."""
        self.require_open()
        self.status = "rolled back"
        self.pending = {}
        self.end_objects()

    def end_objects(self) -> None:
        """Keeps the objects as they are if the transaction is committed, and restores them otherwise."""
        if self.objects is not None:
            if self.status == "committed":
                self.objects.space.forget_changes(not self.pending)
            else:
                self.objects.undo()
            self.objects = None
