"""What an attribute takes in and holds, and how it stands in a row.

    given "12.50", held Decimal("12.50"), in a row 1250      an attribute of type decimal(8, 2)

An object holds values as users see them: a `decimal.Decimal`, an aware timestamp, a `Record`, another object. A row holds
what engines compute with (`data.values`): scaled integers, naive timestamps, tuples, object ids. `taker` returns the function
from a given value to the held one, `inside` that from the held one to the row, `outside` that back.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Attribute, Path
from evercurrent.data.collections import Bag
from evercurrent.data.representation import FrozenMap, Record
from evercurrent.data.showing import show_value
from evercurrent.data.types import (
    BIGINT,
    Array,
    Boolean,
    Collection,
    Date,
    Float,
    Integer,
    Interval,
    Map,
    Reference,
    String,
    Struct,
    Type,
)
from evercurrent.data.values import BadValue, give_out, sort_key, take_in
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.objects.model.handles import Object, unavailable_error

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry

Function = Callable[[Any], Any]


# --- taking in ---------------------------------------------------------------------------------------------


def taker(space: Registry, attribute: Attribute, t: Type, path: Path, what: str) -> Function:
    """Returns the function from a user's value to what an object holds; nil is None."""
    bare = _taker(space, attribute, t, path)

    def take(value: Any) -> Any:
        if value is None:
            return None
        try:
            return bare(value)
        except BadValue as problem:
            text = f"{what}: {problem}"
            if isinstance(t, String):
                raise ConstraintError(text, constraint=f"{what} {t}") from None
            raise QueryError(text) from None

    return take


def _taker(space: Registry, attribute: Attribute, t: Type, path: Path) -> Function:
    """The same, for values other than nil; raises `BadValue`."""
    match t:
        case Reference(target):
            return lambda value: _take_reference(space, target, value)
        case Struct(members):
            names = tuple(m.name for m in members)
            parts = [_taker(space, attribute, m.type, (*path, m.name)) for m in members]
            return lambda value: _take_struct(t, names, parts, value)
        case Collection(kind, element):
            part = _taker(space, attribute, element, (*path, "element"))
            return lambda value: _take_collection(t, kind, part, value)
        case Array(element):
            part = _taker(space, attribute, element, (*path, "element"))
            return lambda value: _take_collection(t, "list", part, value)
        case Map(key, value_type):
            k = _taker(space, attribute, key, (*path, "key"))
            v = _taker(space, attribute, value_type, (*path, "value"))
            return lambda value: _take_map(t, k, v, value)
        case _:
            return _build_limited_taker(attribute, t, path)


def _build_limited_taker(attribute: Attribute, t: Type, path: Path) -> Function:
    limit = attribute.limit(path)
    least, greatest, labels = limit.least, limit.greatest, limit.labels

    def take(value: Any) -> Any:
        if isinstance(value, datetime.time) and isinstance(t, Interval):
            value = datetime.timedelta(
                hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
            )
        elif isinstance(value, enum.Enum) and labels:
            value = value.name
        found = take_in(t, value)
        if found is not None:
            if (least is not None and found < least) or (greatest is not None and found > greatest):
                raise BadValue(f"{show_value(value)} is out of range: {least} to {greatest}")
            if labels and found not in labels:
                raise BadValue(f"{show_value(value)} is none of {', '.join(labels)}")
        return give_out(t, found)

    return take


def _take_reference(space: Registry, target: str, value: Any) -> Any:
    if isinstance(value, Object):
        if value._gone:
            raise unavailable_error(value)
        kind = value._kind
        if kind.space is not space:
            raise BadValue(f"{kind.name} {value.oid} belongs to another database")
        if target in kind.ancestors:
            return value
        raise BadValue(f"{kind.name} {value.oid} is not an object of class {target}")
    raise BadValue(
        f"{show_value(value)} is not an object; a reference to an object of class {target} is expected"
    )


def _take_struct(t: Struct, names: tuple[str, ...], parts: list[Function], value: Any) -> Record:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        unknown = [k for k in value if k not in names]
        if unknown:
            raise BadValue(
                f"{show_value(value)} is not a value of type {t}: it has no member {show_value(unknown[0])}"
            )
        given = [value.get(n) for n in names]
    elif isinstance(value, tuple | list) and len(value) == len(names):
        given = list(value)
    else:
        raise BadValue(f"{show_value(value)} is not a value of type {t}")
    return Record(names, tuple(None if v is None else p(v) for p, v in zip(parts, given, strict=True)))


def _take_collection(t: Type, kind: str, part: Function, value: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise BadValue(f"{show_value(value)} is not a value of type {t}")
    items = [None if v is None else part(v) for v in value]
    if kind == "set":
        return frozenset(items)
    return Bag(items) if kind == "bag" else tuple(items)


def _take_map(t: Map, key: Function, value: Function, given: Any) -> FrozenMap:
    if not isinstance(given, Mapping):
        raise BadValue(f"{show_value(given)} is not a value of type {t}")
    return FrozenMap({key(k): None if v is None else value(v) for k, v in given.items()})


# --- rows --------------------------------------------------------------------------------------------------


def is_plain(t: Type) -> bool:
    """Whether values stand in rows as they are."""
    return isinstance(t, Boolean | Integer | Float | String | Date)


def inside(t: Type) -> Function:
    """The function from what an object holds to what stands in a row; of nil it is None."""
    match t:
        case Reference():
            return lambda v: None if v is None else v.oid
        case Struct(members):
            parts = [inside(m.type) for m in members]
            return lambda v: (
                None if v is None else tuple(p(x) for p, x in zip(parts, v.values(), strict=True))
            )
        case Collection(kind, element):
            part = inside(element)
            if kind == "list":
                return lambda v: None if v is None else tuple(part(x) for x in v)
            order = sort_key(_plain(element), False, True)
            return lambda v: None if v is None else tuple(sorted((part(x) for x in v), key=order))
        case Array(element):
            part = inside(element)
            return lambda v: None if v is None else tuple(part(x) for x in v)
        case Map(key, value):
            k, w = inside(key), inside(value)
            return lambda v: None if v is None else FrozenMap({k(a): w(b) for a, b in v.items()})
        case _ if is_plain(t):
            return lambda v: v
        case _:
            return lambda v: take_in(t, v)


def _plain(t: Type) -> Type:
    """The type that values inside have the order of."""
    return BIGINT if isinstance(t, Reference) else t


# --- giving out --------------------------------------------------------------------------------------------


def outside(space: Registry, t: Type) -> Function:
    """The function from what stands in a row to what an object holds."""
    match t:
        case Reference():
            return lambda v: None if v is None else space.at(v)
        case Struct(members):
            names = tuple(m.name for m in members)
            parts = [outside(space, m.type) for m in members]
            return lambda v: (
                None if v is None else Record(names, tuple(p(x) for p, x in zip(parts, v, strict=True)))
            )
        case Collection("set", element):
            part = outside(space, element)
            return lambda v: None if v is None else frozenset(map(part, v))
        case Collection("bag", element):
            part = outside(space, element)
            return lambda v: None if v is None else Bag(map(part, v))
        case Collection(_, element) | Array(element):
            part = outside(space, element)
            return lambda v: None if v is None else tuple(map(part, v))
        case Map(key, value):
            k, w = outside(space, key), outside(space, value)
            return lambda v: None if v is None else FrozenMap({k(a): w(b) for a, b in v.items()})
        case _:
            return lambda v: give_out(t, v)
