"""The latest changes of one table or view, from which every client is served.

Law. A client that has seen version v, and asks for what came after it, gets exactly the changes with a number above v, in
order; or it must start over, if the log does not reach back to v. Versions are those of the database: a snapshot
that was read at version v and the changes after v together are the rows.

    log.since(7)     the changes of versions 8, 9, 12: what the relation did after version 7
    log.since(2)     None: the log begins at version 5

There is one log for all clients, and each client has only a position in it. So a commit appends once, whoever listens;
a slow client falls behind alone; and what is kept is bounded by `most_changes` and `most_rows`.

Commits happen on any thread. They only append (`rows/collecting.py`), without a lock; everything else happens on the server's thread,
every `PAUSE` seconds while there are changes, so that followers cost a busy database little. Only a commit after a quiet time
wakes that thread; its change goes out at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from evercurrent.errors import EvercurrentError
from evercurrent.rows.collecting import Collector
from evercurrent.rows.subscriptions import Change
from evercurrent.serve.encoding import json_row, json_text, json_value

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Subscription
    from evercurrent.serve.copies import Copies
    from evercurrent.serve.database import Held, ServedRows
    from evercurrent.serve.relay import Relay

PAUSE = 0.05
"""Clients are woken at most so often, in seconds."""
QUIET_LOOKS = 40
"""After so many looks without a change the server's thread waits to be woken."""
MOST_CHANGES = 10_000
MOST_ROWS = 200_000


