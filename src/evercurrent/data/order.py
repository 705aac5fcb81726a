"""The order of values, as Spark sorts them.

NaN is greater than every number, -0.0 equals 0.0, FALSE comes before TRUE, strings go by code point, arrays and structs
are compared from left to right with their NULL members first, and a shorter array before a longer one that it begins.
Maps have no order in SQL; here they have one all the same (by their sorted entries), since results that depend on an
order nobody asked for must still be the same whatever the history of changes.

>>> from evercurrent.data.types import INT
>>> sorted([2, None, 1], key=sort_key(INT, descending=True, nulls_first=False))
[2, 1, None]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from evercurrent.data.types import Array, Collection, Decimal, Float, Integer, Interval, Map, Struct, Type

Key = Callable[[Any], Any]


class Backwards:
    """A key in the opposite order."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Backwards) -> bool:
        result: bool = other.key < self.key
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backwards) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@cache
def order_key(t: Type) -> Key | None:
    """A function from values other than NULL to what Python compares rightly, or None if the value itself is that."""
    match t:
        case Float():
            return lambda v: (v != v, v if v == v else 0.0)
        case Array(element) | Collection(_, element):
            key = _member_key(element)
            return lambda v: tuple(map(key, v))
        case Struct(members):
            keys = tuple(_member_key(m.type) for m in members)
            return lambda v: tuple(k(x) for k, x in zip(keys, v, strict=True))
        case Map(k, v):
            key, value = _member_key(k), _member_key(v)
            return lambda m: tuple(sorted((key(a), value(b)) for a, b in m.items()))
        case _:
            return None


def _member_key(t: Type) -> Key:
    """Keys of members of nested values: NULL first."""
    key = order_key(t)
    if key is None:
        return lambda v: (v is not None, v)
    return lambda v: (False, None) if v is None else (True, key(v))


def sort_key(t: Type, descending: bool = False, nulls_first: bool = True) -> Key:
    """A key function for Python's sorting; NULLs stand first or last whatever the direction."""
    null = (0, None) if nulls_first else (2, None)
    key = order_key(t)
    if not descending:
        if key is None:
            return lambda v: null if v is None else (1, v)
        return lambda v: null if v is None else (1, key(v))
    if key is None:
        if isinstance(t, Integer | Decimal | Interval):
            return lambda v: null if v is None else (1, -v)
        return lambda v: null if v is None else (1, Backwards(v))
    return lambda v: null if v is None else (1, Backwards(key(v)))


def compare(t: Type, a: Any, b: Any) -> int:
    """-1, 0 or 1 as `a` comes before, equals or comes after `b`; NULL comes first and equals itself."""
    key = sort_key(t)
    x, y = key(a), key(b)
    return -1 if x < y else int(y < x)
