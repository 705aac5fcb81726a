"""What `with db.transaction()` gives: all or nothing, and views move once, at the end.

A transaction inside another one joins it: there is one commit, at the end of the outermost block, and no savepoints. If
an inner block fails, nothing of the whole transaction can be committed any more, even if the exception is caught.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Literal

from evercurrent.data.zset import ZSet
from evercurrent.errors import TransactionError
from evercurrent.session.pending import Pending

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Status = Literal["open", "committed", "rolled back", "failed"]


class Transaction:
    """One transaction. `number` is given when it is committed (None where nothing had changed)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.pending: dict[str, Pending] = {}
        self.status: Status = "open"
        self.number: int | None = None
        self.depth = 0

    def on(self, table: str) -> Pending:
        """The pending change of a table, by its lower-cased name."""
        self.require_open()
        found = self.pending.get(table)
        if found is None:
            found = self.pending[table] = Pending(self._session.stores[table])
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
        return {name: p.delta for name, p in self.pending.items() if p.delta}

    def rollback(self) -> None:
        """Forget all changes; the rest of the block can make no others."""
        self.require_open()
        self.abandon("rolled back")

    def abandon(self, status: Status) -> None:
        self.status = status
        self.pending.clear()

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number is not None else ""
        return f"<Transaction{number}, {self.status}>"


class Block:
    """The context manager: begins a transaction or joins the one that is open."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> Transaction:
        return self._session.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.leave(failed=error is not None)
