"""The classes of values that Python does not have: the one NaN, maps that hash, records.

>>> {(1, NAN): "found"}[1, canonical_float(float("-nan"))]
'found'
>>> {FrozenMap({"a": 1}): "found"}[FrozenMap({"a": 1})]
'found'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NAN = float("nan")
"""The only NaN inside the engines. NaN differs from itself, but dictionaries and tuples look at identity first."""


def canonical_float(value: float) -> float:
    """The one float inside the engines for this number: `NAN` for every NaN, 0.0 for -0.0.

    Rows are keys of dictionaries. Two NaN would be two keys; 0.0 and -0.0 are one key, which would show whichever came first.
    Whatever takes in or makes a float passes it through here, or writes `+ 0.0` and a test for NaN in line.

    >>> canonical_float(-0.0), canonical_float(float("inf") - float("inf")) is NAN
    (0.0, True)
    """
    return value + 0.0 if value == value else NAN


class FrozenMap(Mapping[Any, Any]):
    """A MAP value: hashable, equal whatever the order, printed in the order of insertion.

    >>> FrozenMap({1: "a", 2: "b"}) == FrozenMap([(2, "b"), (1, "a")])
    True
    """

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        self._entries: dict[Any, Any] = dict(entries)
        self._hash: int | None = None

    def __getitem__(self, key: Any) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._entries == other._entries
        return isinstance(other, Mapping) and self._entries == other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._entries.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenMap({self._entries!r})"


class Record(Mapping[str, Any]):
    """A STRUCT value as the user sees it: a mapping whose members are attributes too.

    >>> r = Record(("name", "age"), ("Ann", 40))
    >>> r["name"], r.age, r == {"name": "Ann", "age": 40}
    ('Ann', 40, True)
    >>> r
    Record(name='Ann', age=40)
    """

    __slots__ = ("_names", "_values")

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            return self._names == other._names and self._values == other._values
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash((self._names, self._values))

    def __reduce__(self) -> Any:
        return Record, (self._names, self._values)

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{n}={v!r}' for n, v in zip(self._names, self._values, strict=True))})"
