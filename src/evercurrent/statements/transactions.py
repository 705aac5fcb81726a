"""What transactions of every database have in common: how they end, and the error of a change after the end.

with db.transaction() as tx:
    tx.rollback()
    db.table("t").insert((1,))      TransactionError: this transaction takes no more changes: it is rolled back
"""

from __future__ import annotations

from types import TracebackType
from typing import Literal, Protocol

from evercurrent.errors import TransactionError
from evercurrent.locking.lock import Hold

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

    async def __aenter__(self) -> Transaction: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def nested_error() -> TransactionError:
    """Returns the error of BEGIN inside a transaction."""
    return TransactionError(
        "a transaction is open already, and there is none inside another",
        hint="COMMIT or ROLLBACK ends one that BEGIN began; another one ends with its `with db.transaction()` block",
    )


def closed_database_error() -> TransactionError:
    """Returns the error of whatever is asked of a database that was closed."""
    return TransactionError("this database is closed", hint="ec.connect(...) opens one")


def not_begun(kind: str, is_open: bool) -> TransactionError:
    """Returns the error of COMMIT or ROLLBACK where no BEGIN is to be ended."""
    if is_open:
        return TransactionError(
            f"{kind} cannot end a transaction that a `with` block began",
            hint="it ends with the block; tx.rollback() undoes it",
        )
    return TransactionError(f"there is no transaction for {kind} to end", hint="BEGIN begins one")


class Begun(Protocol):
    """What BEGIN has begun."""

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> None: ...


def end_block(lock: Hold, block: Begun, kind: Literal["COMMIT", "ROLLBACK"]) -> Hold:
    """Ends what BEGIN has begun; returns the lock, held, for what is left to be done under it."""
    lock.succeed()
    try:
        block.end(kind)
    except BaseException:
        lock.release()
        raise
    return lock


def closed_error(status: Status) -> TransactionError:
    """Returns the error of a transaction that takes no more changes."""
    why = "an inner block of it failed" if status == "failed" else f"it is {status}"
    return TransactionError(
        f"this transaction takes no more changes: {why}",
        hint="leave the outermost `with db.transaction()` block and begin another",
    )
