"""Classes as relations: annotations are the types of columns.

    int BIGINT      float DOUBLE      str STRING      bool BOOLEAN      bytes BINARY      Decimal DECIMAL(38,18)
    date DATE       time TIME(6)   datetime TIMESTAMP                timedelta INTERVAL DAY TO SECOND
    list[T], tuple[T, ...] ARRAY<T>   dict[K, V] MAP<K, V>    a dataclass, NamedTuple or TypedDict STRUCT<...>
    T | None        nullable          Annotated[T, "DECIMAL(12,2)"]      that type of SQL

>>> from typing import NamedTuple
>>> class Point(NamedTuple):
...     x: int
...     label: str | None
>>> [f"{m.name} {m.type}{'' if m.nullable else ' NOT NULL'}" for m in columns_of(Point).members]
['x BIGINT NOT NULL', 'label STRING']
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import re
import types
import typing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evercurrent.data.shapes import Shape, is_named_tuple, is_typed_dict
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    NULL,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    Map,
    Member,
    String,
    Struct,
    Type,
)
from evercurrent.errors import QueryError, UnsupportedError

PLAIN: dict[Any, Type] = {
    int: BIGINT,
    float: DOUBLE,
    str: STRING,
    bool: BOOLEAN,
    bytes: BINARY,
    decimal.Decimal: Decimal(38, 18),
    datetime.date: DATE,
    datetime.time: TIME,
    datetime.datetime: TIMESTAMP,
    datetime.timedelta: MICROS,
    type(None): NULL,
}

SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, set, frozenset)
TYPES = typing.get_args(Type)


@dataclass(frozen=True, slots=True)
class Columns:
    """What a class says of its rows. `defaults` are constants for fields that may be left out."""

    members: tuple[Member, ...]
    shape: Shape
    defaults: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Annotated:
    type: Type
    nullable: bool
    shape: Shape | None = None


def is_row_class(cls: Any) -> bool:
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls) or is_named_tuple(cls) or is_typed_dict(cls)
    )


def columns_of(cls: Any) -> Columns:
    """The columns of a dataclass, NamedTuple or TypedDict."""
    return _columns(cls)


@lru_cache(maxsize=1024)
def _columns(cls: Any) -> Columns:
    if not is_row_class(cls):
        raise QueryError(
            f"{getattr(cls, '__name__', cls)!s} is no class of rows",
            hint="a row class is a dataclass, a NamedTuple or a TypedDict",
        )
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as problem:
        raise QueryError(
            f"the annotations of {cls.__name__} cannot be read: {problem}",
            hint="define what they name at the top level of the module",
        ) from None
    names, defaults = _fields(cls)
    found = {n: read(hints.get(n, Any), f"{cls.__name__}.{n}") for n in names}
    members = tuple(Member(n, a.type, a.nullable) for n, a in found.items())
    shape = Shape.record(cls, len(names), tuple(a.shape for a in found.values()), tuple(names))
    return Columns(members, shape, defaults)


def _fields(cls: type) -> tuple[list[str], tuple[tuple[str, Any], ...]]:
    if dataclasses.is_dataclass(cls):
        fields = [f for f in dataclasses.fields(cls) if f.init]
        given = tuple((f.name, f.default) for f in fields if f.default is not dataclasses.MISSING)
        return [f.name for f in fields], given
    if is_named_tuple(cls):
        return list(cls._fields), tuple(cls._field_defaults.items())  # type: ignore[attr-defined]
    return list(cls.__annotations__), ()


NAMED: dict[str, Type] = {
    str(t): t
    for t in (
        BOOLEAN,
        TINYINT,
        SMALLINT,
        INT,
        BIGINT,
        FLOAT,
        DOUBLE,
        STRING,
        BINARY,
        DATE,
        TIME,
        TIMESTAMP,
        TIMESTAMP_NTZ,
    )
}


def _find_type(given: Any, what: str) -> Type:
    """A type of SQL, given as it is or by its name."""
    if not isinstance(given, str):
        as_it_is: Type = given
        return as_it_is
    name = given.upper().replace(" ", "")
    digits = re.fullmatch(r"(?:DECIMAL|NUMERIC)\((\d+)(?:,(\d+))?\)", name)
    if digits:
        return Decimal(int(digits[1]), int(digits[2] or 0))
    length = re.fullmatch(r"(?:VARCHAR|CHAR)\((\d+)\)", name)
    if length:
        return String(int(length[1]))
    if name not in NAMED:
        raise QueryError(
            f"{what}: there is no type {given!r}", hint=f"there are {', '.join(NAMED)}, DECIMAL(p,s)"
        )
    return NAMED[name]


def read(annotation: Any, what: str = "this annotation") -> Annotated:
    """The type that an annotation stands for."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        given = next((_find_type(a, what) for a in args[1:] if isinstance(a, (*TYPES, str))), None)
        inner = read(args[0], what)
        return inner if given is None else Annotated(given, inner.nullable, inner.shape)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in args if a is not type(None)]
        if len(rest) == 1 and len(rest) < len(args):
            inner = read(rest[0], what)
            return Annotated(inner.type, True, inner.shape)
        raise UnsupportedError(f"{what} is {annotation}: a column has one type, or one type and None")
    if origin is typing.Literal:
        kinds = {type(a) for a in args}
        if len(kinds) == 1:
            return read(kinds.pop(), what)
    if isinstance(annotation, TYPES):
        return Annotated(annotation, True)
    if annotation in PLAIN:
        return Annotated(PLAIN[annotation], annotation is type(None))
    if origin in SEQUENCES and args and (origin is not tuple or args[1:] == (Ellipsis,)):
        inner = read(args[0], what)
        return Annotated(Array(inner.type), False, inner.shape)
    if origin is tuple and args:
        parts = [read(a, what) for a in args]
        members = tuple(Member(f"_{i}", p.type, p.nullable) for i, p in enumerate(parts, 1))
        return Annotated(Struct(members), False, Shape.record(None, len(parts), [p.shape for p in parts]))
    if origin in (dict, collections.abc.Mapping) and len(args) == 2:
        return Annotated(Map(read(args[0], what).type, read(args[1], what).type), False)
    if is_row_class(annotation):
        inside = columns_of(annotation)
        return Annotated(Struct(inside.members), False, inside.shape)
    if isinstance(annotation, typing.NewType):
        return read(annotation.__supertype__, what)
    raise UnsupportedError(
        f"{what} is {getattr(annotation, '__name__', annotation)!s}, which is no type of a column",
        hint="use int, float, str, bool, bytes, Decimal, date, time, datetime, timedelta, list, dict, a row class, or "
        "Annotated[..., type]",
    )
