"""Values of OQL: nil is None, UNDEFINED is what a step through nil gives, collections say their kind.

Equality is by `key`: objects by identity, everything else by value, to any depth.

>>> key(Set([1, 2, 2])) == key(Set([2, 1])), key(Bag([1, 1])) == key(Bag([1]))
(True, False)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any


class Undefined:
    """The one value UNDEFINED."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


class Bag:
    """A collection in which order does not matter and repetition does."""

    kind = "bag"

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items = list(items)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.items))})"


class Set(Bag):
    """A collection in which neither matters."""

    kind = "set"

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(distinct(items))


@dataclass(frozen=True)
class Struct:
    """Named values, in order."""

    fields: tuple[tuple[str, Any], ...]

    @staticmethod
    def of(**fields: Any) -> Struct:
        return Struct(tuple(fields.items()))

    def __getitem__(self, name: str) -> Any:
        return dict(self.fields)[name]

    def __contains__(self, name: str) -> bool:
        return any(name == field for field, _ in self.fields)

    def __repr__(self) -> str:
        return f"struct({', '.join(f'{n}: {v!r}' for n, v in self.fields)})"


class Dictionary:
    """Keys with values."""

    def __init__(self, items: dict[Any, Any]) -> None:
        self.entries = dict(items)

    def __repr__(self) -> str:
        return f"dictionary({self.entries!r})"


def distinct(items: Iterable[Any]) -> list[Any]:
    """The first of each."""
    seen: dict[Hashable, Any] = {}
    for item in items:
        seen.setdefault(key(item), item)
    return list(seen.values())


def elements(value: Any) -> list[Any]:
    """The elements of a collection; of nil and UNDEFINED there are none."""
    match value:
        case None | Undefined():
            return []
        case Bag(items=items):
            return items
        case Dictionary(entries=entries):
            return list(entries.values())
        case list() | tuple():
            return list(value)
    raise TypeError(f"not a collection: {value!r}")


def key(value: Any) -> Hashable:
    """What makes two values one: equal keys, equal values."""
    match value:
        case None:
            return "nil"
        case Undefined():
            return "undefined"
        case bool() | str():
            return (type(value).__name__, value)
        case Set(items=items):
            return ("set", frozenset(key(i) for i in items))
        case Bag(items=items):
            return ("bag", frozenset(Counter(key(i) for i in items).items()))
        case list() | tuple():
            return ("list", tuple(key(i) for i in value))
        case Struct(fields=fields):
            return ("struct", tuple((name, key(v)) for name, v in fields))
        case Dictionary(entries=entries):
            return ("dictionary", frozenset((key(k), key(v)) for k, v in entries.items()))
    return value
