"""All objects of a database as data: classes, identities, and what the open transaction has changed.

    registry.kinds["employee"].objects      [<employee 1>, <employee 2>]
    registry.at(2)                          <employee 2>

What the layers below `objects.space` need of it stands here: nothing in this room builds a class or knows a session.

Law. An identity is given once: `live[oid]` is the object, or None once it is deleted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol
from weakref import WeakValueDictionary

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.lookup import unknown
from evercurrent.data.zset import ZSet
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import UNKNOWN, Field, Key, Kind, Sheet
from evercurrent.objects.model.work import Work


class Referrers(Protocol):
    """Who refers to an object by an attribute (`collections.referrers`)."""

    def note(self, thing: Object, field: Field | None = None) -> None:
        """Lists the object under everything that it refers to."""

    def note_element(self, owned: Any, element: Any) -> None:
        """Lists the owner of a collection under what a new element refers to."""

    def forget(self, thing: Object, f: Field) -> None:
        """Takes the object out of the lists of what a single-valued field refers to."""

    def clear(self, work: Work, thing: Object) -> None:
        """Clears every reference to the object."""


class Registry(ABC):
    """The objects of one database, by class and by identity."""

    def __init__(self) -> None:
        self.schema = Schema()
        self.kinds: dict[str, Kind] = {}
        self.live: list[Object | None] = [None]  # by identity
        self.listed = 1  # objects below this identity are listed by their kinds too
        self.buried: WeakValueDictionary[int, Object] = WeakValueDictionary()
        self.work = Work(self)
        self.back: Referrers | None = None  # who refers to whom; from the first deletion on
        self.sheets: dict[str, list[tuple[Kind, Sheet]]] = {}
        self.apart: dict[str, list[tuple[Kind, Field]]] = {}  # collections with a table of their own
        self.tables_read: frozenset[str] = frozenset()
        self.keys: dict[tuple[str, tuple[str, ...]], Key] = {}
        self.cautious = False  # after a trigger has failed, those that can fail write down how to undo them
        self.bodies: dict[str, dict[str, Any]] = {}  # what classes written in Python have besides properties

    # --- what a database does in its own way -----------------------------------------------------------------

    @property
    @abstractmethod
    def is_committing(self) -> bool:
        """Whether a transaction is being committed: what it has changed is the data then."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[Work]:
        """Returns the context of a change: the open transaction, or one for this call alone."""

    @abstractmethod
    def rescue(self, error: BaseException, journal: bool) -> None:
        """Undoes a change that failed while a trigger ran, and makes every view right again."""

    @abstractmethod
    def delete(self, thing: Object) -> None:
        """Deletes an object: nothing refers to it any more."""

    @abstractmethod
    def prepare_deleting(self, kind: Kind) -> None:
        """Makes sure that the referrers of objects of this kind can be found."""

    @abstractmethod
    def rows(self, table: str) -> ZSet:
        """Returns the present rows of a table."""

    # --- classes ---------------------------------------------------------------------------------------------

    def kind(self, name: str) -> Kind:
        found = self.kinds.get(name)
        if found is None:
            raise unknown("class", name, list(self.kinds))
        return found

    # --- identities ------------------------------------------------------------------------------------------

    def identify(self, thing: Object) -> None:
        """Gives a new object its identity."""
        thing.oid = len(self.live)

    def register(self, thing: Object) -> None:
        """Gives a new object its place."""
        self.live.append(thing)

    @property
    def identities(self) -> int:
        """The first identity that has not been given."""
        return len(self.live)

    def at(self, oid: int) -> Object | None:
        """Returns the object of an identity, None if there is none."""
        return self.live[oid] if 0 < oid < len(self.live) else None

    def list_new_objects(self) -> None:
        """Lists the objects that were made since the last call under their kinds."""
        end = len(self.live)
        for thing in self.live[self.listed : end]:
            if thing is not None:
                objects = thing._kind.objects
                if not objects or objects[-1] is not thing:  # else an interrupt came right here
                    objects.append(thing)
            self.listed += 1

    def extent(self, name: str) -> Iterator[Object]:
        """Yields the objects of a class and of all that extend it."""
        for c in self.schema.subclasses(name):
            yield from list(self.kinds[c.name])

    def count(self, name: str) -> int:
        """Counts the objects of a class and of all that extend it."""
        return sum(len(self.kinds[c.name]) for c in self.schema.subclasses(name))

    # --- transactions ----------------------------------------------------------------------------------------

    def forget_changes(self, only_objects: bool) -> None:
        """Forgets the changes of a transaction: it is committed."""
        self.work.clear()

    # --- deletion --------------------------------------------------------------------------------------------

    def bury(self, thing: Object, cls: type[Object]) -> None:
        """Gives a deleted object, and its collections, the class that says so. Idempotent, also if it was interrupted."""
        self.list_new_objects()  # a deleted object is listed, so that it can be revived
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
        """Brings a deleted object back. Idempotent, also if it was interrupted."""
        kind = thing._kind
        dead, kind.dead = kind.dead, UNKNOWN
        self.live[thing.oid] = thing
        for f in kind.fields:
            if f.many:
                f.slot.__get__(thing).__class__ = f.owned
        thing.__class__ = kind.cls
        kind.dead = dead if dead == UNKNOWN else dead - 1

    def clear_references(self, work: Work, thing: Object) -> None:
        """Clears every attribute that refers to the object."""
        if self.back is not None:
            self.back.clear(work, thing)
