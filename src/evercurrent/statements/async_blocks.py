"""`async with db.transaction():` on every database.

The block belongs to the task that entered it. Another task that enters such a block waits until this one is left. A change
that another task makes outside of such a block is refused. The commit itself runs at once, on the loop.

    task A: async with db.transaction(): ... await fetch() ...      the transaction is A's
    task B: async with db.transaction():                            waits until A has left its block
    task C: db.table("t").insert((1,))                              TransactionError: another task has a transaction open
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from types import TracebackType
from typing import Any

from evercurrent.errors import TransactionError

PAUSE = 0.002
"""How long a task waits before it looks again whether the database is free."""


class AsyncBlock:
    """The part of a block that asyncio uses."""

    __slots__ = ()

    @abstractmethod
    def try_to_enter(self, task: object) -> Any:
        """Begins or joins a transaction for a task; None if another task or thread has to leave first."""

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def _enter_later(self) -> Any:
        task = asyncio.current_task()
        while (entered := self.try_to_enter(task)) is None:
            await asyncio.sleep(PAUSE)
        return entered

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def require_same_task(owner: object) -> None:
    """Refuses a task that is not the one whose transaction is open."""
    if owner is not None and current_task() is not owner:
        raise TransactionError(
            "another task has a transaction open",
            hint="`async with db.transaction():` waits until it is over",
        )


def current_task() -> object:
    """Returns the task that is running in this thread; None outside of a loop."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
