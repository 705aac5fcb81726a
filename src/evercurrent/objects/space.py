"""All objects of a database: their classes, their identities, and how what they do reaches the views."""

from __future__ import annotations

import datetime
import sys
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from evercurrent.catalog.classes import Attribute, Class, Property, Schema
from evercurrent.catalog.extents import OWNER, Apart, tables_of
from evercurrent.catalog.nodes import Table
from evercurrent.data.types import Collection, Map
from evercurrent.data.zset import ZSet
from evercurrent.errors import EvercurrentError
from evercurrent.objects.classes.building import build, rewrite
from evercurrent.objects.classes.class_source import Traits
from evercurrent.objects.classes.keys import clash
from evercurrent.objects.classes.kinds import UNKNOWN, Field, Key, Kind, Sheet
from evercurrent.objects.collections import relationships
from evercurrent.objects.collections.fast_changes import quicken
from evercurrent.objects.collections.owned import Owned
from evercurrent.objects.collections.referrers import Backward
from evercurrent.objects.handles import Object
from evercurrent.objects.lending import Lending
from evercurrent.objects.reading import Readers
from evercurrent.objects.stores import ObjectStore
from evercurrent.objects.values import Function, taker
from evercurrent.objects.work import Work

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


class Space:
    """The objects of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lender = Lending(self)
        self.schema = Schema()
        self.kinds: dict[str, Kind] = {}
        self.live: list[Object | None] = [None]  # by identity
        self.sorted_out = 1  # objects up to this one are listed by their kinds too
        self.buried: WeakValueDictionary[int, Object] = WeakValueDictionary()
        self.work = Work(self)
        self.back: Backward | None = None  # who refers to whom; from the first deletion on
        self.tracked = False  # whether all setters keep it
        self.sheets: dict[str, list[tuple[Kind, Sheet]]] = {}
        self.apart: dict[str, list[tuple[Kind, Field]]] = {}
        self.tables_read: frozenset[str] = frozenset()
        self.keys: dict[tuple[str, tuple[str, ...]], Key] = {}
        self.cautious = False  # after a trigger has failed, those that can fail write down how to undo them
        self.bodies: dict[str, dict[str, Any]] = {}  # what classes written in Python have besides properties

    # --- classes -------------------------------------------------------------------------------------------

    def add(self, schema: Schema) -> None:
        """Make Python classes for the classes that are new."""
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
        """Forget classes that the schema does not have; their objects are deleted already."""
        gone_ones = [k for name, k in self.kinds.items() if name not in schema.classes]
        self.schema = schema
        for kind in gone_ones:
            del self.kinds[kind.name]
            for sheet in kind.sheets:
                self.sheets[sheet.table].remove((kind, sheet))
            for f in kind.fields:
                if isinstance(f.place, Apart) and f.place.owner == OWNER:
                    self.apart[f.place.table.lower()].remove((kind, f))

    def take_function(self, property: Property, declaring: Class) -> Function:
        """What takes in the values of a property, or the elements of a collection."""
        what = f"{declaring.name}.{property.name}"
        attribute = property if isinstance(property, Attribute) else Attribute(property.name, property.type)
        match property.type:
            case Collection(_, element):
                return taker(self, attribute, element, ("element",), what)
            case Map(_, value):
                return taker(self, attribute, value, ("value",), what)
            case t:
                return taker(self, attribute, t, (), what)

    def kind(self, name: str) -> Kind:
        found = self.kinds.get(name)
        if found is None:
            from evercurrent.catalog.lookup import unknown

            raise unknown("class", name, list(self.kinds))
        return found

    # --- who reads what ------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Views or subscriptions have changed: so has what a write must do."""
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
            told = frozenset(n for n, s in enumerate(kind.sheets) if s.table in readers.told)
            guarded = frozenset(
                f.position
                for sheet in kind.sheets
                for f in kind.fields
                if f.name in readers.assumed.get(sheet.table, ())
                or sheet.table in readers.torn
                or any(f.name in k.names for k in kind.keys)
            )
            journal = self.cautious and any(s.table in readers.failing for s in kind.sheets)
            rewrite(kind, Traits(reads, told, guarded, self.back is not None, journal), readers)
            for f in kind.fields:
                if f.many:
                    quicken(self, kind, f, readers, ALIVE)

    # --- transactions --------------------------------------------------------------------------------------

    def changing(self) -> Changing:
        """The transaction that is open, or one for this call alone."""
        return Changing(self)

    def rescue(self, error: BaseException, journal: bool) -> None:
        """A trigger was stopped: every view as the objects are. `torn` is set: if this is interrupted, the next user rebuilds."""
        session = self.session
        self.work.undo()
        if journal and isinstance(error, EvercurrentError) and not any(session.maintenance.engine.core.lone):
            session.maintenance.undo()
            session.maintenance.torn = False
        else:
            self.cautious = self.cautious or isinstance(error, Exception)
            session.rebuild()

    def enter(self, thing: Object, given: Iterable[tuple[Field, Any]]) -> None:
        """A new object joins, with its relationships and collections."""
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

    def identify(self, thing: Object) -> None:
        """Gives a new object its identity."""
        thing.oid = len(self.live)

    def register(self, thing: Object) -> None:
        """Gives a new object its place."""
        self.live.append(thing)

    def set(self, thing: Object, f: Field, value: Any) -> None:
        """Write a field in a transaction; the value is taken in already."""
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
        """Delete an object: nothing refers to it any more."""
        from evercurrent.objects.deleting import delete

        delete(self, thing)

    def settled(self, only_objects: bool) -> None:
        """A transaction with changes of objects stands."""
        self.work.clear()

    def clear_references(self, work: Work, thing: Object) -> None:
        """No attribute refers to the object any more."""
        if self.back is not None:
            self.back.clear(work, thing)

    def prepare_deleting(self, kind: Kind) -> None:
        """From the first deletion on that needs it, know who refers to whom."""
        if not self.tracked and Backward.wanted(self, kind):
            self.back = Backward(self)
            self.refresh()
            self.tracked = True  # only now: before, an interrupt may have left setters that do not keep it

    def bury(self, thing: Object, cls: type[Object]) -> None:
        """Make an object, and its collections, say that it is gone. If it is interrupted, it can be called again."""
        self.sort_out()  # whoever is gone is listed, so that it can come back
        kind = thing._kind
        dead, kind.dead = kind.dead, UNKNOWN
        if thing.oid < len(self.live):  # else an interrupt has kept it from getting its place
            self.live[thing.oid] = None
        else:
            dead = UNKNOWN
        for f in thing._kind.fields:
            if f.many:
                f.slot.__get__(thing).__class__ = f.closed
        self.buried[thing.oid] = thing
        thing.__class__ = cls
        kind.dead = dead if dead == UNKNOWN else dead + 1

    def revive(self, thing: Object) -> None:
        """Make an object be there again. If it is interrupted, it can be called again."""
        kind = thing._kind
        dead, kind.dead = kind.dead, UNKNOWN
        self.live[thing.oid] = thing
        for f in kind.fields:
            if f.many:
                f.slot.__get__(thing).__class__ = f.owned
        thing.__class__ = kind.cls
        kind.dead = dead if dead == UNKNOWN else dead - 1

    # --- reading -------------------------------------------------------------------------------------------

    def at(self, oid: int) -> Object | None:
        """The object of an identity."""
        return self.live[oid] if 0 < oid < len(self.live) else None

    def sort_out(self) -> None:
        """List the objects that were made since the last time under their kinds."""
        end = len(self.live)
        for thing in self.live[self.sorted_out : end]:
            if thing is not None:
                objects = thing._kind.objects
                if not objects or objects[-1] is not thing:  # else an interrupt came right here
                    objects.append(thing)
            self.sorted_out += 1

    def extent(self, name: str) -> Iterator[Object]:
        """The objects of a class and of all that extend it."""
        for c in self.schema.subclasses(name):
            yield from list(self.kinds[c.name])

    def count(self, name: str) -> int:
        """How many objects of a class and of all that extend it there are."""
        return sum(len(self.kinds[c.name]) for c in self.schema.subclasses(name))

    def rows(self, table: str) -> ZSet:
        """The present rows of a table."""
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

    def tables(self, schema: Schema) -> list[Table]:
        """The tables of the classes that are new."""
        return [t for name in schema.classes if name not in self.kinds for t in tables_of(schema, name)]

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
            "clash": lambda n, value, thing: clash(kind.keys[n], value, kind.keys[n].objects[value], thing),
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
    """The rows of a collection in a table of its own."""
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
