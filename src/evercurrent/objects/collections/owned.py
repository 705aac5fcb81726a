"""Collections that belong to an object: Python's own interfaces, and the names of the same operations in ODMG.

    ann.skills.add("sql")      a set of strings; `insert_element` is its name in ODMG

Reading one is as quick as reading a set, a list or a dictionary, since it is one. Every change goes through one of a few
functions: insert or delete an element (set, bag), replace a slice (list), set or delete an entry (dictionary). A call that
fails has changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.objects.collections import raw, relationships
from evercurrent.objects.model.handles import Object, unavailable_error

if TYPE_CHECKING:
    from evercurrent.objects.model.kinds import Field
    from evercurrent.objects.model.registry import Registry


class Owned:
    """What all of them have. Each property has a class of its own, which knows its field."""

    __slots__ = ()
    owner: Object
    space: ClassVar[Registry]
    field: ClassVar[Field]
    take: ClassVar[Any]  # an element as it is held
    element_inside: ClassVar[Any]  # an element as it stands in a row
    key_take: ClassVar[Any]
    key_inside: ClassVar[Any]
    what: ClassVar[str]

    def _changing(self) -> Any:
        if self.owner._gone:
            raise unavailable_error(self.owner)
        return self.space.changing()

    def _as_list(self, elements: Any) -> list[Any]:
        """What was given for the whole collection, as a list; nothing stands for none."""
        if elements is None:
            return []
        if isinstance(elements, Iterable) and not isinstance(elements, str | bytes | Mapping):
            if getattr(elements, "shape", None) != ():
                return list(elements)
        raise QueryError(f"{self.what} takes a collection of elements, not {show_value(elements)}")

    def _take_all(self, elements: Any) -> list[Any]:
        """The elements as the collection holds them."""
        return [self.take(x) for x in self._as_list(elements)]

    # --- under the names of ODMG ---------------------------------------------------------------------------

    def cardinality(self) -> int:
        """How many elements it holds."""
        return len(self)  # type: ignore[arg-type]

    def is_empty(self) -> bool:
        """Whether it holds no element."""
        return not len(self)  # type: ignore[arg-type]

    def is_ordered(self) -> bool:
        """Whether its elements have an order."""
        return isinstance(self, list)

    def allows_duplicates(self) -> bool:
        """Whether it can hold an element twice."""
        return not isinstance(self, set | dict)

    def contains_element(self, element: Any) -> bool:
        """Whether it holds an element; of a dictionary, whether it has an entry with this value."""
        return element in (self.values() if isinstance(self, dict) else self)  # type: ignore[operator]

    def __reduce__(self) -> Any:
        raise TypeError(f"{self.what} belongs to its object; copy it with list() or set()")


class OwnedSet(Owned, set):  # type: ignore[type-arg]
    """A set attribute, or the unordered end of a relationship."""

    __slots__ = ("owner",)
    __hash__ = None

    def add(self, element: Any) -> None:
        element = self.take(element)
        if element in self:
            return
        with self._changing() as work:
            if self.field.relationship is not None:
                relationships.link(work, self.owner, self.field, element)
            else:
                raw.put(work, self, element)

    def remove(self, element: Any) -> None:
        element = self.take(element)
        if element not in self:
            raise KeyError(element)
        with self._changing() as work:
            if self.field.relationship is not None:
                relationships.unlink(work, self.owner, self.field, element)
            else:
                raw.take(work, self, element)

    def discard(self, element: Any) -> None:
        element = self._as_held(element)
        if element in self:
            self.remove(element)

    def _as_held(self, element: Any) -> Any:
        """The element as the set holds it: a struct may be given as a mapping, which does not hash."""
        return element if hashes(element) else self.take(element)

    insert_element = add
    remove_element = remove

    def pop(self) -> Any:
        for element in self:
            self.remove(element)
            return element
        raise KeyError("pop from an empty set")

    def update(self, *others: Iterable[Any]) -> None:
        new = [x for other in others for x in self._take_all(other)]
        with self._changing():
            for x in new:
                self.add(x)

    def difference_update(self, *others: Iterable[Any]) -> None:
        self._drop({self._as_held(x) for other in others for x in other} & set(self))

    def intersection_update(self, *others: Iterable[Any]) -> None:
        kept = [{self._as_held(x) for x in other} for other in others]
        self._drop(set(self).difference(set(self).intersection(*kept)))

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        other = set(self._take_all(other))
        new, old = other - set(self), other & set(self)
        with self._changing():
            self._drop(old)
            self.update(new)

    def clear(self) -> None:
        self._drop(set(self))

    def _drop(self, elements: Iterable[Any]) -> None:
        with self._changing():
            for x in list(elements):
                self.remove(x)

    def assign(self, elements: Iterable[Any] | None) -> None:
        """Replaces all elements by these."""
        new = set(self._take_all(elements))
        with self._changing():
            self._drop(set(self) - new)
            self.update(new - set(self))

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def __iand__(self, other: Any) -> Any:  # type: ignore[misc]
        self.intersection_update(other)
        return self

    def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
        self.difference_update(list(other))
        return self

    def __ixor__(self, other: Any) -> Any:  # type: ignore[misc]
        self.symmetric_difference_update(other)
        return self

    def copy(self) -> set[Any]:
        return set(self)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(short, self))}}}"


class OwnedBag(Owned):
    """A bag attribute: elements in no order, each as often as it was added."""

    __slots__ = ("counts", "owner", "size")

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}
        self.size = 0

    def move(self, element: Any, by: int) -> None:
        """Only `raw` calls this."""
        total = self.counts.get(element, 0) + by
        self.size += by
        if total:
            self.counts[element] = total
        else:
            self.counts.pop(element, None)

    def add(self, element: Any) -> None:
        element = self.take(element)
        with self._changing() as work:
            if self.field.relationship is not None:
                relationships.link(work, self.owner, self.field, element)
            else:
                raw.count(work, self, element, 1)

    def remove(self, element: Any) -> None:
        """Removes one occurrence."""
        element = self.take(element)
        if element not in self.counts:
            raise KeyError(element)
        with self._changing() as work:
            if self.field.relationship is not None:
                relationships.unlink(work, self.owner, self.field, element)
            else:
                raw.count(work, self, element, -1)

    def discard(self, element: Any) -> None:
        element = element if hashes(element) else self.take(element)
        if element in self.counts:
            self.remove(element)

    insert_element = add
    remove_element = remove

    def pop(self) -> Any:
        for element in self.counts:
            self.remove(element)
            return element
        raise KeyError("pop from an empty bag")

    def update(self, *others: Iterable[Any]) -> None:
        new = [x for other in others for x in self._take_all(other)]
        with self._changing():
            for x in new:
                self.add(x)

    extend = update

    def clear(self) -> None:
        with self._changing():
            for x in list(self):
                self.remove(x)

    def assign(self, elements: Iterable[Any] | None) -> None:
        """Replaces all elements by these."""
        new = self._take_all(elements)
        with self._changing():
            self.clear()
            self.update(new)

    def __iadd__(self, other: Iterable[Any]) -> Any:
        self.update(other)
        return self

    def __isub__(self, other: Iterable[Any]) -> Any:
        with self._changing():
            for x in list(other):
                self.discard(x)
        return self

    def count(self, element: Any) -> int:
        return self.counts.get(element if hashes(element) else self.take(element), 0)

    def __contains__(self, element: object) -> bool:
        return element in self.counts

    def __iter__(self) -> Iterator[Any]:
        for element, times in self.counts.items():
            for _ in range(times):
                yield element

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OwnedBag):
            return self.counts == other.counts
        if isinstance(other, Iterable) and not isinstance(other, str | set | frozenset | Mapping):
            rest = dict(self.counts)
            for x in other:
                rest[x] = rest.get(x, 0) - 1
            return not any(rest.values())
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Bag([{', '.join(map(short, self))}])"


def short(value: Any) -> str:
    return f"<{value._kind.name} {value.oid}>" if isinstance(value, Object) else repr(value)


def hashes(value: Any) -> bool:
    """Whether a value can be looked up; a mapping that stands for a struct cannot."""
    try:
        hash(value)
    except Exception:
        return False
    return True
