"""The readers of the tables of classes: which columns the program uses, and which functions a change must call.

Readers(session).columns      {"employees": frozenset({1, 3})}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables
from evercurrent.data.types import Reference
from evercurrent.delta.program import Input, Keyed, Lookup, Program
from evercurrent.design.lazy_views import find_used_columns
from evercurrent.session.feed import Trigger
from evercurrent.term.nodes import Column

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class Readers:
    """What the views and subscriptions of now ask of a write. Tables are by lower-cased names."""

    def __init__(self, session: Session) -> None:
        program = session.maintenance.design.program
        self.session = session
        self.names = {r.name.lower(): r.name for r in program.relations if isinstance(r, Input)}
        self.columns = {
            table: used for table, name in self.names.items() if (used := find_used_columns(program, name))
        }
        """For each table that views read, the positions of the columns that they use."""
        engine = session.maintenance.engine
        self.failing = frozenset(
            table for table, name in self.names.items() if table in self.columns and engine.may_fail(name)
        )
        """The tables of which a change can fail: its triggers must be undone then."""
        later = session.maintenance.lazy.inputs
        for name in later:
            used = find_used_columns(session.maintenance.design.later, name)
            self.columns[name.lower()] = self.columns.get(name.lower(), frozenset()) | used
            self.names[name.lower()] = name
        self.quiet = frozenset(
            table for table, name in self.names.items() if name not in later and engine.is_quiet(name)
        )
        """The tables of which a change outside a transaction updates no state: views read these columns off the objects."""
        notified = find_subscribed_tables(session)
        self.notified = notified | (self.failing & {name.lower() for name in later})
        """The tables of which a change somebody must be notified: it takes a transaction."""
        self.tables = frozenset(self.columns) | notified
        self.assumed: dict[str, frozenset[str]] = {}
        for a in program.assumptions:
            key = a.parent.lower()
            self.assumed[key] = self.assumed.get(key, frozenset()) | frozenset(a.columns)
        self.reread = frozenset(
            key for key in self.assumed if key in self.names and rereads(program, self.names[key])
        )
        """The tables whose rows must not be gone between a trigger and the next: a write of them takes a transaction."""

    def trigger(self, table: str, sign: int, journal: bool) -> Trigger:
        return self.session.maintenance.trigger(self.names[table], sign, journal)

    def apart(self, table: str, sign: int, journal: bool, of_class: bool) -> Callable[..., object]:
        """The trigger of a table that takes the columns one by one, and objects where they refer to any.

        Of the table of a class the first one is the identity itself: the object is not there yet when it comes.
        """
        name = self.names[table]
        maintenance = self.session.maintenance
        programs = (maintenance.design.program, maintenance.design.later)
        (source, *_) = [r for p in programs for r in p.relations if isinstance(r, Input) and r.name == name]
        return maintenance.apart(name, sign, journal, _things(source.columns, 1 if of_class else 0))


def _things(columns: Sequence[Column], first: int) -> frozenset[int]:
    return frozenset(i for i, c in enumerate(columns) if i >= first and isinstance(c.type, Reference))


def rereads(program: Program, table: str) -> bool:
    """Whether what follows from the change of a row looks the row up again.

    Of a parent that is assumed to stay, a row that is deleted and inserted again is applied as one change. One trigger after the
    other is as good, unless a later stage looks the row up while it is not there.
    """
    kept = {rule.into for rule in program.triggers.get(table, ())}
    reached, moved = {table}, set(kept)
    while True:
        more = {
            r.name
            for r in program.relations
            if (r.name in moved or (isinstance(r, Keyed) and r.state in moved)) and r.name not in reached
        }
        if not more:
            break
        reached |= more
        moved |= {rule.into for name in more for rule in program.triggers.get(name, ())}
    later = [rule for name in reached - {table} for rule in program.triggers.get(name, ())]
    return any(isinstance(step, Lookup) and step.state in kept for rule in later for step in rule.steps)


def find_subscribed_tables(session: Session) -> frozenset[str]:
    """The tables under what is subscribed to, asserted or recomputed in full; all, where a file keeps them."""
    catalog: Catalog = session.catalog
    if session.keeper is not None:
        return frozenset(catalog.tables)
    watched = {n.lower() for n in session.subscribers.watched} | {
        n.lower() for n in session.maintenance.design.recomputed
    }
    for assertion in catalog.assertions.values():
        watched |= {n.lower() for n in assertion.uses}
    return base_tables(catalog, frozenset(watched))
