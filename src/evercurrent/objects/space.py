"""All objects of a database in process: makes their classes, and carries their changes to the views.

space.add(schema); ann = space.kind("employee").cls(name="Ann")      every view of employees is updated
"""

from __future__ import annotations

import datetime
import sys
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from evercurrent.catalog.classes import Class, Schema
from evercurrent.catalog.extents import OWNER, Apart
from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import ZSet
from evercurrent.errors import EvercurrentError
from evercurrent.objects.classes.building import build, rewrite
from evercurrent.objects.classes.class_source import Traits
from evercurrent.objects.classes.fast_changes import write_fast_changes
from evercurrent.objects.classes.readers import Readers
from evercurrent.objects.collections import relationships
from evercurrent.objects.collections.owned import Owned
from evercurrent.objects.collections.referrers import ReferrerIndex
from evercurrent.objects.deleting import delete
from evercurrent.objects.lender import Lender
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.keys import key_conflict
from evercurrent.objects.model.kinds import Field, Key, Kind
from evercurrent.objects.model.registry import Registry
from evercurrent.objects.model.work import Work
from evercurrent.objects.stores import ObjectStore

if TYPE_CHECKING:
    from evercurrent.session.maintenance import Maintenance
    from evercurrent.session.session import Session

ALIVE = getattr(threading, "_active", {0: None, 1: None})
"""The running threads. While there is only one, writes outside a transaction need no lock."""


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


class Space(Registry):
    """The objects of one session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.lender = Lender(self)
        self.tracked = False  # whether all setters keep the referrers

    # --- classes -------------------------------------------------------------------------------------------

    def add(self, schema: Schema) -> None:
        """Makes Python classes for the classes that are new."""
        self.schema = schema
        for name in schema.classes:
            if name not in self.kinds:
                for one in schema.lineage(name):
                    if one.name not in self.kinds:
                        self._add(one)

    def _add(self, declared: Class) -> None:
        kind = build(self, declared)
        self.kinds[declared.name] = kind
        for sheet in kind.sheets:
            self.sheets.setdefault(sheet.table, []).append((kind, sheet))
        for f in kind.fields:
            if isinstance(f.place, Apart) and f.place.owner == OWNER:
                self.apart.setdefault(f.place.table.lower(), []).append((kind, f))
        keys = []
        for one in kind.lineage:
            for names in one.keys:
                keys.append(self.keys.setdefault((one.name, names), Key(one, names, {})))
        kind.keys = tuple(keys)

    def remove(self, schema: Schema) -> None:
        """Removes the classes that the schema does not have; their objects are deleted already."""
        gone_ones = [k for name, k in self.kinds.items() if name not in schema.classes]
        self.schema = schema
        for kind in gone_ones:
            del self.kinds[kind.name]
            for sheet in kind.sheets:
                self.sheets[sheet.table].remove((kind, sheet))
            for f in kind.fields:
                if isinstance(f.place, Apart) and f.place.owner == OWNER:
                    self.apart[f.place.table.lower()].remove((kind, f))

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
        self.work.undo()
        if journal and isinstance(error, EvercurrentError) and not any(session.maintenance.engine.core.lone):
            session.maintenance.undo()
            session.maintenance.torn = False
        else:
            self.cautious = self.cautious or isinstance(error, Exception)
            session.rebuild()

    def enter(self, thing: Object, given: Iterable[tuple[Field, Any]]) -> None:
        """Adds a new object, with its relationships and collections."""
        later = [(f, value) for f, value in given if value is not None]
        for f, _ in later:
            if not f.many:
                f.slot.__set__(thing, None)
        with self.changing() as work:
            self.identify(thing)
            work.dirty[thing] = None  # before it is there: whoever is interrupted in between can be undone
            self.register(thing)
            try:
                for f, value in later:
                    if f.many:
                        f.slot.__get__(thing).assign(value)
                    else:
                        relationships.link(work, thing, f, value)
            except Exception:
                self.delete(thing)
                raise
            if self.back is not None:
                self.back.note(thing)

    def set(self, thing: Object, f: Field, value: Any) -> None:
        """Writes a field in a transaction; the value is converted already."""
        if f.relationship is None:
            with self.changing() as work:
                work.touch(thing)
                if self.back is not None and f.refers:
                    self.back.forget(thing, f)
                f.slot.__set__(thing, value)
                if self.back is not None and f.refers:
                    self.back.note(thing, f)
            return
        with self.changing() as work:
            old = f.slot.__get__(thing)
            if value is not None:
                relationships.link(work, thing, f, value)
            elif old is not None:
                relationships.unlink(work, thing, f, old)

    def delete(self, thing: Object) -> None:
        """Deletes an object: nothing refers to it any more."""
        delete(self, thing)

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

    # --- tables --------------------------------------------------------------------------------------------

    def store(self, table: Table) -> ObjectStore | None:
        key = table.name.lower()
        return ObjectStore(self, table) if key in self.sheets or key in self.apart else None

    def journal_of_triggers(self) -> list[Any]:
        """Where the compiled triggers write down how to undo them."""
        return self.session.maintenance.engine.core.journal

    def maintenance(self) -> Maintenance | None:
        """What keeps the views that compiled triggers change; None: there are no such triggers."""
        return self.session.maintenance

    def names(self, kind: Kind) -> dict[str, Any]:
        """What the source of a class refers to."""
        return {
            "S": self.session,
            "M": self.maintenance(),
            "A": ALIVE,
            "dirty": self.work.dirty,
            "live": self.live,
            "born": self.live.append,
            "create": object.__new__,
            "cls": kind.cls,
            "set": self.set,
            "enter": self.enter,
            "work": self.work,
            "journal": self.work.journal.append,
            "undoing": self.work.journal.extend,
            "snapshot": kind.snapshot,
            "rescue": self.rescue,
            "J": self.journal_of_triggers(),
            "clash": lambda n, value, thing: key_conflict(
                kind.keys[n], value, kind.keys[n].objects[value], thing
            ),
            **{f"keys{n}": key.objects for n, key in enumerate(kind.keys)},
            "back": self.back,
            "date": datetime.date,
            "add": set.add,
            "discard": set.discard,
        }


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
