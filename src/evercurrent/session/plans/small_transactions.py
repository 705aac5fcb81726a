"""A transaction of one small change while it is committed, and how it is undone.

change = SmallTransaction()
change.entries = ((rows, 1, None),)           before rows[1] = (1, 7, 950): nothing stood there
change.undo()                                 nothing stands there again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.engine.live.runtime.journal import Entry, undo
from evercurrent.rows.collecting import Collected
from evercurrent.rows.pending import Pending
from evercurrent.rows.subscriptions import Notices
from evercurrent.statements.transactions import Status


class SmallTransaction:
    """A transaction of one small change while it is committed: what `Session.settle` asks of a `Transaction`.

    `entries` say what stood in the stores before. Most changes set nothing else, so that one costs little to make.
    """

    entries: tuple[Entry, ...]
    status: Status = "open"
    number: int | None = None
    tables: tuple[str, ...] = ()
    objects: None = None
    notices: Notices | Collected | None = None
    columns: Any = None
    cursors: Mapping[str, Any] = {}
    pending: Mapping[str, Pending] = {}

    @property
    def patches(self) -> tuple[SmallTransaction]:
        """Itself: the only change of stores."""
        return (self,)

    def apply(self) -> None:
        """Does nothing: whoever made the entries writes into the stores."""

    def undo(self) -> None:
        """Puts back what stood in the stores. Idempotent."""
        undo(list(self.entries))
