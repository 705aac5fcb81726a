"""Classes, as ODL text or Python classes declare them.

A class has attributes (values, references to objects, collections of either), relationships (references or collections of
references that are kept consistent with their inverse) and operations (pure functions). A class that `extends` another has all
of its properties, and its objects are in the other's extent too. How they are kept as tables is said in `extents`.

>>> from evercurrent.data.types import STRING
>>> person = Class("person", extent="Persons", properties=(Attribute("name", STRING),))
>>> employee = Class("employee", parent="person", extent="Employees")
>>> schema = Schema({"person": person, "employee": employee})
>>> list(schema.properties("employee")), schema.is_a("employee", "person")
(['name'], True)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from typing import Literal as Choice

from evercurrent.data.types import Array, Collection, Map, Member, Reference, Struct, Type
from evercurrent.source import Place

Keeping = Choice["table", "array"]
"""How a collection attribute is kept: as a table of owners and elements, or as an array in the row of its owner."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a value may be beyond its type: the bounds of ODL's unsigned types, octets and times; an enumeration's labels."""

    least: int | None = None
    greatest: int | None = None
    labels: tuple[str, ...] = ()


Path = tuple[str, ...]
"""The way to a part of a value: "element" of a collection, "key" and "value" of a dictionary, a member of a struct."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value, a struct, a reference, or a collection (`Collection`, `Map` for a dictionary) of any of them.

    `least` and `greatest` bound what ODL's unsigned types and octets can hold; `labels` are the values of an enumeration,
    which is a string. `inner` are such limits of parts of the value.
    """

    name: str
    type: Type
    readonly: bool = False
    keeping: Keeping = "table"
    least: int | None = None
    greatest: int | None = None
    labels: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)
    inner: tuple[tuple[Path, Limit], ...] = ()

    def limit(self, path: Path = ()) -> Limit:
        """The limit of the value, or of a part of it."""
        if not path:
            return Limit(self.least, self.greatest, self.labels)
        return dict(self.inner).get(path, Limit())


@dataclass(frozen=True, slots=True)
class Relationship:
    """A reference (`kind` is "one") or a collection of references to objects of `target`; `inverse` is its other end there.

    Every cardinality is two relationships: one to one, one to many, many to many.
    """

    name: str
    target: str
    kind: Choice["one", "set", "bag", "list"]
    inverse: str
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def type(self) -> Type:
        to = Reference(self.target)
        return to if self.kind == "one" else Collection(self.kind, to)


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of an object and arguments, without side effects; a subclass may override it."""

    name: str
    parameters: tuple[Member, ...]
    type: Type
    function: Callable[..., Any] | None = field(default=None, compare=False, repr=False)
    place: Place | None = field(default=None, compare=False, repr=False)


Property = Attribute | Relationship


@dataclass(frozen=True, slots=True)
class Class:
    """One class, with what it declares itself; see `Schema` for what it inherits."""

    name: str
    parent: str | None = None
    extent: str | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    properties: tuple[Property, ...] = ()
    operations: tuple[Operation, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)
    module: str = ""

    @property
    def relation(self) -> str:
        """The name of the table of its objects: the extent's, or without an extent the class's own."""
        return self.extent or self.name


@dataclass(frozen=True, slots=True)
class Schema:
    """All classes of a database, by exact name (names of ODL are case-sensitive)."""

    classes: dict[str, Class] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.classes)

    def lineage(self, name: str) -> tuple[Class, ...]:
        """The class and what it extends, the most general first."""
        found: list[Class] = []
        at: str | None = name
        while at is not None:
            found.append(self.classes[at])
            at = self.classes[at].parent
        return tuple(reversed(found))

    def is_a(self, name: str, general: str) -> bool:
        """Whether every object of the class is one of the general class."""
        return any(c.name == general for c in self.lineage(name))

    def subclasses(self, name: str) -> tuple[Class, ...]:
        """The class and everything that extends it, directly or not."""
        return tuple(c for c in self.classes.values() if self.is_a(c.name, name))

    def common(self, left: str, right: str) -> str | None:
        """The most special class that both are."""
        return next((c.name for c in reversed(self.lineage(left)) if self.is_a(right, c.name)), None)

    def properties(self, name: str) -> dict[str, tuple[Class, Property]]:
        """Every property of the objects of a class, inherited ones first, with the class that declares it."""
        return {p.name: (c, p) for c in self.lineage(name) for p in c.properties}

    def operations(self, name: str) -> dict[str, tuple[Class, Operation]]:
        """Every operation, as the most special class defines it."""
        return {o.name: (c, o) for c in self.lineage(name) for o in c.operations}

    def of_relation(self, relation: str) -> Class | None:
        """The class whose objects a table holds, by the table's name."""
        return next((c for c in self.classes.values() if c.relation.lower() == relation.lower()), None)


def targets(t: Type) -> frozenset[str]:
    """The classes that values of a type can refer to."""
    match t:
        case Reference(target):
            return frozenset({target})
        case Collection(_, element) | Array(element):
            return targets(element)
        case Map(key, value):
            return targets(key) | targets(value)
        case Struct(members):
            return frozenset().union(*(targets(m.type) for m in members))
        case _:
            return frozenset()


def is_many(t: Type) -> bool:
    """Whether a property of this type is a collection that is kept apart from its owner's row."""
    return isinstance(t, Collection | Map | Array)
