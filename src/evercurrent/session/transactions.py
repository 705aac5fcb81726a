"""What `with db.transaction()` returns: all or nothing, and views are updated once, at the end.

A transaction inside another one joins it: there is one commit, at the end of the outermost block, and no savepoints. If
an inner block fails, nothing of the whole transaction can be committed any more, even if the exception is caught.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (n BIGINT)")
>>> with db.transaction() as transaction:
...     _ = db.table("t").insert([(1,), (2,)])
>>> transaction.status, transaction.number, db.table("t").rows()
('committed', 1, [(1,), (2,)])

Law. An interrupt may be raised at any instruction, the first one of `__exit__` included. Wherever that is, the transaction is
committed or it is not, and nobody joins it any more: whoever comes next releases the lock (`lock`), and then finishes or
undoes what was left (`Session.settle`). Inside a transaction, a block that was entered and never left keeps it from being
committed (`Transaction.inner`), since nobody knows what the call has changed. One case is not covered: an attribute of an
object that is written after an interrupt at the very first instruction of `__exit__`, and before any other use of the
database, is undone together with that transaction.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Iterable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal

from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.live.memory import MANY, sparing
from evercurrent.errors import QueryError
from evercurrent.locking.insist import insist
from evercurrent.locking.lock import Hold
from evercurrent.rows.pending import Change, Pending
from evercurrent.statements.async_blocks import AsyncBlock, require_same_task
from evercurrent.statements.transactions import Status, closed_error, nested_error

if TYPE_CHECKING:
    from evercurrent.rows.collecting import Collected
    from evercurrent.rows.patch import Undoable
    from evercurrent.rows.subscriptions import Notices
    from evercurrent.session.bulk import ColumnWork
    from evercurrent.session.object_space import ObjectChanges
    from evercurrent.session.session import Session


def others_write(name: str) -> QueryError:
    """Returns the error of a change of a source."""
    return QueryError(f"{name} is a source: others write it", hint="db.refresh() takes its changes in")


class Transaction:
    """One transaction. `number` is given when it is committed (None where nothing had changed)."""

    columns: ColumnWork | None = None  # a large change that is columns, instead of pending rows
    objects: ObjectChanges | None = None  # what it has changed of the objects
    status: Status = "open"
    number: int | None = None
    inner = 0  # how many blocks have joined it and are not left
    task: object = None  # the task of asyncio that it belongs to, if it does to one
    tables: tuple[str, ...] = ()  # those that it changes, when it is being committed
    patches: Sequence[Undoable] = ()
    notices: Notices | Collected | None = None  # for the subscribers after the commit
    batch: str | None = None  # its name, by which it counts once
    repeated = False  # whether a batch of this name was applied before, so that this one changes nothing
    classes_to_drop: tuple[str, ...] = ()  # those whose objects it deletes, and that go after it

    def __init__(self, session: Session) -> None:
        # What most transactions leave as it is belongs to the class, so that one costs little to make.
        self._session = session
        self.pending: dict[str, Pending] = {}
        self.cursors: dict[str, Any] = {}  # how far sources have been read, to be written with it

    def on(self, table: str) -> Pending:
        """The pending change of a table, by its lower-cased name."""
        self.require_open()
        found = self.pending.get(table)
        if found is None:
            if table in self._session.cursors and table not in self.cursors:
                raise others_write(self._session.stores[table].table.name)
            found = self._session.stores[table].pending()
            if not found.of_objects:
                self.pending[table] = found
        return found

    def pending_change(self, table: str) -> Pending | None:
        """The pending change of a table, if there is one."""
        found = self.pending.get(table)
        if found is None and self.objects is not None:
            made = self._session.stores[table].pending()
            return made if made.of_objects else None
        return found

    def change(self, table: str, changes: list[Change]) -> None:
        """Makes all of these changes of a table, or none."""
        self.on(table).change(changes)

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Does nothing: all rows are in memory."""

    def load_keys(self, table: str, columns: Sequence[int], keys: Iterable[Any]) -> None:
        """Does nothing: all rows are in memory."""

    def require_open(self) -> None:
        """Refuses changes after the transaction has failed or was rolled back."""
        if self.status != "open":
            raise closed_error(self.status)

    def deltas(self) -> dict[str, ZSet]:
        """The net changes, by lower-cased names of tables."""
        own = {name: p.delta for name, p in self.pending.items() if p.delta.weights}
        return own if self.objects is None else {**own, **self.objects.deltas()}

    def rollback(self) -> None:
        """Forget all changes; the rest of the block can make no others."""
        self.require_open()
        self.abandon("rolled back")

    def abandon(self, status: Literal["rolled back", "failed"]) -> None:
        """Ends it without a commit: nothing that it has changed stays."""
        self.status = status
        self.pending, self.columns = {}, None
        if self.objects is not None:
            insist(self.objects.undo)
            self.objects = None

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number is not None else ""
        return f"<Transaction{number}, {self.status}>"


