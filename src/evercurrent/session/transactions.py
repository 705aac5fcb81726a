"""What `with db.transaction()` gives: all or nothing, and views move once, at the end.

A transaction inside another one joins it: there is one commit, at the end of the outermost block, and no savepoints. If
an inner block fails, nothing of the whole transaction can be committed any more, even if the exception is caught.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Literal
from weakref import ref

from evercurrent.data.zset import ZSet
from evercurrent.errors import TransactionError
from evercurrent.session.pending import Pending

if TYPE_CHECKING:
    from evercurrent.objects.work import Work
    from evercurrent.session.session import Session
    from evercurrent.session.subscriptions import Change

Status = Literal["open", "committed", "rolled back", "failed"]


class Transaction:
    """One transaction. `number` is given when it is committed (None where nothing had changed)."""

    __slots__ = ("__weakref__", "_block", "_session", "changes", "number", "objects", "pending", "status")

    def __init__(self, session: Session, block: Block) -> None:
        self._session = session
        # Weak: if an interrupt keeps the block from ending as it should, the transaction ends with it all the same.
        self._block = ref(block)
        self.pending: dict[str, Pending] = {}
        self.objects: Work | None = None  # what it has changed of the objects
        self.status: Status = "open"
        self.number: int | None = None
        self.changes: dict[str, Change] = {}

    @property
    def is_running(self) -> bool:
        """Whether the block that began it is still there."""
        return self._block() is not None

    def on(self, table: str) -> Pending:
        """The pending change of a table, by its lower-cased name."""
        self.require_open()
        found = self.pending.get(table)
        if found is None:
            found = self._session.stores[table].pending()
            if not found.of_objects:
                self.pending[table] = found
        return found

    def changed(self, table: str) -> Pending | None:
        """The pending change of a table, if there is one."""
        found = self.pending.get(table)
        if found is None and self.objects is not None:
            made = self._session.stores[table].pending()
            return made if made.of_objects else None
        return found

    def require_open(self) -> None:
        if self.status == "open":
            return
        why = "an inner block of it failed" if self.status == "failed" else f"it is {self.status}"
        raise TransactionError(
            f"this transaction takes no more changes: {why}",
            hint="leave the outermost `with db.transaction()` block and begin another",
        )

    def deltas(self) -> dict[str, ZSet]:
        """The net changes, by lower-cased names of tables."""
        own = {name: p.delta for name, p in self.pending.items() if p.delta.weights}
        return own if self.objects is None else {**own, **self.objects.deltas()}

    def rollback(self) -> None:
        """Forget all changes; the rest of the block can make no others."""
        self.require_open()
        self.abandon("rolled back")

    def abandon(self, status: Status) -> None:
        self.status = status
        self.pending = {}
        if self.objects is not None:
            if status == "committed":
                self.objects.clear()
            else:
                self.objects.undo()
            self.objects = None

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number is not None else ""
        return f"<Transaction{number}, {self.status}>"


class Block:
    """The context manager: begins a transaction, or joins the one that is open.

    `alone`: it is not a block of the user's but a single call, which has changed nothing if it failed; so a call that fails
    inside an open transaction does not fail the transaction.
    """

    __slots__ = ("__weakref__", "_alone", "_owner", "_session")

    def __init__(self, session: Session, alone: bool = False) -> None:
        self._session = session
        self._alone = alone
        self._owner = False

    def __enter__(self) -> Transaction:
        session = self._session
        session.lock.acquire()
        try:
            open_one = session.open_transaction()
            if open_one is not None:
                open_one.require_open()
                return open_one
            self._owner = True
            session.idle = False
            session.transaction = Transaction(session, self)
            return session.transaction
        except BaseException:
            if self._owner:
                session.transaction, session.idle = None, True
            session.lock.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        session = self._session
        try:
            transaction = session.transaction
            if transaction is None:
                return
            # Whoever is interrupted in the middle of a call cannot say what it has changed.
            excused = self._alone and not self._owner and isinstance(error, Exception)
            if error is not None and transaction.status == "open" and not excused:
                transaction.abandon("failed")
            if self._owner:
                session.transaction = None
                if error is None and transaction.status != "rolled back":
                    session.commit(transaction)
        finally:
            if self._owner:
                session.idle = session.committing is None
            session.lock.release()
