"""The latest changes of one table or view, from which every client is served.

Law. A client that has seen version v, and asks for what came after it, gets exactly the changes with a number above v, in
order; or it must start over, if the log does not reach back to v. Versions are those of the database: a snapshot
that was read at version v and the changes after v together are the rows.

    log.since(7)     the changes of versions 8, 9, 12: what the relation did after version 7
    log.since(2)     None: the log begins at version 5

There is one log for all clients, and each client has only a position in it. So a commit appends once, whoever listens;
a slow client falls behind alone; and what is kept is bounded by `most_changes` and `most_rows`.

Commits happen on any thread. The callback only appends and rings; rows are converted on the server's thread. Clients are
woken together, at most every `PAUSE` seconds, so that many of them cost a busy database little.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from evercurrent.serve.encoding import json_row, json_text, json_value

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change, Subscription
    from evercurrent.serve.database import ServedDatabase, ServedRows

PAUSE = 0.05
"""Clients are woken at most so often, in seconds."""
MOST_CHANGES = 10_000
MOST_ROWS = 200_000


class ChangeLog:
    """The changes of one relation since the log was opened, as far as they are kept."""

    def __init__(
        self,
        database: ServedDatabase,
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
        self.changes: deque[Change] = deque()
        self.rows = 0
        self.seen = 0  # changes that were ever appended
        self._lock = threading.Lock()
        self._ringing = False
        self._bell = asyncio.Event()
        self._texts: dict[tuple[int, int], tuple[str, int]] = {}
        with database.transaction():  # no commit falls between the two
            self.subscription: Subscription = relation.subscribe(self.append)
            self.begins = database.version
        self.newest = self.begins

    # --- called by commits, on any thread ---------------------------------------------------------------------

    def append(self, change: Change) -> None:
        with self._lock:
            self.changes.append(change)
            self.newest = change.transaction
            self.seen += 1
            self.rows += change.size
            while len(self.changes) > self.most_changes or (
                self.rows > self.most_rows and len(self.changes) > 1
            ):
                oldest = self.changes.popleft()
                self.rows -= oldest.size
                self.begins = oldest.transaction
            if self._ringing:
                return
            self._ringing = True
        try:
            self.loop.call_soon_threadsafe(self._ring_later)
        except RuntimeError:  # the server has stopped; its clients are gone
            self.subscription.cancel()

    # --- called on the server's thread ----------------------------------------------------------------------------

    def _ring_later(self) -> None:
        self.loop.call_later(PAUSE, self._ring)

    def _ring(self) -> None:
        with self._lock:
            self._ringing = False
        self._texts.clear()
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()

    async def wait(self, version: int, seconds: float) -> bool:
        """Waits until there is a change after the version; returns whether there is one."""
        bell = self._bell
        if self.newest > version:
            return True
        try:
            await asyncio.wait_for(bell.wait(), seconds)
        except TimeoutError:
            return False
        return self.newest > version

    def since(self, version: int) -> list[Change] | None:
        """The changes after a version, in order; None if the log does not reach back so far."""
        with self._lock:
            if version < self.begins:
                return None
            return [c for c in self.changes if c.transaction > version]

    def events_since(self, version: int, mark: str) -> tuple[str, int] | None:
        """The changes after a version as server-sent events, and the version that they lead to.

        Most clients are at the same position, so the text is made once for all of them.
        """
        key = (version, self.newest)
        found = self._texts.get(key)
        if found is None:
            changes = self.since(version)
            if changes is None:
                return None
            text = "".join(event_text("change", self.content(c), f"{c.transaction}{mark}") for c in changes)
            found = (text, changes[-1].transaction if changes else version)
            self._texts[key] = found
        return found

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
        self.subscription.cancel()


def event_text(kind: str, content: object, identity: str | None = None) -> str:
    """One server-sent event."""
    marked = "" if identity is None else f"id: {identity}\n"
    return f"{marked}event: {kind}\ndata: {json_text(content)}\n\n"
