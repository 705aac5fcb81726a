"""Collections as the user sees them: a bag, a set, and the value UNDEFINED. A list is a Python list, a struct a `Record`.

Equality is deep and does not ask for order: elements may be records, lists, or other bags and sets.

>>> Bag([1, 2, 2]) == Bag([2, 1, 2]), Bag([1]) == Bag([1, 1]), Set([[1], [1]]) == Set([[1]])
(True, False, True)
>>> Bag(["b", "a"]), Set([1]), UNDEFINED
(Bag(['a', 'b']), Set([1]), undefined)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from evercurrent.data.representation import Record


class Undefined:
    """The result of a step through nil. There is one, `UNDEFINED`; it is false, and equal to itself alone."""

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> Any:
        return Undefined, ()

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


def identity_of(value: Any) -> Hashable:
    """What makes two values one: equal identities, equal values. NaN equals itself."""
    match value:
        case bool():
            return ("bool", value)
        case float() if math.isnan(value):
            return ("nan",)
        case Bag():
            return ("bag", frozenset(value._counts.items()))
        case Set():
            return ("set", frozenset(value._items))
        case set() | frozenset():
            return ("set", frozenset(map(identity_of, value)))
        case list() | tuple():
            return ("list", tuple(map(identity_of, value)))
        case Constructed():
            return ("object", value._of, tuple((n, identity_of(v)) for n, v in value.items()))
        case Mapping():
            return ("map", frozenset((identity_of(k), identity_of(v)) for k, v in value.items()))
        case _:
            return value  # type: ignore[no-any-return]


class Constructed(Record):
    """An object that a query constructs: equal values of one class are one object.

    >>> Constructed("person", ("name",), ("Ann",))
    person(name='Ann')
    """

    __slots__ = ("_of",)

    def __init__(self, of: str, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        super().__init__(names, values)
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constructed) and identity_of(self) == identity_of(other)

    def __hash__(self) -> int:
        return hash(identity_of(self))

    def __reduce__(self) -> Any:
        return Constructed, (self._of, self._names, self._values)

    def __repr__(self) -> str:
        return self._of + super().__repr__().removeprefix("Record")


class Bag(Collection[Any]):
    """Elements in no order, each as often as it is there."""

    __slots__ = ("_counted", "_elements")

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._elements = list(elements)
        self._counted: Counter[Hashable] | None = None

    @property
    def _counts(self) -> Counter[Hashable]:
        """How often each element is there; found when it is first asked for."""
        if self._counted is None:
            self._counted = Counter(map(identity_of, self._elements))
        return self._counted

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __contains__(self, value: object) -> bool:
        return identity_of(value) in self._counts

    def count(self, value: object) -> int:
        """How often a value is in the bag."""
        return self._counts[identity_of(value)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bag):
            return self._counts == other._counts
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._counts.items()))

    def __repr__(self) -> str:
        return f"Bag({list_in_order(self._elements)})"


class Set(AbstractSet[Any]):
    """Elements in no order, each once. It equals Python's sets of the same elements."""

    __slots__ = ("_items",)

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._items: dict[Hashable, Any] = {}
        for element in elements:
            self._items.setdefault(identity_of(element), element)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, value: object) -> bool:
        return identity_of(value) in self._items

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Set):
            return self._items.keys() == other._items.keys()
        if isinstance(other, AbstractSet):
            return self._items.keys() == set(map(identity_of, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._items))

    def __repr__(self) -> str:
        return f"Set({list_in_order(self)})"


def list_in_order(elements: Iterable[Any]) -> list[Any]:
    """In order where there is one, so that equal collections look alike."""
    found = list(elements)
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=repr)
