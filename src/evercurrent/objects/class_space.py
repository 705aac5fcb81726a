"""The objects of a database, whichever it is: makes their classes, enters new objects, changes and deletes them.

    space.add(schema); space.kinds["employee"].cls(name="Ann")      an object with an identity, in a transaction

Law. Every change of an object runs in `changing()`, and is noted in `work` before it is made. What differs between
databases (where objects are found, what a commit does) is left to the class that inherits: `objects.space` in process,
`warehouse.objects.stored_objects` on Spark.
"""

from __future__ import annotations

import datetime
import threading
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Protocol

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Class, Schema
from evercurrent.catalog.extents import OWNER, Apart
from evercurrent.objects.classes.building import build
from evercurrent.objects.collections import relationships
from evercurrent.objects.deleting import delete
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.keys import key_conflict
from evercurrent.objects.model.kinds import Field, Key, Kind
from evercurrent.objects.model.registry import Registry
from evercurrent.rows.subscriptions import Subscription

ALIVE = getattr(threading, "_active", {0: None, 1: None})
"""The running threads. While there is only one, writes outside a transaction need no lock."""


class ObjectOwner(Protocol):
    """What objects, their classes and their extents need of a database."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def space(self) -> Any:
        """Its objects (`ClassSpace`); None if no class is declared."""

    @property
    def idle(self) -> bool:
        """Whether a change outside a transaction may be made at once, without one."""

    @property
    def transaction(self) -> Any:
        """The transaction that such changes join."""

    def subscribe(self, name: str, callback: Any, when: Any) -> Subscription: ...


class ClassSpace(Registry):
    """The objects of one database, and the Python classes of their classes."""

    def __init__(self, owner: ObjectOwner) -> None:
        super().__init__()
        self.owner = owner

    @abstractmethod
    def trigger_names(self) -> dict[str, Any]:
        """What the source of a class calls the maintenance of views (M) and the journal of its triggers (J)."""

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
        """Removes the classes that the schema does not have; their objects are deleted already. Idempotent."""
        gone = [k for name, k in self.kinds.items() if name not in schema.classes]
        self.sheets = {t: [e for e in found if e[0] not in gone] for t, found in self.sheets.items()}
        self.apart = {t: [e for e in found if e[0] not in gone] for t, found in self.apart.items()}
        self.keys = {key: found for key, found in self.keys.items() if key[0] in schema.classes}
        self.kinds = {name: k for name, k in self.kinds.items() if k not in gone}
        self.schema = schema

    def follow(self, schema: Schema) -> None:
        if self.schema is not schema or self.kinds.keys() != schema.classes.keys():
            self.remove(schema)
            self.add(schema)

    # --- changes -------------------------------------------------------------------------------------------

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

    def names(self, kind: Kind) -> dict[str, Any]:
        """What the source of a class refers to."""
        return {
            **self.trigger_names(),
            "S": self.owner,
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
            "clash": lambda n, value, thing: key_conflict(
                kind.keys[n], value, kind.keys[n].objects[value], thing
            ),
            **{f"keys{n}": key.objects for n, key in enumerate(kind.keys)},
            "back": self.back,
            "date": datetime.date,
            "add": set.add,
            "discard": set.discard,
        }
