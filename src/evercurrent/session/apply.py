"""Applies change feeds: `db.apply({"orders": changes})`.

    [{"_change_type": "delete", "id": 1}, {"_change_type": "insert", "id": 1, "total": "9.50"}]      an update of row 1

The changes of a batch have no order among themselves, as in the change feed of a table: a row that is deleted may be inserted
by the same batch, before or after. So deletions are resolved first (they may name a key alone), then everything is
inserted, then deleted; only the net change counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.data.zset import ZSet
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.arrow_rows import changes_of_arrow
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.locate import locate
from evercurrent.rows.pending import Change, Pending
from evercurrent.rows.readers import changes_of
from evercurrent.session.bulk import take_columns
from evercurrent.session.transactions import Block
from evercurrent.statements.handles import refuse_in_process
from evercurrent.statements.options import ON_VIOLATION, OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.statement_face import require_mapping

if TYPE_CHECKING:
    from evercurrent.session.session import Session
    from evercurrent.session.transactions import Transaction


def apply(
    session: Session,
    changes: Mapping[str, Any],
    batch: str | None = None,
    on_violation: OnViolation = "refuse",
) -> RunRecord:
    """Applies feeds to tables in one transaction; returns what was taken in."""
    require_in_process(on_violation)
    require_mapping(changes)
    begin = time.perf_counter()
    taken: dict[str, int] = {}
    with Block(session, alone=True, batch=batch) as transaction:
        # Before the rows are read: what a batch has deleted is not there when it comes again.
        known = session.keeper.batch(batch) if batch is not None and session.keeper is not None else None
        if known is not None:
            return RunRecord(known, batch, repeated=True)
        sources = {session.table(name).name.lower(): feed for name, feed in changes.items()}

        def read_rows() -> None:
            taken.update(_change(session, transaction, sources))

        columns = take_columns(session, transaction, sources, True, read_rows)
        if columns is None:
            read_rows()
    if transaction.repeated:
        return RunRecord(transaction.number or 0, batch, repeated=True)
    if columns is not None:
        taken |= columns.taken
    return RunRecord(session.number, batch, rows_in=taken, seconds=time.perf_counter() - begin)


def require_in_process(on_violation: OnViolation) -> None:
    """Refuses what a database in process cannot do with rows that break a constraint."""
    require_choice(on_violation, ON_VIOLATION, "on_violation")
    if on_violation == "quarantine":
        refuse_in_process('on_violation="quarantine"', "one inside this process has no quarantine")


def _change(session: Session, transaction: Transaction, sources: Mapping[str, Any]) -> dict[str, int]:
    """Makes the changes pending, all or none. Returns how many rows there are for each table, once what cancels is left out."""
    work: list[tuple[Pending, list[Change]]] = []
    for key, feed in sources.items():
        pending = transaction.on(key)
        work.append((pending, _read(pending, session.readers[key], feed)))
    done: list[tuple[Pending, list[Change]]] = []
    taken: dict[str, int] = {}
    try:
        for pending, rows in work:
            alone = not pending.of_objects and not pending.delta.weights
            pending.change(rows)
            done.append((pending, rows))
            if rows:
                net = pending.delta if alone else _add(rows)
                taken[pending.store.table.name] = sum(map(abs, net.weights.values()))
    except Exception:
        for pending, rows in reversed(done):
            pending.take_back(rows)
        raise
    return taken


def _read(pending: Pending, reader: RowReader, feed: Any) -> list[Change]:
    read = changes_of_arrow(reader, feed)
    if read is not None:
        return [(row, 1) for row in read[0]] + [(row, -1) for row in read[1]]
    inserted, deleted = changes_of(reader, feed)
    changes: list[Change] = [(row, 1) for row in inserted]
    return changes + [(locate(pending, reader, row), -1) for row in deleted]


def _add(changes: list[Change]) -> ZSet:
    """The net change."""
    net = ZSet()
    for row, weight in changes:
        net.add(row, weight)
    return net
