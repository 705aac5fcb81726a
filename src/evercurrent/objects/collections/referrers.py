"""Who refers to an object by an attribute: what must be cleared when it is deleted.

    index.found[ann]      {(sales, Department.head): None}

Relationships know their other ends; attributes do not. Nothing is kept until the first deletion of an object that an attribute
could refer to; then the index is built once over all objects, and from there on writes of references maintain it.

Law. Whoever refers to an object is listed under it; who is listed need not refer to it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Attribute, Schema, targets
from evercurrent.data.collections import Bag
from evercurrent.data.representation import FrozenMap, Record
from evercurrent.data.types import Array, Collection, Map, Reference, Struct, Type
from evercurrent.objects.collections import raw
from evercurrent.objects.collections.owned import Owned, OwnedBag, OwnedSet
from evercurrent.objects.collections.positioned import OwnedDict, OwnedList
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Field, Kind

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry
    from evercurrent.objects.model.work import Work


class ReferrerIndex:
    """For each object, the (owner, field) pairs that may refer to it."""

    def __init__(self, space: Registry) -> None:
        self.found: dict[Object, dict[tuple[Object, Field], None]] = {}
        for kind in space.kinds.values():
            if any(f.refers for f in kind.fields):
                for thing in kind:
                    self.note(thing)

    @staticmethod
    def is_needed(space: Registry, kind: Kind) -> bool:
        """Whether some attribute can refer to objects of this kind."""
        schema: Schema = space.schema
        names = {
            t
            for c in schema.classes.values()
            for p in c.properties
            if isinstance(p, Attribute)
            for t in targets(p.type)
        }
        return bool(names & kind.ancestors)

    def note(self, thing: Object, field: Field | None = None) -> None:
        """List the object under everything that it refers to."""
        for f in [f for f in thing._kind.fields if f.refers] if field is None else [field]:
            for target in objects_in(f.type, f.slot.__get__(thing)):
                self.found.setdefault(target, {})[(thing, f)] = None

    def note_element(self, owned: Owned, element: Any) -> None:
        """Lists the owner of a collection under what a new element refers to."""
        t = owned.field.type
        if owned.field.refers:
            for target in objects_in(t.element if isinstance(t, Collection) else t.value, element):  # type: ignore[union-attr]
                self.found.setdefault(target, {})[(owned.owner, owned.field)] = None
            if isinstance(t, Map):
                self.note(owned.owner, owned.field)

    def forget(self, thing: Object, f: Field) -> None:
        """Takes the object out of the lists of what a single-valued field refers to."""
        for target in objects_in(f.type, f.slot.__get__(thing)):
            self.found.get(target, {}).pop((thing, f), None)

    def clear(self, work: Work, thing: Object) -> None:
        """Clears every reference to the object."""
        listed = self.found.get(thing, {})
        work.journal.append((self.found.__setitem__, thing, listed))
        self.found.pop(thing, None)
        for owner, f in listed:
            if owner is thing or owner._gone:
                continue
            held: Any = f.slot.__get__(owner)
            if not f.many:
                without = strip(held, thing)
                if without is not held:
                    work.touch(owner)
                    f.slot.__set__(owner, without)
                continue
            take_out(work, held, thing)


def take_out(work: Work, held: Any, thing: Object) -> None:
    """Removes an object from a collection, wherever in its elements it is."""
    match held:
        case OwnedSet():
            for x in [x for x in held if strip(x, thing) is not x]:
                raw.take(work, held, x)
                rest = strip(x, thing)
                if rest is not None and rest not in held:
                    raw.put(work, held, rest)
        case OwnedBag():
            for x, times in list(held.counts.items()):
                rest = strip(x, thing)
                if rest is not x:
                    raw.count(work, held, x, -times)
                    if rest is not None:
                        raw.count(work, held, rest, times)
        case OwnedList():
            new = [(x, strip(x, thing)) for x in held]
            if any(rest is not x for x, rest in new):
                kept = [rest for x, rest in new if rest is x or rest is not None]
                raw.splice(work, held, 0, len(held), kept)
        case OwnedDict():
            for key, x in list(held.items()):
                rest = strip(x, thing)
                if strip(key, thing) is not key or (rest is None and x is not None):
                    raw.leave(work, held, key)
                elif rest is not x:
                    raw.enter(work, held, key, rest)


def objects_in(t: Type, value: Any) -> set[Object]:
    """Returns the objects that a value refers to."""
    if value is None or not targets(t):
        return set()
    match t:
        case Reference():
            return {value}
        case Collection(_, element) | Array(element):
            return set().union(*(objects_in(element, x) for x in value))
        case Map(key, element):
            return set().union(*(objects_in(key, k) | objects_in(element, x) for k, x in value.items()))
        case Struct(members):
            return set().union(*(objects_in(m.type, x) for m, x in zip(members, value.values(), strict=True)))
        case _:
            return set()


def strip(value: Any, thing: Object) -> Any:
    """The value without the object: a reference to it is nil, a collection loses it; the same value if it is not there."""
    if value is thing:
        return None
    match value:
        case Record():
            new = tuple(strip(x, thing) for x in value.values())
            changed = any(a is not b for a, b in zip(new, value.values(), strict=True))
            return Record(tuple(value), new) if changed else value
        case tuple() | frozenset() | Bag():
            kept = [(x, strip(x, thing)) for x in value]
            if all(a is b for a, b in kept):
                return value
            return type(value)(b for a, b in kept if a is b or b is not None)
        case FrozenMap():
            entries = {k: strip(x, thing) for k, x in value.items() if strip(k, thing) is k}
            if len(entries) == len(value) and all(entries[k] is value[k] for k in entries):
                return value
            return FrozenMap({k: x for k, x in entries.items() if x is not None or value[k] is None})
        case _:
            return value
