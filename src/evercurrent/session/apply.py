"""Change feeds, applied: `db.apply({"orders": changes})`.

The changes of a batch have no order among themselves, as in the change feed of a table: what is deleted may be inserted
by the same batch, before or after. So what deletions mean is found first (they may give a key alone), then everything is
inserted, then deleted; the net change is what counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.errors import QueryError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.locate import locate
from evercurrent.rows.pending import Change, Pending
from evercurrent.rows.readers import changes_of

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def apply(session: Session, changes: Mapping[str, Any]) -> int:
    """Apply feeds to tables in one transaction; returns the number of changes."""
    if not isinstance(changes, Mapping):
        raise QueryError("changes must be a mapping from names of tables to change feeds")
    with session.changing() as transaction:
        work: list[tuple[Pending, list[Change]]] = []
        for name, feed in changes.items():
            key = session.table(name).name.lower()
            pending = transaction.on(key)
            work.append((pending, _read(pending, session.readers[key], feed)))
        done: list[tuple[Pending, list[Change]]] = []
        try:
            for pending, rows in work:
                pending.change(rows)
                done.append((pending, rows))
        except Exception:
            for pending, rows in reversed(done):
                pending.take_back(rows)
            raise
        return sum(len(rows) for _, rows in work)


def _read(pending: Pending, reader: RowReader, feed: Any) -> list[Change]:
    come, gone = changes_of(reader, feed)
    inserted: list[Change] = [(row, 1) for row in come]
    return inserted + [(locate(pending, reader, row), -1) for row in gone]
