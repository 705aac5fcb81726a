"""The struct in an attribute: a record whose members can be written, which writes the attribute.

>>> from evercurrent.data.representation import Record
>>> held = [Record(("x", "y"), (1, 2))]
>>> spot = OwnedStruct(lambda: held[0], lambda new: held.__setitem__(0, new))
>>> spot.x = 5
>>> held[0], spot.x
(Record(x=5, y=2), 5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.representation import Record


class OwnedStruct(Record):
    """A view of the struct in an attribute, or in a member of one: always as it is now."""

    __slots__ = ("_read", "_write")

    def __init__(self, read: Callable[[], Record | None], write: Callable[[Record], None]) -> None:
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_write", write)

    @property
    def _now(self) -> Record:
        found: Record | None = self._read()
        if found is None:
            raise AttributeError("the struct is nil now")
        return found

    # What `Record` reads is what the attribute holds now.
    @property
    def _names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._now._names

    @property
    def _values(self) -> tuple[Any, ...]:  # type: ignore[override]
        return self._now._values

    def __getitem__(self, name: str) -> Any:
        value = self._now[name]
        if not isinstance(value, Record):
            return value

        def read() -> Record | None:
            found: Record | None = self._now[name]
            return found

        return OwnedStruct(read, lambda new: self._put(name, new))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"the struct has no member {name!r}; it has {', '.join(self._names)}")
        self._put(name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise KeyError(name)
        self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        now = self._now
        self._write(
            Record(
                now._names,
                tuple(value if n == name else v for n, v in zip(now._names, now._values, strict=True)),
            )
        )

    def __hash__(self) -> int:
        return hash(self._now)

    def __reduce__(self) -> Any:
        return Record, (self._names, self._values)
