"""Changes for asyncio: coroutines as subscribers, and `async for change in view.changes()`.

    async for change in view.changes():      # begins with the next transaction
        print(change.inserted)

A transaction may be committed in any thread. Its changes are handed to the loop that was running when somebody subscribed, and
wait there in a queue. A writer never waits for a reader: if more changes wait than the queue holds, the subscription ends. A
stream then yields what waits and raises `LimitError`; a coroutine is called for what waits, and a `SubscriberWarning` says so.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from evercurrent.callables import is_awaitable_function
from evercurrent.errors import LimitError, QueryError

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change, Subscription

log = logging.getLogger("evercurrent")

BUFFER = 1024
"""The most changes that wait for a reader, unless it says otherwise."""


def find_running_loop(what: str) -> asyncio.AbstractEventLoop:
    """Returns the loop that runs in this thread."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise QueryError(
            f"{what} needs a running event loop", hint="call it inside a coroutine that asyncio.run runs"
        ) from None


def too_slow(name: str, waiting: int) -> LimitError:
    """Returns the error of a reader that is left behind."""
    return LimitError(
        f"more than {waiting} changes of {name} wait for their reader: the subscription has ended",
        hint="read the rows again and subscribe again; changes(buffer=...) lets more wait",
    )


class AsyncCallback:
    """A coroutine function as a subscriber: its calls are awaited one after another, on the loop on which it subscribed."""

    def __init__(self, function: Callable[[Change], Coroutine[Any, Any, object]], name: str) -> None:
        self.function = function
        self.name = name
        self.loop = find_running_loop(f"a coroutine that subscribes to {name}")
        self.waiting: deque[Change] = deque()
        self.worker: asyncio.Task[None] | None = None
        self.subscription: Subscription | None = None

    def __call__(self, change: Change) -> None:
        """Hands the change to the loop, from whichever thread."""
        if len(self.waiting) >= BUFFER:
            self._end()
            raise too_slow(self.name, BUFFER)
        self.waiting.append(change)
        try:
            self.loop.call_soon_threadsafe(self._begin)
        except RuntimeError:  # the loop is closed: nobody can be notified any more
            self._end()

    def _end(self) -> None:
        if self.subscription is not None:
            self.subscription.cancel()

    def _begin(self) -> None:
        if self.worker is None and self.waiting:
            self.worker = self.loop.create_task(self._work())

    async def _work(self) -> None:
        try:
            while self.waiting:
                change = self.waiting.popleft()
                try:
                    await self.function(change)
                except Exception as problem:
                    said = f"a subscriber to {self.name} raised {type(problem).__name__}: {problem}"
                    log.warning(said, exc_info=True)
                    _warn(f"{said} (transaction {change.transaction} stands)")
        finally:
            self.worker = None
            self._begin()


def _warn(text: str) -> None:
    from evercurrent.rows.subscriptions import SubscriberWarning

    warnings.warn(text, SubscriberWarning, stacklevel=3)


def as_callback(callback: Any, name: str, when: str) -> Any:
    """Returns the callback; a coroutine function that is called after the commit as one that hands its changes to the loop."""
    if when == "after" and callable(callback) and is_awaitable_function(callback):
        return AsyncCallback(cast(Any, callback), name)
    return callback


class ChangeStream:
    """What `view.changes()` returns: an asynchronous iterator over the changes of all transactions from now on.

    It also is an asynchronous context manager; `close()` or leaving the block ends it.
    """

    def __init__(
        self, name: str, subscribe: Callable[[Callable[[Change], object]], Subscription], buffer: int
    ) -> None:
        if type(buffer) is not int or buffer < 1:
            raise QueryError("buffer is how many changes may wait: a number from 1 on")
        self.name = name
        self.buffer = buffer
        self._loop = find_running_loop(f"{name}.changes()")
        self._waiting: deque[Change] = deque()
        self._bell = asyncio.Event()
        self._problem: LimitError | None = None
        self._is_open = True
        self._subscription = subscribe(self._take)

    def _take(self, change: Change) -> None:
        if len(self._waiting) >= self.buffer:
            self._problem = too_slow(self.name, self.buffer)
            self._subscription.cancel()
        else:
            self._waiting.append(change)
        try:
            self._loop.call_soon_threadsafe(self._bell.set)
        except RuntimeError:  # the loop is closed
            self._subscription.cancel()

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        while True:
            if self._waiting:
                return self._waiting.popleft()
            if self._problem is not None:
                self._is_open, problem, self._problem = False, self._problem, None
                raise problem
            if not self._is_open:
                raise StopAsyncIteration
            self._bell.clear()
            await self._bell.wait()

    def close(self) -> None:
        """Ends the stream: what waits is still yielded. Idempotent."""
        self._is_open = False
        self._subscription.cancel()
        self._bell.set()

    async def __aenter__(self) -> ChangeStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._is_open else "closed"
        return f"<ChangeStream of {self.name}, {state}: {len(self._waiting)} changes wait>"