class Block(AsyncBlock):
    """The context manager: begins a transaction, or joins the one that is open.

    `alone`: it is not a block of the user's but a single call, which has changed nothing if it failed; so a call that fails
    inside an open transaction does not fail the transaction.
    """

    __slots__ = ("__weakref__", "_alone", "_batch", "_hold", "_joined", "_session", "_transaction")

    def __init__(self, session: Session, alone: bool = False, batch: str | None = None) -> None:
        self._session = session
        self._batch = batch
        self._alone = alone
        self._hold: Hold = session._lock.hold()
        self._transaction: Transaction | None = None  # the one that this block began
        self._joined: Transaction | None = None

    def __enter__(self) -> Transaction:
        return self.enter(sys._getframe(1), self)

    def enter(self, frame: FrameType, manager: object) -> Transaction:
        """Begins or joins a transaction, for the `with` statement of the manager in the frame."""
        session = self._session
        try:
            self._hold.take(frame, manager)
            open_one = session.open_transaction()
            if open_one is not None:
                open_one.require_open()
                require_same_task(open_one.task)
                self._joined = open_one
                open_one.inner += 1
                return open_one
            self._transaction = made = Transaction(session)
            made.batch = self._batch
            session.idle = False
            session.transaction = made
            return made
        except BaseException:
            self._leave()
            raise

    async def __aenter__(self) -> Transaction:
        entered: Transaction = await self._enter_later()
        return entered

    def try_to_enter(self, task: object) -> Transaction | None:
        session = self._session
        present = session.transaction
        if (
            present is not None
            and present.task not in (None, task)
            and session._lock.last().thread == get_ident()
        ):
            return None
        if not self._hold.try_to_take(get_ident(), None, self):
            return None
        made = self.enter(sys._getframe(), self)
        if self._joined is None:
            made.task = task
        return made

    def begin(self) -> None:
        """Begins a transaction that BEGIN opens and COMMIT ends; the lock is taken by this thread."""
        session = self._session
        if session.open_transaction() is not None:
            raise nested_error()
        self._hold.succeed()
        self._transaction = made = Transaction(session)
        session.idle = False
        session.transaction, session.begun = made, self

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> None:
        """Ends what BEGIN has begun."""
        made = self._transaction
        assert made is not None
        self._session.begun = None
        if kind == "ROLLBACK" and made.status == "open":
            made.abandon("rolled back")
        self.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._joined is not None:
                # Whoever is interrupted in the middle of a call cannot say what it has changed.
                excused = self._alone and isinstance(error, Exception)
                if error is not None and self._joined.status == "open" and not excused:
                    self._joined.abandon("failed")
                self._joined.inner -= 1
            elif self._transaction is not None:
                self._end(self._transaction, error)
        finally:
            self._leave()

    def _end(self, transaction: Transaction, error: BaseException | None) -> None:
        session = self._session
        if transaction.inner and transaction.status == "open":
            transaction.abandon("failed")
        session.transaction = None
        if error is not None:
            if transaction.status == "open":
                transaction.abandon("failed")
        elif transaction.status != "rolled back":
            rows = sum(len(p.delta.weights) for p in transaction.pending.values())
            session.commit(transaction)
            if rows >= MANY:
                sparing.after(rows)

    def _leave(self) -> None:
        """Gives up what this block has taken."""
        session, made = self._session, self._transaction
        if made is not None:
            if session.transaction is made:
                session.transaction = None
            session.idle = session.transaction is None and session.committing is None
        self._hold.release()
