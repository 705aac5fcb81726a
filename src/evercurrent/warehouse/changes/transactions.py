"""`with db.transaction():` on a warehouse: begins a transaction or joins the open one, and commits it as one version.

    with db.transaction() as tx:
        db.table("orders").insert((5, 7, "1.00"))
        db.table("orders").delete(1)

    tx.status, tx.number                            ('committed', 4)

All views are updated once, by the commit.
"""

from __future__ import annotations

import sys
import time
from _thread import get_ident
from types import FrameType, TracebackType
from typing import Literal

from evercurrent.statements.async_blocks import AsyncBlock, require_same_task
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.transactions import closed_error, nested_error
from evercurrent.warehouse.changes.constraints import validate_rows, write_segments
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.commit import Batch, commit_version, follow_up, tidying
from evercurrent.warehouse.transaction import Transaction


class Block(AsyncBlock):
    """`with db.transaction() as tx:`; inside another one it joins it.

    `alone`: it is a single call, which has changed nothing if it failed; so a call that fails inside an open transaction does not
    fail the transaction.
    """

    def __init__(self, core: Core, batch: str | None = None, alone: bool = False) -> None:
        self.core = core
        self.batch = batch
        self.alone = alone
        self.hold = core.lock
        self.begun: Transaction | None = None  # the transaction that this block began

    def __enter__(self) -> Transaction:
        return self.enter(sys._getframe(1), self)

    def enter(self, frame: FrameType, manager: object) -> Transaction:
        """Begins or joins a transaction, for the `with` statement of the manager in the frame.

        The lock is given back by `leave`, whatever raises here. If an interrupt keeps `__exit__` from running at all, the next
        user finds the lock abandoned, and the transaction with it (`locking.lock`).
        """
        core = self.core
        try:
            self.hold.take(frame, manager)
            left = core.transaction
            if left is not None and left.hold.over:
                left.status, core.transaction = "failed", None
                left.end_objects()
            core.require_idle()
            if core.transaction is None:
                core.engine.reader.mark()
                self.begun = Transaction(core.engine, core.present, core.current_hold(), self.batch)
                core.transaction = self.begun
            core.transaction.require_open()
            require_same_task(core.transaction.task)
            core.transaction.inner += self.begun is None
            return core.transaction
        except BaseException:
            self.leave()
            raise

    async def __aenter__(self) -> Transaction:
        entered: Transaction = await self._enter_later()
        return entered

    def try_to_enter(self, task: object) -> Transaction | None:
        core = self.core
        present = core.transaction
        if (
            present is not None
            and present.task not in (None, task)
            and core.current_hold().thread == get_ident()
        ):
            return None
        if not self.hold.try_to_take(get_ident(), None, self):
            return None
        made = self.enter(sys._getframe(), self)
        if self.begun is not None:
            made.task = task
        return made

    def begin(self) -> None:
        """Begins a transaction that BEGIN opens and COMMIT ends; the lock is taken by this thread."""
        core = self.core
        core.require_idle()
        if core.transaction is not None:
            raise nested_error()
        self.hold.succeed()
        core.engine.reader.mark()
        self.begun = Transaction(core.engine, core.present, self.hold, self.batch)
        core.transaction, core.begun = self.begun, self

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> None:
        """Ends what BEGIN has begun."""
        made = self.begun
        assert made is not None
        self.core.begun = None
        if kind == "ROLLBACK" and made.status == "open":
            made.rollback()
        self.__exit__(None, None, None)

    def leave(self) -> None:
        """Gives up what this block has taken. Idempotent."""
        if self.begun is not None and self.core.transaction is self.begun:
            self.core.transaction = None
        self.hold.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            transaction = self.core.transaction
            assert transaction is not None
            transaction.inner -= self.begun is None
            excused = self.alone and self.begun is None and isinstance(error, Exception)
            if error is not None and transaction.status == "open" and not excused:
                transaction.status = "failed"
            if self.begun is None:
                return
            self.core.transaction = None
            if error is None and transaction.status == "failed":
                raise closed_error(transaction.status)
            if error is None and transaction.status == "open":
                # A named batch is remembered even if it changes nothing now: sent again later, it might.
                if transaction.deltas() or transaction.batch is not None:
                    transaction.status = "failed"
                    transaction.record = commit_transaction(self.core, transaction)
                transaction.status = "committed"
        finally:
            try:
                if self.begun is not None:
                    self.begun.end_objects()
            finally:
                self.leave()


def commit_transaction(core: Core, transaction: Transaction) -> RunRecord:
    """Validates the changes of a transaction and commits them as one version."""
    begin = time.perf_counter()
    deltas = transaction.deltas()
    with tidying(core):
        validate_rows(core, deltas, transaction.partial)
        steps = {"constraints": time.perf_counter() - begin}
        batch = Batch(write_segments(core, deltas), transaction.batch, begin, steps)
        record = commit_version(core, batch)
    transaction.status = "committed"
    return follow_up(core, record)
