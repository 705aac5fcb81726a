"""Objects whose rows lie in stores: the objects of a database on Spark.

A handle reads when it is asked: its row by its identity, the object that it refers to when that is used, a collection by its owner.
Changes are gathered and committed as those in the process are (`work`, `links`, `raw`), as one version. A handle that is held
while the database goes to another version reads again. The slots of an object are also read when they are asked for (`lazy_slots`).

    [p.name for p in db.extent("Persons")]            ['Ann']
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any
from weakref import WeakValueDictionary

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Class, Schema, targets
from evercurrent.catalog.extents import OWNER, Apart, Inside, Inverse, Single
from evercurrent.data.types import Map, Reference, Struct
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import InternalError
from evercurrent.objects.class_space import ClassSpace
from evercurrent.objects.classes.building import rewrite, write_rows
from evercurrent.objects.classes.class_source import Traits
from evercurrent.objects.classes.structs import OwnedStruct
from evercurrent.objects.collections.owned import Owned, OwnedBag
from evercurrent.objects.collections.referrers import objects_in, strip, take_out
from evercurrent.objects.model.handles import Object, unavailable_error
from evercurrent.objects.model.kinds import Field, Kind
from evercurrent.objects.model.values import outside
from evercurrent.objects.model.work import Work
from evercurrent.rows.subscriptions import Subscription
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.objects.lazy_slots import LazySlot, Pointer, Unread, row_value

EPOCH = 1_577_836_800_000  # 2020, in milliseconds


class StoredSession:
    """What objects need of a database: here, of one on Spark."""

    idle = False  # every change is a version
    transaction = None

    def __init__(self, core: Core, table: Callable[[str], Any]) -> None:
        self.core = core
        self.table = table
        self.space: StoredSpace | None = None

    @property
    def catalog(self) -> Catalog:
        return self.core.catalog

    def subscribe(self, name: str, callback: Any, when: Any) -> Subscription:
        found: Subscription = self.table(name).subscribe(callback, when=when)
        return found


class Changing:
    """A transaction of the warehouse, with the objects' part in it."""

    __slots__ = ("block", "space")

    def __init__(self, space: StoredSpace) -> None:
        self.space = space
        self.block = Block(space.core)

    def __enter__(self) -> Work:
        transaction = self.block.enter(sys._getframe(1), self)
        try:
            transaction.require_open()
            self.space.fresh()
            transaction.objects = self.space.work
        except BaseException as error:
            self.block.__exit__(type(error), error, None)
            raise
        return self.space.work

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.block.__exit__(kind, error, trace)


