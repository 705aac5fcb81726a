"""Transactions on a warehouse: changes are gathered in the driver and committed together, as one version."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.pending import Change, Pending
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.transactions import Status, closed
from evercurrent.warehouse.changes.touched_rows import Partial
from evercurrent.warehouse.core import Core, require_own

if TYPE_CHECKING:
    from evercurrent.objects.model.work import Work
    from evercurrent.warehouse.database import Warehouse


class Transaction:
    """What has been changed so far. `record` is there when it is committed and something had changed."""

    def __init__(self, core: Core, batch: str | None = None) -> None:
        self.core = core
        self.batch = batch
        self.partial: Partial = core.partial()
        self.pending: dict[str, Pending] = {}
        self.status: Status = "open"
        self.record: RunRecord | None = None
        self.objects: Work | None = None  # what it has changed of the objects
        self.hold = core.current_hold()  # it is over when the block that began the transaction is left

    def on(self, table: str) -> Pending:
        """The pending change of a table, by its lower-cased name."""
        self.require_open()
        if table not in self.pending:
            require_own(self.core, table)
            self.pending[table] = Pending(self.partial.stores[table])
        return self.pending[table]

    def require_open(self) -> None:
        """Refuses changes after the transaction has failed or was rolled back."""
        if self.status != "open":
            raise closed(self.status)

    @property
    def number(self) -> int | None:
        """The version that the transaction became; None where nothing had changed."""
        return None if self.record is None else self.record.version

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Reads what is stored of these rows, so that they can be counted."""
        self.partial.load_rows(table, rows)

    def change(self, table: str, changes: list[Change]) -> None:
        """Make all of these changes or none."""
        if any(weight < 0 for _, weight in changes):
            # those that come too: their keys are judged in the end, and so the files are read once
            self.partial.load_rows(table, [row for row, _ in changes])
        self.on(table).change(changes)

    def deltas(self) -> dict[str, ZSet]:
        own = {name: p.delta for name, p in self.pending.items() if p.delta}
        if self.objects is None:
            return own
        theirs = self.objects.deltas()
        return {name: own.get(name, ZSet()) + theirs.get(name, ZSet()) for name in {**own, **theirs}}

    def rollback(self) -> None:
        """Forget all changes; the rest of the block can make no others."""
        self.require_open()
        self.status = "rolled back"
        self.pending = {}
        self.end_objects()

    def end_objects(self) -> None:
        """Objects stay as they are if the transaction is committed, and else are as they were."""
        if self.objects is not None:
            if self.status == "committed":
                self.objects.space.forget_changes(not self.pending)
            else:
                self.objects.undo()
            self.objects = None


class Block:
    """`with db.transaction() as tx:`; inside another one it joins it.

    `alone`: it is a single call, which has changed nothing if it failed; so a call that fails inside an open transaction does not
    fail the transaction.
    """

    def __init__(self, db: Warehouse, batch: str | None = None, alone: bool = False) -> None:
        self.alone = alone
        self.db = db
        self.batch = batch
        self.hold = db._core.lock
        self.begun: Transaction | None = None  # the transaction that this block began

    def __enter__(self) -> Transaction:
        return self.enter(sys._getframe(1), self)

    def enter(self, frame: FrameType, manager: object) -> Transaction:
        """Begins or joins a transaction, for the `with` statement of the manager in the frame.

        The lock is given back by `leave`, whatever raises here. If an interrupt keeps `__exit__` from running at all, the next
        user finds the lock abandoned, and the transaction with it (`locking.lock`).
        """
        try:
            self.hold.take(frame, manager)
            left, core = self.db._transaction, self.db._core
            if left is not None and left.hold.over:
                left.status, self.db._transaction = "failed", None
                left.end_objects()
            core.require_idle()
            if self.db._transaction is None:
                core.engine.reader.mark()
                self.begun = Transaction(core, self.batch)
                self.db._transaction = self.begun
            self.db._transaction.require_open()
            return self.db._transaction
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Gives up what this block has taken. Idempotent."""
        if self.begun is not None and self.db._transaction is self.begun:
            self.db._transaction = None
        self.hold.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            transaction = self.db._transaction
            assert transaction is not None
            excused = self.alone and self.begun is None and isinstance(error, Exception)
            if error is not None and transaction.status == "open" and not excused:
                transaction.status = "failed"
            if self.begun is None:
                return
            self.db._transaction = None
            if error is None and transaction.status == "failed":
                raise closed(transaction.status)
            if error is None and transaction.status == "open":
                deltas = transaction.deltas()
                # A named batch is remembered even if it changes nothing now: sent again later, it might.
                if deltas or transaction.batch is not None:
                    transaction.status = "failed"
                    transaction.record = self.db._commit_rows(deltas, transaction)
                transaction.status = "committed"
        finally:
            try:
                if self.begun is not None:
                    self.begun.end_objects()
            finally:
                self.leave()
