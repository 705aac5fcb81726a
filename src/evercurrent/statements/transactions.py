"""What transactions of every database have in common: how they end, and the error of a change after the end.

with db.transaction() as tx:
    tx.rollback()
    db.table("t").insert((1,))      TransactionError: this transaction takes no more changes: it is rolled back
"""

from __future__ import annotations

from types import TracebackType
from typing import Literal, Protocol

from evercurrent.errors import TransactionError

Status = Literal["open", "committed", "rolled back", "failed"]


class Transaction(Protocol):
    """What `with db.transaction() as tx:` binds to `tx`."""

    status: Status

    @property
    def number(self) -> int | None:
        """The number of the committed transaction, on Spark the version; None where nothing had changed."""

    def rollback(self) -> None:
        """Forgets all changes; the rest of the block can make no others."""


class Block(Protocol):
    """What `db.transaction()` returns."""

    def __enter__(self) -> Transaction: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def closed(status: Status) -> TransactionError:
    """Returns the error of a transaction that takes no more changes."""
    why = "an inner block of it failed" if status == "failed" else f"it is {status}"
    return TransactionError(
        f"this transaction takes no more changes: {why}",
        hint="leave the outermost `with db.transaction()` block and begin another",
    )