class ChangeLog:
    """The changes of one relation since the log was opened, as far as they are kept."""

    def __init__(
        self,
        database: Held,
        name: str,
        relation: ServedRows,
        loop: asyncio.AbstractEventLoop,
        *,
        most_changes: int = MOST_CHANGES,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self.name = name
        self.relation = relation
        self.columns = [f.name for f in relation.schema]
        self.loop = loop
        self.most_changes, self.most_rows = most_changes, most_rows
        self._collector = Collector(self._wake, most_changes)
        self._fresh = self._collector.waiting
        """What commits have appended and nobody has looked at yet."""
        self.kept: deque[Change] = deque()
        self.rows = 0
        self.dropped = 0  # changes that are not kept any more
        self._lock = threading.Lock()
        self._looking: asyncio.TimerHandle | None = None
        self._quiet = 0
        self._bell = asyncio.Event()
        self._texts: dict[tuple[int, int, str], tuple[str, int]] = {}
        self.relay: Relay | None = None
        """Where the clients are, if they are in a process of their own."""
        self.copies: Copies | None = None
        """The copies of equal rows, once a shape has asked for them."""
        with database.hold():  # no commit falls between the two
            self.subscription: Subscription = relation.subscribe(self._collector)
            self.begins = database.version
        self._newest = self._rung = self.begins

    # --- called by commits, on any thread ---------------------------------------------------------------------

    def _wake(self) -> None:
        """Wakes the server's thread; or, if it has had no time for too many changes, drops those that are not kept any more."""
        try:
            self.loop.call_soon_threadsafe(self._begin_looking)
        except RuntimeError:  # the server has stopped; its clients are gone
            self.subscription.cancel()
            self._fresh.clear()
        if len(self._fresh) > self.most_changes:
            with self._lock:
                self._take()

    # --- what is kept ---------------------------------------------------------------------------------------------

    def _take(self) -> None:
        """Takes in what is fresh, and drops what is too much. The lock is held."""
        while self._fresh:
            entry = self._fresh.popleft()
            change = entry if isinstance(entry, Change) else Change.of_entry(entry)
            if change.transaction <= self._newest:  # an interrupted commit has handed it over twice
                continue
            self.kept.append(change)
            self._newest = change.transaction
            self.rows += change.size
        while len(self.kept) > self.most_changes or (self.rows > self.most_rows and len(self.kept) > 1):
            oldest = self.kept.popleft()
            self.rows -= oldest.size
            self.begins = oldest.transaction
            self.dropped += 1

    @property
    def changes(self) -> deque[Change]:
        """The changes that are kept."""
        with self._lock:
            self._take()
            return self.kept

    @property
    def newest(self) -> int:
        """The version of the latest change."""
        with self._lock:
            self._take()
            return self._newest

    @property
    def seen(self) -> int:
        """How many changes there have been."""
        return self.dropped + len(self.changes)

    # --- called on the server's thread ----------------------------------------------------------------------------

    def _begin_looking(self) -> None:
        if self._looking is None:
            self._quiet = 0
            self._look()

    def _look(self) -> None:
        """Tells clients what is new, and looks again later; after a quiet time, commits have to wake this thread."""
        self._looking = None
        newest = self.newest
        if newest > self._rung:
            self._quiet, self._rung = 0, newest
            self._ring()
        else:
            self._quiet += 1
        if self._quiet >= QUIET_LOOKS:
            self._collector.is_awake = False
            if not self._fresh:  # who appends after this wakes
                return
            self._collector.is_awake = True
        self._looking = self.loop.call_later(PAUSE, self._look)

    def _ring(self) -> None:
        self._texts.clear()
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()
        if self.relay is not None:
            self.relay.feed(self)

    async def wait(self, version: int, seconds: float) -> bool:
        """Waits until there is a change after the version; returns whether there is one."""
        end = self.loop.time() + seconds
        while True:
            bell = self._bell
            if self.newest > version:
                return True
            try:  # the bell may ring for a change that was seen before
                await asyncio.wait_for(bell.wait(), end - self.loop.time())
            except TimeoutError:
                return False

    def since(self, version: int) -> list[Change] | None:
        """The changes after a version, in order; None if the log does not reach back so far."""
        with self._lock:
            self._take()
            if version < self.begins:
                return None
            return [c for c in self.kept if c.transaction > version]

    def reach_back(self, database: Held, version: int) -> None:
        """Takes in the changes after a version from where the database keeps them, if it does and they are not too many."""
        past: list[Change] = []
        with database.hold():
            try:
                self.relation.subscribe(past.append, since=version).cancel()
            except EvercurrentError:  # they are not kept any more, or the relation was another one then
                return
            with self._lock:
                self._take()
                older = [c for c in past if c.transaction <= self.begins]
                rows = sum(c.size for c in older)
                if self.rows + rows <= self.most_rows and len(self.kept) + len(older) <= self.most_changes:
                    self.kept.extendleft(reversed(older))
                    self.rows += rows
                    self.begins = min(version, self.begins)

    def texts_since(self, version: int, mark: str) -> list[tuple[int, str]] | None:
        """The changes after a version, each as a server-sent event; None if the log does not reach back so far."""
        changes = self.since(version)
        if changes is None:
            return None
        return [
            (c.transaction, event_text("change", self.content(c), f"{c.transaction}{mark}")) for c in changes
        ]

    def events_since(self, version: int, mark: str) -> tuple[str, int] | None:
        """The changes after a version as server-sent events, and the version that they lead to.

        Most clients are at the same position, so the text is made once for all of them.
        """
        key = (version, self.newest, mark)
        found = self._texts.get(key)
        if found is None:
            texts = self.texts_since(version, mark)
            if texts is None:
                return None
            found = ("".join(text for _, text in texts), texts[-1][0] if texts else version)
            self._texts[key] = found
        return found

    def reset_text(self) -> str:
        """The event for a client that was away for too long."""
        return event_text("reset", {"version": self.newest})

    def content(self, change: Change) -> dict[str, object]:
        return {
            "version": change.transaction,
            "deleted": [self.item(row) for row in change.deleted],
            "inserted": [self.item(row) for row in change.inserted],
        }

    def item(self, row: Any) -> Any:
        """A row as an object; an element of a view in OQL as what it is."""
        return json_row(self.columns, row) if type(row) is tuple else json_value(row)

    def close(self) -> None:
        """Ends the subscription. The looks end by themselves, as there is nothing new."""
        self.subscription.cancel()
        if self.relay is not None:
            self.relay.forget(self)


def event_text(kind: str, content: object, identity: str | None = None) -> str:
    """One server-sent event."""
    marked = "" if identity is None else f"id: {identity}\n"
    return f"{marked}event: {kind}\ndata: {json_text(content)}\n\n"
