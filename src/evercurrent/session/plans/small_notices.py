"""Notifies subscribers of a change of one row that was made the short way.

make = notices_maker(session, store, variant)
make((((1, 7, 950), 1),))       the calls for this insertion, to be made after the commit

Where all subscribers only take changes down (`rows/collecting.py`), there are no calls: the entries are handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.live.variant import Variant
from evercurrent.rows.collecting import Collected
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Notices

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Rows = Sequence[tuple[Row, int]]
MakeNotices = Callable[[Rows], Notices | Collected]


def notices_maker(session: Session, store: Store, variant: Variant) -> MakeNotices | None:
    """The function from a small change, once it has been applied, to the calls that subscribers are to get for it."""
    if not session.subscribers.watched:
        return None
    watching, table = session.find_watched(), store.table.name
    views = session.maintenance.design.program.views
    numbers = {relation: number for number, relation, given in variant.watched if not given}
    watched = [(name, numbers[views[name]]) for name in watching.relations if views.get(name) in numbers]
    # A view that is the table itself, row for row, changes as it does.
    equal = [name for name in watching.relations if views.get(name) == table]
    if session.subscribers.collects_only:
        return entries_maker(session, variant, watched, [table, *equal])
    needed = bool(equal) or table in watching.names
    out = variant.out

    def make(rows: Rows) -> Notices:
        moved: dict[str, ZSet] = {}
        for name, number in watched:
            weights = out.get(number)
            if weights:
                moved[name] = delta = ZSet()
                delta.weights = weights
        own: dict[str, ZSet] = {}
        if needed:
            own[table] = ZSet(rows)
            moved.update((name, own[table]) for name in equal)
        return session.subscribers.notices(watching.changes(own, moved, session.number + 1))

    return make


def entries_maker(
    session: Session, variant: Variant, watched: list[tuple[str, int]], own: list[str]
) -> MakeNotices:
    """The function from a small change to its entries. `own` are the relations that change as the table does."""
    writers, keys = session.find_watched().writers, session.find_watched().keys
    numbers = [
        (number, take, (name, writers[name], keys[name]))
        for name, number in watched
        for take in session.subscribers.collectors(name)
    ]
    itself = [
        (take, (name, writers[name], keys[name]))
        for name in own
        for take in session.subscribers.collectors(name)
    ]
    out = variant.out

    def make(rows: Rows) -> Collected:
        transaction = session.number + 1
        found = Collected()
        for number, take, about in numbers:
            weights = out.get(number)
            if weights:
                found.append((take, (transaction, weights, about)))
        for take, about in itself:
            found.append((take, (transaction, rows, about)))
        return found

    return make
