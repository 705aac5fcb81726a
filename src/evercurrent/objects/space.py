"""All objects of a database in process: carries their changes to the views.

space.add(schema); ann = space.kind("employee").cls(name="Ann")      every view of employees is updated
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import ZSet
from evercurrent.errors import EvaluationError, stops_anywhere
from evercurrent.objects.class_space import ALIVE, ClassSpace
from evercurrent.objects.classes.building import rewrite
from evercurrent.objects.classes.class_source import Traits
from evercurrent.objects.classes.fast_changes import write_fast_changes
from evercurrent.objects.classes.readers import Readers
from evercurrent.objects.collections.owned import Owned
from evercurrent.objects.collections.referrers import ReferrerIndex
from evercurrent.objects.lender import Lender
from evercurrent.objects.model.kinds import Kind
from evercurrent.objects.model.work import Work
from evercurrent.objects.stores import ObjectStore
from evercurrent.session.blame import blame, blame_read, rename_error

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class Changing:
    """The context manager of a change: joins the open transaction, or begins one for this call alone."""

    __slots__ = ("block", "space")

    def __init__(self, space: Space) -> None:
        self.space = space

    def __enter__(self) -> Work:
        session = self.space.session
        self.block = session.changing()
        transaction = self.block.enter(sys._getframe(1), self)
        transaction.objects = self.space.work
        return self.space.work

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.block.__exit__(kind, error, trace)


class Space(ClassSpace):
    """The objects of one session."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.session = session
        self.lender = Lender(self)
        self.tracked = False  # whether all setters keep the referrers

    # --- who reads what ------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compiles the writes of objects again: views or subscriptions have changed."""
        readers = Readers(self.session)
        self.tables_read = readers.tables
        for kind in self.kinds.values():
            reads = tuple(
                (n, frozenset(sheet.fields[c - 1].position for c in columns if c > 0))
                for n, sheet in enumerate(kind.sheets)
                if (columns := readers.columns.get(sheet.table)) is not None
                and sheet.table not in readers.quiet
            )
            kind.read = tuple(s for s in kind.sheets if s.table in readers.tables)
            notified = frozenset(n for n, s in enumerate(kind.sheets) if s.table in readers.notified)
            guarded = frozenset(
                f.position
                for sheet in kind.sheets
                for f in kind.fields
                if f.name in readers.assumed.get(sheet.table, ())
                or sheet.table in readers.reread
                or any(f.name in k.names for k in kind.keys)
            )
            journal = self.cautious and any(s.table in readers.failing for s in kind.sheets)
            rewrite(
                kind,
                self.names(kind),
                Traits(reads, notified, guarded, self.back is not None, journal),
                readers,
            )
            for f in kind.fields:
                if f.many:
                    write_fast_changes(self, f, readers, ALIVE)

    # --- transactions --------------------------------------------------------------------------------------

    @property
    def is_committing(self) -> bool:
        """Whether a transaction is being committed: what it has changed is the data then."""
        return self.session.committing is not None

    def changing(self) -> Changing:
        """The transaction that is open, or one for this call alone."""
        return Changing(self)

    def rescue(self, error: BaseException, journal: bool) -> None:
        """Undoes a change that failed while a trigger ran, and makes every view right again.

        `torn` is set meanwhile: if this is interrupted, the next user rebuilds.
        """
        session = self.session
        if isinstance(error, EvaluationError):  # the objects still hold what has failed
            with suppress(Exception):
                scene, new = session.scene(), self._dirty_rows()
                rename_error(error, blame(scene, error, new) if new else blame_read(scene, error))
        self.work.undo()
        if journal and not stops_anywhere(error) and not any(session.maintenance.engine.core.lone):
            session.maintenance.undo()
            session.maintenance.torn = False
        else:
            self.cautious = self.cautious or isinstance(error, Exception)
            session.rebuild()

    def _dirty_rows(self) -> dict[str, ZSet]:
        """Returns the rows of the objects that are being changed, by tables."""
        found: dict[str, ZSet] = {}
        for thing in self.work.dirty:
            for sheet in thing._kind.sheets:
                found.setdefault(sheet.name, ZSet()).add(sheet.row(thing), 1)
        return found

    def prepare_deleting(self, kind: Kind) -> None:
        """Builds the index of referrers, before the first deletion that needs it."""
        if not self.tracked and ReferrerIndex.is_needed(self, kind):
            self.back = ReferrerIndex(self)
            self.refresh()
            self.tracked = True  # only now: before, an interrupt may have left setters that do not keep it

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self, table: str) -> ZSet:
        """Returns the present rows of a table."""
        found = ZSet()
        for kind, sheet in self.sheets.get(table, ()):
            row = sheet.row
            for thing in kind:
                found.weights[row(thing)] = 1
        for kind, f in self.apart.get(table, ()):
            for thing in kind:
                for entry in collection_rows(thing.oid, f.slot.__get__(thing)):
                    found.add(entry, 1)
        return found

    # --- tables and triggers -------------------------------------------------------------------------------

    def store(self, table: Table) -> ObjectStore | None:
        key = table.name.lower()
        return ObjectStore(self, table) if key in self.sheets or key in self.apart else None

    def trigger_names(self) -> dict[str, Any]:
        return {"M": self.session.maintenance, "J": self.session.maintenance.engine.core.journal}


def space_of(session: Session) -> Space | None:
    """Returns the objects of a session, None if no class is declared."""
    return cast("Space | None", session.space)


def collection_rows(oid: int, owned: Owned) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a collection in a table of its own."""
    inside = owned.element_inside
    if isinstance(owned, list):
        for i, x in enumerate(owned):
            yield oid, i, inside(x)
    elif isinstance(owned, dict):
        for key, x in owned.items():
            yield oid, owned.key_inside(key), inside(x)
    else:
        for x in owned:  # type: ignore[attr-defined]
            yield oid, inside(x)