class StoredSpace(ClassSpace):
    """The objects of a database on Spark."""

    def __init__(self, session: StoredSession) -> None:
        super().__init__(session)
        self.core = session.core
        self.handles: WeakValueDictionary[int, Object] = WeakValueDictionary()
        self.version = self.core.version
        self.last = 0

    # --- classes -------------------------------------------------------------------------------------------

    def add(self, schema: Schema) -> None:
        super().add(schema)
        self.tables_read = frozenset((*self.sheets, *self.apart))
        for kind in self.kinds.values():
            if kind.read:
                continue
            kind.read = kind.sheets
            for f in kind.fields:
                f.slot = LazySlot(self, f, f.slot)
                f.get = self._getter(f)
                f.inside = row_value(f.inside)
            write_rows(kind)
            notified = frozenset(range(len(kind.sheets)))
            self.rewrite(kind, Traits(notified=notified))

    def remove(self, schema: Schema) -> None:
        lost = [kind for name, kind in self.kinds.items() if name not in schema.classes]
        super().remove(schema)
        for thing in [t for t in self.handles.values() if t._kind in lost]:
            self.bury(thing, thing._kind.deleted)

    def rewrite(self, kind: Kind, traits: Traits) -> None:
        rewrite(kind, self.names(kind), traits, None)

    def _getter(self, f: Field) -> Any:
        def get_held(thing: Any) -> Any:
            return f.slot.__get__(thing)

        def get(thing: Any) -> Any:
            self.fresh()
            if thing._gone:
                raise unavailable_error(thing)
            found = get_held(thing)
            if found is None or not isinstance(f.type, Struct):
                return found
            return OwnedStruct(lambda: get_held(thing), lambda new: f.set(thing, new))

        return get

    def prepare_deleting(self, kind: Kind) -> None:
        """Who refers to an object is found in the stores."""

    def trigger_names(self) -> dict[str, Any]:
        return {"M": None, "J": []}

    # --- identities and handles ----------------------------------------------------------------------------

    def identity(self) -> int:
        """A number that no driver gives twice: the time, and a counter within it."""
        now = (time.time_ns() // 1_000_000 - EPOCH) << 22
        self.last = max(self.last + 1, now)
        return self.last

    def identify(self, thing: Object) -> None:
        thing.oid = self.identity()

    def register(self, thing: Object) -> None:
        self.handles[thing.oid] = thing

    def bury(self, thing: Object, cls: type[Object]) -> None:
        self.buried[thing.oid] = thing
        self.handles.pop(thing.oid, None)
        thing.__class__ = cls

    def revive(self, thing: Object) -> None:
        self.handles[thing.oid] = thing
        thing.__class__ = thing._kind.cls

    def at(self, oid: int) -> Object | None:
        found = self.handles.get(oid)
        if found is None:
            found = self.load([oid], list(self.schema.classes.values())).get(oid)
        return found

    def load(self, oids: Iterable[int], classes: list[Class]) -> dict[int, Object]:
        """Handles of these identities; the most special class in whose table one is, is its class."""
        found = {oid: h for oid in oids if (h := self.handles.get(oid)) is not None}
        left = {(oid,) for oid in oids if oid not in found}
        buried = {(t.oid,) for t in self.work.dirty if t._gone}
        left -= buried
        for c in sorted(classes, key=lambda c: -len(self.schema.lineage(c.name))):
            if not left:
                break
            for row in self.find(c.relation, (0,), left):
                found[row[0]] = self.build_handle(self.kinds[c.name], row)
                left.discard((row[0],))
        return found

    def build_handle(self, kind: Kind, row: Row) -> Object:
        """The handle of an object of exactly this kind, from its row."""
        thing = self.handles.get(row[0])
        if thing is None:
            thing = object.__new__(kind.cls)
            thing.oid = row[0]
            self.fill(thing, row)
            self.handles[row[0]] = thing
        return thing

    def fill(self, thing: Object, row: Row) -> None:
        kind = thing._kind
        cells = dict(zip([f.position for f in kind.sheets[-1].fields], row[1:], strict=True))
        for f in kind.fields:
            slot = f.slot.raw
            if not f.in_row:
                slot.__set__(thing, None)
            elif isinstance(f.type, Reference):
                value = cells[f.position]
                slot.__set__(thing, None if value is None else Pointer(value))
            elif targets(f.type):
                slot.__set__(thing, Unread(cells[f.position]))
            else:
                slot.__set__(thing, self.value(thing, f, cells[f.position]))

    def value(self, thing: Object, f: Field, cell: Any) -> Any:
        """What a slot holds, for what stands in the row."""
        found = outside(self, f.type)(cell)
        return self.build_owned(thing, f, found or ()) if isinstance(f.place, Inside) else found

    def fresh(self) -> None:
        """Reads the handles that are held again, if the database has a newer version that was not written through objects."""
        core = self.core
        if self.version == core.version or self.work.dirty:
            return
        self.version = core.version
        held = dict(self.handles)
        self.handles.clear()
        for kind in self.kinds.values():
            own = {(oid,) for oid, thing in held.items() if thing._kind is kind}
            for row in self.find(kind.declared.relation, (0,), own):
                thing = held.pop(row[0])
                self.handles[row[0]] = thing
                self.fill(thing, row)
        for thing in held.values():
            self.bury(thing, thing._kind.deleted)

    # --- rows ----------------------------------------------------------------------------------------------

    def find(self, table: str, columns: tuple[int, ...], keys: set[Row]) -> list[Row]:
        """The committed rows of a table by the values of columns."""
        core = self.core
        key = table.lower()
        if not keys:
            return []
        store, types = core.table_segments(key), core.table_types(key)
        rows = core.engine.find(store, types, columns, keys, all_of=True)
        return [row for row, weight in rows for _ in range(weight)]

    def every(self, table: str) -> list[Row]:
        core = self.core
        rows = core.engine.rows(core.table_segments(table), core.table_types(table))
        return [row for row, weight in rows for _ in range(weight)]

    def collection(self, thing: Object, f: Field) -> Owned:
        """A collection, read by its owner."""
        place = f.place
        new = self.work.dirty.get(thing, ()) is None
        if new:
            return self.build_owned(thing, f, {} if isinstance(f.type, Map) else ())
        match place:
            case Inverse(table, column, _, target):
                names = [c.name for c in self.core.table(table).columns]
                rows = self.find(table, (names.index(column),), {(thing.oid,)})
                return self.build_owned(thing, f, self._objects([r[0] for r in rows], target))
            case Apart(table, kind, element, owner):
                rows = self.find(table, (0 if owner == OWNER else -1 % self._width(table),), {(thing.oid,)})
                where = -1 if owner == OWNER else 0
                if kind in ("list", "dictionary") and owner == OWNER:
                    rows.sort(key=lambda r: r[1]) if kind == "list" else None
                values = [r[where] for r in rows]
                if isinstance(element, Reference):
                    held = self._objects(values, element.target)
                else:
                    held = [outside(self, element)(v) for v in values]
                if kind == "dictionary":
                    assert isinstance(f.type, Map)
                    keys = [outside(self, f.type.key)(r[1]) for r in rows]
                    return self.build_owned(thing, f, dict(zip(keys, held, strict=True)))
                return self.build_owned(thing, f, held)
            case _:
                raise AssertionError(place)

    def _width(self, table: str) -> int:
        return len(self.core.table(table).columns)

    def _objects(self, oids: list[int | None], target: str) -> list[Object | None]:
        found = self.load([o for o in oids if o is not None], list(self.schema.subclasses(target)))
        return [None if o is None else found[o] for o in oids if o is None or o in found]

    def build_owned(self, thing: Object, f: Field, content: Any) -> Owned:
        """A collection with this content."""
        made: Any = f.owned() if f.owned is not None else None
        made.owner = thing
        if isinstance(made, OwnedBag):
            for x in content:
                made.move(x, 1)
        elif isinstance(made, dict):
            dict.update(made, content)
        elif isinstance(made, list):
            list.extend(made, content)
        else:
            set.update(made, content)
        return made  # type: ignore[no-any-return]

    # --- transactions --------------------------------------------------------------------------------------

    @property
    def is_committing(self) -> bool:
        return False

    def rescue(self, error: BaseException, journal: bool) -> None:
        """There are no triggers that could fail."""
        raise InternalError("a trigger of an object on Spark")

    def rows(self, table: str) -> ZSet:
        return ZSet.of(self.every(table))

    def changing(self) -> Changing:
        return Changing(self)

    def forget_changes(self, only_objects: bool) -> None:
        """A transaction with changes of objects is committed."""
        self.work.clear()
        if only_objects:
            self.version = self.core.version

    def clear_references(self, work: Work, thing: Object) -> None:
        """Finds the objects that refer to an object by an attribute, in the stores and among the handles, and clears the attribute."""
        for kind in list(self.kinds.values()):
            for f in kind.fields:
                if f.refers:
                    for owner in self._find_referring(kind, f, thing):
                        if owner is not thing and not owner._gone:
                            self._strip(work, owner, f, thing)

    def _find_referring(self, kind: Kind, f: Field, thing: Object) -> list[Object]:
        place = f.place
        held = [h for h in list(self.handles.values()) if h._kind is kind]
        match place:
            case Single(_, column, Reference()):
                names = [c.name for c in self.core.table(kind.declared.relation).columns]
                rows = self.find(kind.declared.relation, (names.index(column),), {(thing.oid,)})
                oids = [r[0] for r in rows]
            case Apart(table, _, Reference()):
                oids = [r[0] for r in self.find(table, (self._width(table) - 1,), {(thing.oid,)})]
            case Apart(table):
                oids = [r[0] for r in self.every(table)]
            case _:
                oids = [r[0] for r in self.every(kind.declared.relation)]
        found = self.load(dict.fromkeys(oids), [kind.declared])
        return [*dict.fromkeys([*(o for o in found.values() if o._kind is kind), *held])]

    def _strip(self, work: Work, owner: Object, f: Field, thing: Object) -> None:
        held = f.slot.raw.__get__(owner)
        if f.many:
            take_out(work, f.slot.__get__(owner), thing)
            return
        if type(held) is Unread:
            held = f.slot.__get__(owner)
        elif type(held) is Pointer:
            held = f.slot.__get__(owner) if held.oid == thing.oid else None
        if held is not None and thing in objects_in(f.type, held):
            work.touch(owner)
            f.slot.__set__(owner, strip(held, thing))

    # --- extents -------------------------------------------------------------------------------------------

    def extent(self, name: str) -> Iterator[Object]:
        self.fresh()
        found: dict[int, Object] = {}
        classes = sorted(self.schema.subclasses(name), key=lambda c: -len(self.schema.lineage(c.name)))
        gone_ones = {t.oid for t in self.work.dirty if t._gone}
        for c in classes:
            for row in self.every(c.relation):
                if row[0] not in found and row[0] not in gone_ones:
                    found[row[0]] = self.build_handle(self.kinds[c.name], row)
        for thing, values in self.work.dirty.items():
            if values is None and not thing._gone and name in thing._kind.ancestors:
                found[thing.oid] = thing
        return iter(found.values())

    def count(self, name: str) -> int:
        return sum(1 for _ in self.extent(name))
