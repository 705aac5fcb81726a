"""What changes, as it happens: for the page that shows all tables and views at once.

    INSERT INTO orders ...      data: {"version": 12, "at": 1760000000.0, "changes": {"table:orders": [1, 0], "view:spend": [1, 1]}}

While somebody looks, every table and every view that is updated at each commit is subscribed to; nobody subscribes when nobody
looks. A commit only appends to a list: rows are counted, and transactions summed up, on the server's thread, a few times
a second.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import is_part
from evercurrent.serve.encoding import json_text

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change, Subscription
    from evercurrent.serve.database import ServedDatabase
    from evercurrent.serve.studio.inspection import Inspection

TICK = 0.25
"""Seconds between two looks."""
KEPT_RUNS = 2000
KEPT_TEXTS = 64
QUIET_TICKS = 40
"""After this number of quiet ticks a stream says that it is alive."""


class Watch:
    """Counts the changes of all relations while somebody looks."""

    def __init__(self, database: ServedDatabase, inspection: Inspection) -> None:
        self.database, self.inspection = database, inspection
        self.lookers = 0
        self.subscriptions: dict[str, Subscription] = {}
        self.waiting: deque[tuple[float, str, Change]] = deque()
        self.latest: dict[str, tuple[int, float]] = {}
        """For each node, the version and the time of its last change."""
        self.runs: deque[dict[str, Any]] = deque(maxlen=KEPT_RUNS)
        self.definitions = 0
        self._design: object = None
        self._number = 0
        self._texts: deque[tuple[int, str]] = deque(maxlen=KEPT_TEXTS)
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # --- called on the server's thread ----------------------------------------------------------------------

    async def stream(self) -> AsyncIterator[str]:
        """Server-sent events, as long as the client stays."""
        self.lookers += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look())
        seen = self._number
        try:
            yield f"data: {json_text({'version': self.inspection.version, 'definitions': self.definitions})}\n\n"
            while True:
                try:
                    await asyncio.wait_for(self._bell.wait(), TICK * QUIET_TICKS)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                for number, text in list(self._texts):
                    if number > seen:
                        seen = number
                        yield text
        finally:
            self.lookers -= 1

    async def _look(self) -> None:
        """Takes what has happened, again and again, until nobody looks any more."""
        try:
            while self.lookers:
                redefined = await asyncio.to_thread(self.subscribe_to_all)
                found = self.collect()
                if found is not None or redefined:
                    self.send(
                        {**(found or {"version": self.inspection.version}), "definitions": self.definitions}
                    )
                await asyncio.sleep(TICK)
        finally:
            self.close()

    def send(self, content: dict[str, Any]) -> None:
        self._number += 1
        self._texts.append((self._number, f"data: {json_text(content)}\n\n"))
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()

    def collect(self) -> dict[str, Any] | None:
        """Sums up what has happened since the last call."""
        if not self.waiting:
            return None
        changes: dict[str, list[int]] = {}
        version, at = 0, 0.0
        while self.waiting:
            at, node, change = self.waiting.popleft()
            version = max(version, change.transaction)
            weights = [weight for _, weight in change.delta.items()]
            inserted, deleted = sum(w for w in weights if w > 0), -sum(w for w in weights if w < 0)
            counts = changes.setdefault(node, [0, 0])
            counts[0] += inserted
            counts[1] += deleted
            self.latest[node] = (change.transaction, at)
            self.note(node, change.transaction, at, inserted + deleted)
        return {"version": version, "at": at, "changes": changes}

    def note(self, node: str, version: int, at: float, rows: int) -> None:
        """Adds a change to the record of its transaction."""
        if not self.runs or self.runs[-1]["version"] != version:
            self.runs.append({"version": version, "at": at, "rows_in": {}, "views": []})
        kind, _, name = node.partition(":")
        if kind == "table":
            self.runs[-1]["rows_in"][name] = rows
        else:
            self.runs[-1]["views"].append({"view": name, "strategy": "delta", "rows_changed": rows})

    # --- subscriptions --------------------------------------------------------------------------------------

    def subscribe_to_all(self) -> bool:
        """Subscribes to what is new, and forgets what is gone; returns whether definitions have changed."""
        design = self.inspection.design
        if design is self._design:
            return False
        with self.inspection.hold():
            self._design, self.definitions = self.inspection.design, self.definitions + 1
            catalog = self.inspection.catalog
            wanted: dict[str, Any] = {}
            for table in catalog.tables.values():
                wanted[f"table:{table.name}"] = lambda name=table.name: self.database.table(name)
            for view in catalog.views.values():
                # A subscriber would make a view that waits for its readers wait no longer.
                if view.mode == "strict" and not is_part(view):
                    wanted[f"view:{view.name}"] = lambda name=view.name: self.database.view(name)
            for node, subscription in list(self.subscriptions.items()):
                if node not in wanted or not subscription.active:
                    self.subscriptions.pop(node).cancel()
            for node, handle in wanted.items():
                if node not in self.subscriptions:
                    self.subscriptions[node] = handle().subscribe(
                        lambda change, node=node: self.waiting.append((time.time(), node, change))
                    )
        return True

    def close(self) -> None:
        for subscription in self.subscriptions.values():
            subscription.cancel()
        self.subscriptions.clear()
        self.waiting.clear()
        self._design = None
