"""Is a node that was read from a text one that the program itself could have made?

Law. After `require_fields` every field of a node has the type that its class declares, numbers are in their ranges, and a constant is
a value of its type. So nothing that stands in a stored definition reaches a compiler as anything but what it claims to be.

>>> from evercurrent.data.types import INT, Integer
>>> require_fields(Integer, {"bits": 32})
>>> require_fields(Integer, {"bits": "32"})
Traceback (most recent call last):
...
evercurrent.errors.StorageError: a definition gives Integer a 'bits' of '32'
"""

from __future__ import annotations

import datetime
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from evercurrent.data import types as data
from evercurrent.data.values import FrozenMap
from evercurrent.errors import StorageError
from evercurrent.term import nodes as terms

MOST_DIGITS = 38


@cache
def _hints(cls: type) -> Mapping[str, Any]:
    return typing.get_type_hints(cls)


def require_fields(cls: type, fields: Mapping[str, Any]) -> None:
    """Refuse fields that a node of this class cannot have."""
    for name, value in fields.items():
        if not _fits(_hints(cls)[name], value):
            raise StorageError(f"a definition gives {cls.__name__} a {name!r} of {str(value)[:60]!r}")
    if cls is data.Decimal:
        _require_in_range(cls, "precision", fields["precision"], 1, MOST_DIGITS)
        _require_in_range(cls, "scale", fields["scale"], 0, fields["precision"])
    if cls is data.Time:
        _require_in_range(cls, "precision", fields.get("precision", 6), 0, 6)
    if cls is terms.Literal and not _is_value(fields["type"], fields["value"]):
        raise StorageError(f"a definition holds {str(fields['value'])[:60]!r}, which is no {fields['type']}")


def _require_in_range(cls: type, name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise StorageError(f"a definition gives {cls.__name__} a {name!r} of {str(value)[:60]}")


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is of the type that a field declares."""
    origin = typing.get_origin(hint)
    if hint is Any:
        return True
    if origin is typing.Literal:
        return any(type(value) is type(choice) and value == choice for choice in typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return any(_fits(choice, value) for choice in typing.get_args(hint))
    if origin is tuple:
        inner = typing.get_args(hint)
        if not isinstance(value, tuple):
            return False
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(_fits(inner[0], v) for v in value)
        return len(inner) == len(value) and all(map(_fits, inner, value))
    if origin is frozenset:
        return isinstance(value, frozenset) and all(_fits(typing.get_args(hint)[0], v) for v in value)
    if origin is Callable:
        return callable(value) and not isinstance(value, type)
    if hint in (int, str, bool):
        return type(value) is hint
    return isinstance(value, hint)


def _is_value(t: data.Type, value: Any) -> bool:
    """Whether a value is one of a type, in internal representation; None is one of every type."""
    if value is None:
        return True
    match t:
        case data.Boolean():
            return type(value) is bool
        case data.Integer(bits):
            return type(value) is int and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        case data.Decimal(precision):
            return type(value) is int and abs(value) < 10**precision
        case data.Float():
            return type(value) in (float, int)
        case data.String():
            return type(value) is str
        case data.Binary():
            return type(value) is bytes
        case data.Date():
            return type(value) is datetime.date
        case data.Time():
            return type(value) is datetime.time
        case data.Timestamp():
            return type(value) is datetime.datetime
        case data.Interval() | data.Reference():
            return type(value) is int and abs(value) < 2**63
        case data.Array(element) | data.Collection(_, element):
            return isinstance(value, tuple) and all(_is_value(element, v) for v in value)
        case data.Map(key, element):
            return isinstance(value, FrozenMap) and all(
                _is_value(key, k) and _is_value(element, v) for k, v in value.items()
            )
        case data.Struct(members):
            return (
                isinstance(value, tuple)
                and len(value) == len(members)
                and all(_is_value(m.type, v) for m, v in zip(members, value, strict=True))
            )
        case _:
            return False
