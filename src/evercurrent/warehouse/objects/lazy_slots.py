"""Slots of stored objects, which are read when they are asked for.

A slot holds what the row says. A reference that was not followed yet is a `Pointer`, a struct or array with references in it that
nobody has looked at is `Unread`, and a collection that was not read is None. `LazySlot` replaces each by what it stands for. So
reading one object does not read all that it leads to:

    emp.dept        Pointer(7) in the slot: reads the object 7, and keeps it in the slot
"""

from __future__ import annotations

from typing import Any, Protocol

from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Field
from evercurrent.objects.model.values import Function


class SlotReader(Protocol):
    """Reads what slots stand for."""

    def at(self, oid: int) -> Object | None: ...

    def value(self, thing: Object, f: Field, cell: Any) -> Any: ...

    def collection(self, thing: Object, f: Field) -> Any: ...


class Pointer:
    """A reference that nobody has followed yet."""

    __slots__ = ("oid",)

    def __init__(self, oid: int) -> None:
        self.oid = oid


class Unread:
    """A value with references in it, as it stands in the row."""

    __slots__ = ("cell",)

    def __init__(self, cell: Any) -> None:
        self.cell = cell


def row_value(inside: Function) -> Function:
    """What stands in a row for what a slot holds, read or not."""
    return lambda held: held.cell if type(held) is Unread else inside(held)


class LazySlot:
    """A slot that follows references and reads collections when it is asked."""

    __slots__ = ("field", "raw", "space")

    def __init__(self, space: SlotReader, field: Field, raw: Any) -> None:
        self.space, self.field, self.raw = space, field, raw

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        value = self.raw.__get__(thing)
        if type(value) is Pointer:
            value = self.space.at(value.oid)
            self.raw.__set__(thing, value)
        elif type(value) is Unread:
            value = self.space.value(thing, self.field, value.cell)
            self.raw.__set__(thing, value)
        elif value is None and self.field.many:
            value = self.space.collection(thing, self.field)
            self.raw.__set__(thing, value)
        return value

    def __set__(self, thing: Any, value: Any) -> None:
        self.raw.__set__(thing, value)
