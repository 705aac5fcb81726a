"""One class of the schema as a Python class: its fields, its tables, its objects.

kind.named["salary"].position, kind.sheets[0].table, len(kind)      3, "employees", 2
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Attribute, Class, Property, Relationship, is_many, targets
from evercurrent.catalog.extents import Inside, Kept, Single, place_of
from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.errors import QueryError
from evercurrent.objects.model.values import Function, inside

if TYPE_CHECKING:
    from evercurrent.objects.model.handles import Object
    from evercurrent.objects.model.registry import Registry

Get = Callable[[Any], Any]
Set = Callable[[Any, Any], None]


@dataclass(slots=True, eq=False)
class Field:
    """A property of the objects of a class: it stands in the slot `_position`."""

    name: str
    position: int
    declaration: Property
    declaring: Class
    place: Kept
    inside: Function  # from what the slot holds to what stands in a row
    take: Function  # from the user's value to what the slot holds; of a collection, of its elements
    get: Get
    set: Set
    slot: Any = None  # the member descriptor: slot.__set__(o, v) writes without telling anyone
    owned: type | None = None  # of a collection: the class of its value
    closed: type | None = None  # the class of its value once the object is gone
    refers: bool = False  # whether it is an attribute whose values can refer to objects

    @property
    def type(self) -> Type:
        return self.declaration.type

    @property
    def many(self) -> bool:
        return is_many(self.declaration.type)

    @property
    def in_row(self) -> bool:
        """Whether it is a column of the table of the class."""
        return isinstance(self.place, Single | Inside)

    @property
    def relationship(self) -> Relationship | None:
        return self.declaration if isinstance(self.declaration, Relationship) else None


@dataclass(slots=True, eq=False)
class Sheet:
    """The table of the objects of a class, as objects of one kind (of the class, or of one that extends it) stand in it."""

    table: str  # lower-cased
    name: str
    fields: tuple[Field, ...]
    row: Callable[[Any], Row] = field(default=lambda o: ())  # of an object as it is
    before: Callable[[int, Any], Row] = field(default=lambda oid, s: ())  # of a snapshot


UNKNOWN = -1
"""The number of deleted objects while it changes."""


@dataclass(slots=True, eq=False)
class Kind:
    """One class. `objects` are those of exactly this class, in the order of their making, `dead` of them gone since."""

    space: Registry
    declared: Class
    lineage: tuple[Class, ...]
    fields: tuple[Field, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    objects: list[Object] = field(default_factory=list)
    dead: int = 0
    cls: type[Object] = None  # type: ignore[assignment]
    deleted: type[Object] = None  # type: ignore[assignment]
    undone: type[Object] = None  # type: ignore[assignment]
    snapshot: Callable[[Any], tuple[Any, ...]] = field(default=lambda o: ())
    restore: Callable[[Any, Any], None] = field(default=lambda o, s: None)
    make: Any = None  # the function that does what calling `cls` does, but quicker
    names: dict[str, Any] = field(default_factory=dict)  # what the written functions refer to
    traits: object = None  # what they were written for
    named: dict[str, Field] = field(default_factory=dict)
    read: tuple[Sheet, ...] = ()  # the sheets that somebody reads
    keys: tuple[Key, ...] = ()

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def ancestors(self) -> frozenset[str]:
        return frozenset(c.name for c in self.lineage)

    def __iter__(self) -> Iterator[Object]:
        """The objects that are there."""
        self.space.list_new_objects()
        if self.dead == UNKNOWN:
            self.dead = sum(1 for o in self.objects if o._gone)
        if not self.dead:
            return iter(self.objects)
        alive = [o for o in self.objects if not o._gone]
        if self.dead * 2 > len(self.objects) and not self.space.work.dirty:
            # Not in a transaction: what it has deleted may come back.
            self.dead = UNKNOWN
            self.objects[:] = alive
            self.dead = 0
        return iter(alive)

    def __len__(self) -> int:
        self.space.list_new_objects()
        if self.dead == UNKNOWN:
            self.dead = sum(1 for o in self.objects if o._gone)
        return len(self.objects) - self.dead

    def field(self, name: str) -> Field:
        found = self.named.get(name)
        if found is None:
            near = difflib.get_close_matches(str(name), list(self.named), 1)
            raise QueryError(
                f"{self.name} has no property {name!r}",
                hint=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self.named)}",
            )
        return found


@dataclass(slots=True, eq=False)
class Key:
    """A declared key: the object under each of its values, over the class that declares it and all that extend it."""

    declaring: Class
    names: tuple[str, ...]
    objects: dict[Any, Any]

    @property
    def constraint(self) -> str:
        return f"{self.declaring.relation}_{'_'.join(self.names)}"


def fields_of(
    space: Registry, name: str, taker: Callable[[Property, Class], Function], unset: Set
) -> Iterator[Field]:
    """The fields of a class, inherited ones first; without their functions."""
    for i, (declaring, property) in enumerate(space.schema.properties(name).values(), 1):
        yield Field(
            property.name,
            i,
            property,
            declaring,
            place_of(space.schema, name, property.name),
            inside(property.type),
            taker(property, declaring),
            lambda o: None,
            unset,
            refers=isinstance(property, Attribute) and bool(targets(property.type)),
        )
