"""Classes and objects as plain Python: attributes in a dictionary, identity is Python's own.

Types are written as tuples: ("class", "person"), ("set", T), ("bag", T), ("list", T), ("dictionary", K, V),
("struct", ((name, T), ...)), or a word: "int", "float", "string", "boolean", "date", "timestamp", "decimal".

Relationships are kept consistent from either end; deleting an object takes it out of every collection and makes every
reference to it nil, wherever that is. Everything is found by looking at everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.oql.oracle.values import Bag, Dictionary, Set, Struct, key

Type = Any
MANY = ("set", "bag", "list", "dictionary")


@dataclass
class Class:
    name: str
    extent: str | None
    properties: dict[str, Type]
    parent: str | None = None
    inverses: dict[str, tuple[str, str]] = field(default_factory=dict)
    operations: dict[str, tuple[Type, Callable[..., Any]]] = field(default_factory=dict)


class Object:
    """An object; it is equal to itself only."""

    def __init__(self, of: Class, number: int) -> None:
        self.of = of
        self.number = number
        self.values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return f"{self.of.name}#{self.number}"


class Model:
    """The classes, the objects that are there, and the named objects."""

    def __init__(self, classes: list[Class]) -> None:
        self.classes = {c.name: c for c in classes}
        self.extents = {c.extent: c for c in classes if c.extent}
        self.objects: list[Object] = []
        self.names: dict[str, Object] = {}
        self.count = 0

    # Schema

    def ancestors(self, name: str) -> list[Class]:
        found, at = [], self.classes.get(name)
        while at is not None:
            found.append(at)
            at = self.classes.get(at.parent) if at.parent else None
        return found

    def is_a(self, name: str, general: str) -> bool:
        return any(c.name == general for c in self.ancestors(name))

    def properties(self, name: str) -> dict[str, Type]:
        return {p: t for c in reversed(self.ancestors(name)) for p, t in c.properties.items()}

    def inverse(self, name: str, prop: str) -> tuple[str, str] | None:
        return next((c.inverses[prop] for c in self.ancestors(name) if prop in c.inverses), None)

    def operation(self, name: str, operation: str) -> tuple[Type, Callable[..., Any]] | None:
        return next(
            (c.operations[operation] for c in self.ancestors(name) if operation in c.operations), None
        )

    def extent(self, name: str) -> list[Object]:
        of = self.extents[name].name
        return [o for o in self.objects if self.is_a(o.of.name, of)]

    # Changes

    def new(self, name: str, /, **values: Any) -> Object:
        made = Object(self.classes[name], self.count)
        self.count += 1
        for prop, t in self.properties(name).items():
            made.values[prop] = ({} if t[0] == "dictionary" else []) if t[0] in MANY else None
        self.objects.append(made)
        for prop, value in values.items():
            self.set(made, prop, value)
        return made

    def set(self, owner: Object, prop: str, value: Any) -> None:
        """Assignment, of a single value or of a whole collection."""
        t = self.properties(owner.of.name)[prop]
        inverse = self.inverse(owner.of.name, prop)
        if t[0] in MANY:
            if t[0] == "dictionary":
                owner.values[prop] = dict(value)
                return
            for element in list(owner.values[prop]):
                self.remove(owner, prop, element)
            for element in value:
                self.add(owner, prop, element)
            return
        if inverse is not None:
            old = owner.values[prop]
            if old is value:
                return
            if old is not None:
                self._unlink(old, inverse[1], owner)
            if value is not None:
                self._link(value, inverse[1], owner, prop)
        owner.values[prop] = value

    def add(self, owner: Object, prop: str, element: Any, at: int | None = None) -> None:
        """insert_element; `at` a place of a list."""
        t = self.properties(owner.of.name)[prop]
        held = owner.values[prop]
        if t[0] == "set" and key(element) in {key(e) for e in held}:
            return
        inverse = self.inverse(owner.of.name, prop)
        if inverse is not None:
            self._link(element, inverse[1], owner, prop)
        held.insert(len(held) if at is None else at, element)

    def remove(self, owner: Object, prop: str, element: Any) -> None:
        """remove_element: one occurrence, the first."""
        held = owner.values[prop]
        place = [key(e) for e in held].index(key(element))
        del held[place]
        inverse = self.inverse(owner.of.name, prop)
        if inverse is not None:
            self._unlink(element, inverse[1], owner)

    def put(self, owner: Object, prop: str, at: Any, value: Any) -> None:
        """Assignment to an index of a list or a key of a dictionary."""
        inverse = self.inverse(owner.of.name, prop)
        if inverse is not None:
            old = owner.values[prop][at]
            if old is value:
                return
            self._unlink(old, inverse[1], owner)
            place = owner.values[prop]
            place[at] = None  # nothing finds it while the other end moves
            self._link(value, inverse[1], owner, prop)
        owner.values[prop][at] = value

    def pop(self, owner: Object, prop: str, at: Any) -> None:
        """Deletion of an index of a list or a key of a dictionary."""
        inverse = self.inverse(owner.of.name, prop)
        if inverse is not None:
            self._unlink(owner.values[prop][at], inverse[1], owner)
        del owner.values[prop][at]

    def delete(self, gone: Object) -> None:
        self.objects.remove(gone)
        for other in self.objects:
            for prop, value in other.values.items():
                other.values[prop] = _without(value, gone)
        for name, named in list(self.names.items()):
            if named is gone:
                del self.names[name]

    def _link(self, target: Object, prop: str, owner: Object, own: str) -> None:
        """The other end takes the owner up, and lets go of what it held if it holds one only."""
        if isinstance(target.values[prop], list):
            if owner not in target.values[prop]:
                target.values[prop].append(owner)
            return
        old = target.values[prop]
        if old is not None and old is not owner:
            self._unlink(old, own, target)
        target.values[prop] = owner

    def _unlink(self, target: Object, prop: str, owner: Object) -> None:
        if isinstance(target.values[prop], list):
            if owner in target.values[prop]:
                target.values[prop].remove(owner)
        elif target.values[prop] is owner:
            target.values[prop] = None

    # Reading

    def read(self, owner: Object, prop: str) -> Any:
        t = self.properties(owner.of.name)[prop]
        return freeze(t, owner.values[prop])


def freeze(t: Type, value: Any) -> Any:
    """A value as queries see it."""
    match t[0] if isinstance(t, tuple) else t:
        case "set":
            return Set(freeze(t[1], v) for v in value)
        case "bag":
            return Bag(freeze(t[1], v) for v in value)
        case "list":
            return [freeze(t[1], v) for v in value]
        case "dictionary":
            return Dictionary({k: freeze(t[2], v) for k, v in value.items()})
        case "struct" if value is not None:
            return Struct(tuple((n, freeze(ft, value[n])) for n, ft in t[1]))
    return value


def _without(value: Any, gone: Object) -> Any:
    """A value without an object: out of collections, nil where it stands alone."""
    match value:
        case Object():
            return None if value is gone else value
        case list():
            return [_without(v, gone) for v in value if v is not gone]
        case dict():
            return {k: _without(v, gone) for k, v in value.items() if v is not gone}
    return value
