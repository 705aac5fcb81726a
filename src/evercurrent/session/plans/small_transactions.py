"""A transaction of one small change while it is committed, and how it is undone.

change = SmallTransaction([(rows, 1, None)])      before rows[1] = (1, 7, 950): nothing stood there
change.patches[0].undo()                          nothing stands there again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.engine.live.runtime.journal import Entry, undo
from evercurrent.rows.collecting import Collected
from evercurrent.rows.patch import Undoable
from evercurrent.rows.pending import Pending
from evercurrent.rows.subscriptions import Notices
from evercurrent.statements.transactions import Status


class StoreJournal:
    """What stands in the stores before a small change, as entries of a journal."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries

    def apply(self) -> None:
        """Does nothing: whoever made the journal writes into the stores."""

    def undo(self) -> None:
        """Puts back what stood in the stores. Idempotent."""
        undo(list(self.entries))


class SmallTransaction:
    """A transaction of one small change while it is committed: what `Session.settle` asks of a `Transaction`."""

    status: Status = "open"
    number: int | None = None
    tables: tuple[str, ...] = ()
    objects: None = None
    notices: Notices | Collected | None = None
    columns: Any = None
    cursors: Mapping[str, Any] = {}

    def __init__(self, entries: list[Entry]) -> None:
        self.patches: list[Undoable] = [StoreJournal(entries)]
        self.pending: dict[str, Pending] = {}
