"""Collections whose elements have a place: lists, by position, and dictionaries, by key. See `owned`.

order.lines[1:3] = [line]      one slice is replaced; the rows behind it get new positions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex

from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.objects.collections import raw, relationships
from evercurrent.objects.collections.owned import Owned, short


class OwnedList(Owned, list):  # type: ignore[type-arg]
    """A list attribute, or the ordered end of a relationship."""

    __slots__ = ("owner",)
    __hash__ = None

    def _splice(self, start: int, stop: int, new: Iterable[Any]) -> None:
        taken = [self.take(x) for x in new]
        with self._changing() as work:
            if self.field.relationship is not None:
                relationships.splice(work, self, start, stop, taken)
            else:
                raw.splice(work, self, start, stop, taken)

    def append(self, element: Any) -> None:
        self._splice(len(self), len(self), [element])

    insert_element = append

    def insert(self, index: SupportsIndex, element: Any) -> None:
        start = slice(index, None).indices(len(self))[0]
        self._splice(start, start, [element])

    def extend(self, elements: Iterable[Any]) -> None:
        self._splice(len(self), len(self), elements)

    def pop(self, index: SupportsIndex = -1) -> Any:
        element = self[index]
        del self[index]
        return element

    def remove(self, element: Any) -> None:
        at = self.index(element)
        self._splice(at, at + 1, [])

    remove_element = remove

    # --- under the names of ODMG ---------------------------------------------------------------------------

    def insert_element_first(self, element: Any) -> None:
        """Insert an element at the beginning."""
        self.insert(0, element)

    def insert_element_last(self, element: Any) -> None:
        """Insert an element at the end."""
        self.append(element)

    def insert_element_before(self, element: Any, index: int) -> None:
        """Insert an element before the one at a position, which begins at 0."""
        self.insert(self._position(index), element)

    def insert_element_after(self, element: Any, index: int) -> None:
        """Insert an element after the one at a position."""
        self.insert(self._position(index) + 1, element)

    def replace_element_at(self, element: Any, index: int) -> None:
        """Put an element in the place of the one at a position."""
        self[self._position(index)] = element

    def remove_first_element(self) -> Any:
        """Remove the first element and return it."""
        return self.pop(self._position(0))

    def remove_last_element(self) -> Any:
        """Remove the last element and return it."""
        return self.pop(self._position(len(self) - 1))

    def remove_element_at(self, index: int) -> Any:
        """Remove the element at a position and return it."""
        return self.pop(self._position(index))

    def retrieve_element_at(self, index: int) -> Any:
        """The element at a position, which begins at 0."""
        return self[self._position(index)]

    def retrieve_first_element(self) -> Any:
        """The first element."""
        return self[self._position(0)]

    def retrieve_last_element(self) -> Any:
        """The last element."""
        return self[self._position(len(self) - 1)]

    def _position(self, index: int) -> int:
        if type(index) is not int or not 0 <= index < len(self):
            raise QueryError(
                f"{self.what} has no element at {show_value(index)}", hint=f"it has {len(self)}, from 0 on"
            )
        return index

    def clear(self) -> None:
        self._splice(0, len(self), [])

    def reverse(self) -> None:
        self._splice(0, len(self), self[::-1])

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        self._splice(0, len(self), sorted(self, key=key, reverse=reverse))

    def assign(self, elements: Iterable[Any] | None) -> None:
        """Hold exactly these elements."""
        self._splice(0, len(self), self._as_list(elements))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            at = range(len(self))[index]
            self._splice(at, at + 1, [value])
            return
        start, stop, step = index.indices(len(self))
        if step == 1:
            self._splice(start, max(start, stop), value)
            return
        whole = list(self)
        whole[index] = value
        self._splice(0, len(self), whole)

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            at = range(len(self))[index]
            self._splice(at, at + 1, [])
            return
        start, stop, step = index.indices(len(self))
        if step == 1:
            self._splice(start, max(start, stop), [])
            return
        whole = list(self)
        del whole[index]
        self._splice(0, len(self), whole)

    def __iadd__(self, other: Iterable[Any]) -> Any:  # type: ignore[misc]
        self.extend(other)
        return self

    def __imul__(self, times: SupportsIndex) -> Any:
        self._splice(0, len(self), list(self) * times)
        return self

    def copy(self) -> list[Any]:
        return list(self)

    def __repr__(self) -> str:
        return f"[{', '.join(map(short, self))}]"


MISSING = object()


class OwnedDict(Owned, dict):  # type: ignore[type-arg]
    """A dictionary attribute."""

    __slots__ = ("owner",)
    __hash__ = None

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = self._key(key), self.take(value)
        if key in self and self[key] is value:
            return
        with self._changing() as work:
            raw.enter(work, self, key, value)

    def _key(self, key: Any) -> Any:
        found = self.key_take(key)
        if found is None:
            raise QueryError(f"{self.what}: a key of a dictionary cannot be nil")
        return found

    def __delitem__(self, key: Any) -> None:
        key = self._key(key)
        if key not in self:
            raise KeyError(key)
        with self._changing() as work:
            raw.leave(work, self, key)

    bind = __setitem__
    unbind = __delitem__

    def lookup(self, key: Any) -> Any:
        """The value under a key: the name that ODMG has for it."""
        found = self._key(key)
        if found not in self:
            raise QueryError(f"{self.what} has no key {show_value(key)}", hint="contains_key(key) asks first")
        return self[found]

    def contains_key(self, key: Any) -> bool:
        """Whether there is a value under a key."""
        return self._key(key) in self

    def pop(self, key: Any, default: Any = MISSING) -> Any:
        if key not in self:
            if default is MISSING:
                raise KeyError(key)
            return default
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[Any, Any]:
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("popitem from an empty dictionary")

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **named: Any) -> None:
        new = {self._key(k): self.take(v) for k, v in dict(*others, **named).items()}
        with self._changing():
            for key, value in new.items():
                self[key] = value

    def clear(self) -> None:
        with self._changing():
            for key in list(self):
                del self[key]

    def assign(self, entries: Mapping[Any, Any] | None) -> None:
        """Hold exactly these entries."""
        if entries is not None and not isinstance(entries, Mapping):
            raise QueryError(f"{self.what} takes a mapping, not {show_value(entries)}")
        new = {self._key(k): self.take(v) for k, v in (entries or {}).items()}
        with self._changing():
            for key in [k for k in self if k not in new]:
                del self[key]
            self.update(new)

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def copy(self) -> dict[Any, Any]:
        return dict(self)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{short(k)}: {short(v)}' for k, v in self.items())}}}"
