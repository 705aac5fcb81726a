"""Brings a database that only reads its file to the newest version of it.

Where only rows have changed and the log goes back far enough, the versions that were missed are applied one by one, and subscribers
are notified of each. Otherwise the whole file is read again, and subscribers are notified of the difference.

    at version 4; the log has 5, 6 and 7         apply 5, 6, 7: three notifications
    at version 4; the log begins after 6         read the file: one notification, of the difference of 4 and 7
    a view was created in between                read the file
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evercurrent.data.zset import ZSet
from evercurrent.design.row_keys import row_key
from evercurrent.durable.keeper import FileKeeper
from evercurrent.durable.opening import Stage, open_file
from evercurrent.objects.space import space_of
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.subscriptions import Change
from evercurrent.session.session import Session
from evercurrent.session.transactions import Block


def reload(keeper: FileKeeper, stage: Stage) -> FileKeeper:
    """Goes to the newest version; returns the keeper from then on."""
    session, file = keeper.session, keeper.file
    with file.refusals("be read"), file.snapshot():
        version, defined = file.state("version"), file.state("definitions")
        if (version, defined) == (session.number, keeper.defined):
            return keeper
        missed = None
        if defined == keeper.defined and session.space is None:
            missed = _read_missed(keeper, version)
        cursors = file.cursors()
    if missed is not None:
        _run(keeper, missed, cursors)
        return keeper
    return _read_again(keeper, stage)


def _read_missed(keeper: FileKeeper, version: int) -> list[tuple[int, dict[str, ZSet]]] | None:
    """Returns the changes of all versions that were missed; None if the log does not hold them."""
    session = keeper.session
    if session.number < keeper.file.state("log_from"):
        return None
    found = list(keeper.log.changes(session.number, keeper.tables))
    return found if [v for v, _ in found] == list(range(session.number + 1, version + 1)) else None


def _run(keeper: FileKeeper, missed: list[tuple[int, dict[str, ZSet]]], cursors: Mapping[str, Any]) -> None:
    keeper.replaying = True
    try:
        for _, deltas in missed:
            with Block(keeper.session, alone=True) as transaction:
                for name, delta in deltas.items():
                    if name in cursors:
                        transaction.cursors[name] = cursors[name]
                    transaction.change(name, sorted(delta.items(), key=lambda item: item[1]))
    finally:
        keeper.replaying = False


def _read_again(keeper: FileKeeper, stage: Stage) -> FileKeeper:
    """Reads the whole file, and lets the session be what it says. Objects are new objects then."""
    session = keeper.session
    watched = [n for n in session.subscribers.watched if session.catalog.relation(n) is not None]
    before = {name: _rows(session, name) for name in watched}
    fresh = Session()
    made = open_file(fresh, keeper.file, keeper.known, stage)
    made.session = session
    session.replacing = replacement = _Reading(session, fresh, made)
    replacement.settle()
    _notify(session, before)
    return made


@dataclass
class _Reading:
    """Replaces the content of a session by what was read. If it is interrupted, the next holder of the lock finishes it."""

    session: Session
    fresh: Session
    keeper: FileKeeper

    def settle(self) -> None:
        session, fresh = self.session, self.fresh
        session.maintenance.become(fresh.maintenance)
        session.catalog, session.stores, session.rules = fresh.catalog, fresh.stores, fresh.rules
        session.readers, session.children, session.cursors = fresh.readers, fresh.children, fresh.cursors
        session.number, session.keeper, session.small = fresh.number, self.keeper, {}
        space = space_of(fresh)
        session.space = space
        if space is not None:
            space.session = session
            session.maintenance.lender = space.lender
        session.refresh_feeds()
        session.replacing = None


def _rows(session: Session, name: str) -> ZSet:
    table = session.catalog.table(name)
    return session.table_rows(name) if table is not None else session.view_rows(name)


def _notify(session: Session, before: Mapping[str, ZSet]) -> None:
    changes = {}
    for name, old in before.items():
        if session.catalog.relation(name) is None:
            session.subscribers.forget(name)
            continue
        delta = _rows(session, name) - old
        if delta:
            give = row_writer(session.catalog.fields_of(name))
            key = row_key(session.catalog, session.maintenance.design, name)
            changes[name] = Change(name, delta, session.number, give, key)
    session.subscribers.after(changes)
