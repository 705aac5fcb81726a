"""Notifies subscribers of a change of one row that was made the short way.

make = notices_maker(session, store, variant)
make((((1, 7, 950), 1),))       the calls for this insertion, to be made after the commit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.live.variant import Variant
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Notices

if TYPE_CHECKING:
    from evercurrent.session.session import Session

MakeNotices = Callable[[Sequence[tuple[Row, int]]], Notices]


def notices_maker(session: Session, store: Store, variant: Variant) -> MakeNotices:
    """The function from a small change, once it has been applied, to the calls that subscribers are to get for it."""
    watching, table = session.find_watched(), store.table.name
    views = session.maintenance.design.program.views
    numbers = {relation: number for number, relation, given in variant.watched if not given}
    watched = [(name, numbers[views[name]]) for name in watching.relations if views.get(name) in numbers]
    # A view that is the table itself, row for row, changes as it does.
    equal = [name for name in watching.relations if views.get(name) == table]
    needed = bool(equal) or table in watching.names
    out = variant.out

    def make(rows: Sequence[tuple[Row, int]]) -> Notices:
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
