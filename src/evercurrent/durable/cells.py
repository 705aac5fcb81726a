"""Values as an SQLite file holds them, and back, exactly.

    type                        in the file
    BOOLEAN, integers           INTEGER
    INTERVAL, references        INTEGER: months or microseconds; the identity of an object
    FLOAT, DOUBLE               REAL; NaN, which SQLite would make NULL, is the text NaN
    DECIMAL(p,s)                TEXT with all digits, 9.50
    STRING, VARCHAR             TEXT
    BINARY                      BLOB
    DATE, TIME                  TEXT, ISO 8601
    TIMESTAMP                   TEXT, 2024-05-01 10:00:00Z; TIMESTAMP_NTZ without the Z
    ARRAY, MAP, STRUCT          TEXT, JSON

Law. `load(dump(v))` is `v` for every value of a type, and whatever `dump` does not write is refused by `load`: a file that somebody
else has changed is never read as rows of another type.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, assert_never

from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Collection,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import NAN, FrozenMap
from evercurrent.data.zset import Row

DAYS = 1 << 16
"""How many texts of dates are remembered with their values: a column of dates has few."""

Cell = int | float | str | bytes | None
Convert = Callable[[Any], Any]


class BadCell(Exception):
    """A cell that is no value of its column's type."""

    def __init__(self, value: object, position: int = -1) -> None:
        super().__init__(value)
        self.value, self.position = value, position


def affinity(t: Type) -> str:
    """Returns the type of the column in SQLite."""
    match t:
        case Boolean() | Integer() | Interval() | Reference():
            return "INTEGER"
        case Float():
            return "REAL"
        case Binary():
            return "BLOB"
        case _:
            return "TEXT"


# --- single values ------------------------------------------------------------------------------------------


def dumper(t: Type) -> Convert | None:
    """Returns the function from an inside value, not NULL, to a cell; None where they are the same."""
    match t:
        case Boolean():
            return int
        case Float():
            return lambda v: v if v == v else "NaN"
        case Decimal(scale=scale):
            return _decimal_text(scale)
        case Date() | Time():
            return lambda v: v.isoformat()
        case Timestamp(zone):
            return (lambda v: v.isoformat(" ") + "Z") if zone else (lambda v: v.isoformat(" "))
        case Array() | Map() | Struct() | Collection():
            plain = plainer(t)
            return lambda v: json.dumps(plain(v), ensure_ascii=False, separators=(",", ":"))
        case Null() | Integer() | Interval() | Reference() | String() | Binary():
            return None
        case _:
            assert_never(t)


def loader(t: Type) -> Convert:
    """Returns the function from a cell, not NULL, to the inside value; it raises `BadCell`."""
    match t:
        case Boolean():
            return lambda v: v == 1 if type(v) is int and 0 <= v <= 1 else _refuse(v)
        case Integer(bits):
            return _whole(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        case Interval() | Reference():
            return _whole(-(1 << 63), (1 << 63) - 1)
        case Float():
            return lambda v: v + 0.0 if type(v) is float else NAN if v == "NaN" else _refuse(v)
        case Decimal(precision, scale):
            return _decimal_value(precision, scale)
        case String():
            return lambda v: v if type(v) is str else _refuse(v)
        case Binary():
            return lambda v: v if type(v) is bytes else _refuse(v)
        case Date():
            return _iso(datetime.date.fromisoformat, 10)
        case Time():
            return _iso(datetime.time.fromisoformat, None)
        case Timestamp(zone):
            return _timestamp(zone)
        case Array() | Map() | Struct() | Collection():
            return _json_value(t)
        case Null():
            return _refuse
        case _:
            assert_never(t)


def _refuse(value: object) -> Any:
    raise BadCell(value)


def _whole(least: int, most: int) -> Convert:
    return lambda v: v if type(v) is int and least <= v <= most else _refuse(v)


def _decimal_text(scale: int) -> Convert:
    if not scale:
        return str

    def text(value: int) -> str:
        digits = str(abs(value)).rjust(scale + 1, "0")
        return f"{'-' if value < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"

    return text


def _decimal_value(precision: int, scale: int) -> Convert:
    shape = re.compile(rf"-?[0-9]+\.[0-9]{{{scale}}}" if scale else "-?[0-9]+", re.ASCII).fullmatch
    bound: int = 10**precision

    def value(text: Any) -> int:
        if type(text) is str and shape(text):
            found = int(text.replace(".", ""))
            if -bound < found < bound:
                return found
        raise BadCell(text)

    return value


def _iso(parse: Callable[[str], Any], length: int | None) -> Convert:
    def value(text: Any) -> Any:
        if type(text) is str and (length is None or len(text) == length):
            try:
                found = parse(text)
            except ValueError:
                raise BadCell(text) from None
            if found.isoformat() == text:
                return found
        raise BadCell(text)

    return lru_cache(DAYS)(value)


def _timestamp(zone: bool) -> Convert:
    parse = datetime.datetime.fromisoformat

    def value(text: Any) -> Any:
        if type(text) is str and (not zone or text.endswith("Z")):
            try:
                found = parse(text[:-1] if zone else text)
            except ValueError:
                raise BadCell(text) from None
            if found.tzinfo is None:
                return found
        raise BadCell(text)

    return value


# --- nested values -------------------------------------------------------------------------------------------


def plainer(t: Type) -> Convert:
    """Returns the function from an inside value to what JSON has; bytes are written in hexadecimal."""
    match t:
        case Array(element) | Collection(_, element):
            of = plainer(element)
            return lambda v: None if v is None else [of(x) for x in v]
        case Map(key, element):
            key_of, of = plainer(key), plainer(element)
            if isinstance(key, String):
                return lambda v: None if v is None else {k: of(x) for k, x in v.items()}
            return lambda v: None if v is None else [[key_of(k), of(x)] for k, x in v.items()]
        case Struct(members):
            each = [(m.name, plainer(m.type)) for m in members]
            if _distinct(members):
                return lambda v: None if v is None else {n: f(x) for (n, f), x in zip(each, v, strict=True)}
            return lambda v: None if v is None else [f(x) for (_, f), x in zip(each, v, strict=True)]
        case Binary():
            return lambda v: None if v is None else v.hex()
        case Float():
            return lambda v: v if v is None or v - v == 0 else "NaN" if v != v else repr(v)
        case _:
            dump = dumper(t)
            return (lambda v: v) if dump is None else lambda v: None if v is None else dump(v)


def _distinct(members: Sequence[Any]) -> bool:
    return len({m.name for m in members}) == len(members)


def _json_value(t: Type) -> Convert:
    of = unplainer(t)

    def value(text: Any) -> Any:
        if type(text) is not str:
            raise BadCell(text)
        try:
            found = of(json.loads(text))
        except (BadCell, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            raise BadCell(text) from None
        if found is None:
            raise BadCell(text)
        return found

    return value


def unplainer(t: Type) -> Convert:
    """Returns the way back from what JSON has."""
    match t:
        case Array(element) | Collection(_, element):
            of = unplainer(element)
            return lambda v: None if v is None else tuple(of(x) for x in _of(list, v))
        case Map(key, element):
            key_of, of = unplainer(key), unplainer(element)
            if isinstance(key, String):
                return lambda v: None if v is None else FrozenMap((k, of(x)) for k, x in _of(dict, v).items())
            return lambda v: None if v is None else FrozenMap((key_of(k), of(x)) for k, x in _of(list, v))
        case Struct(members):
            each = [(m.name, unplainer(m.type)) for m in members]
            if _distinct(members):
                return lambda v: None if v is None else tuple(f(_of(dict, v)[n]) for n, f in each)
            return lambda v: (
                None if v is None else tuple(f(x) for (_, f), x in zip(each, _of(list, v), strict=True))
            )
        case Binary():
            return lambda v: None if v is None else bytes.fromhex(v)
        case Float():
            return lambda v: None if v is None else NAN if v == "NaN" else float(v)
        case _:
            load = loader(t)
            return lambda v: None if v is None else load(v)


def _of(kind: type, value: Any) -> Any:
    return value if type(value) is kind else _refuse(value)


# --- rows ------------------------------------------------------------------------------------------------------


def row_dumper(types: Sequence[Type]) -> Callable[[Row], tuple[Cell, ...]]:
    """Returns the function from an inside row to its cells; the identity where nothing is converted."""
    dumpers = [dumper(t) for t in types]
    if not any(dumpers):
        return lambda row: row
    names = {f"dump{i}": d for i, d in enumerate(dumpers) if d is not None}
    parts = [
        f"v{i}" if d is None else f"None if v{i} is None else dump{i}(v{i})" for i, d in enumerate(dumpers)
    ]
    return _function("dump", parts, names, "def dump(row):\n    {fields} = row\n    return {row}\n")


def rows_loader(types: Sequence[Type]) -> Callable[[Iterable[Sequence[Cell]]], list[Row]]:
    """Returns the function from many rows of cells to inside rows; its `BadCell` says at which position.

    Cells that already are what the type wants, the usual case, are only checked, in line.
    """
    names: dict[str, Any] = {}
    parts = []
    for i, t in enumerate(types):
        names[f"load{i}"] = _load_at(i, loader(t))
        match t:
            case Integer(64) | Interval() | Reference():
                test = f"type(v{i}) is int"
            case String():
                test = f"type(v{i}) is str"
            case Float():
                test = f"type(v{i}) is float and v{i}"  # 0.0 may be -0.0
            case Binary():
                test = f"type(v{i}) is bytes"
            case _:
                test = ""
        way = f"None if v{i} is None else load{i}(v{i})"
        parts.append(f"v{i} if {test} else {way}" if test else way)
    return _function("load", parts, names, "def load(rows):\n    return [{row} for {fields} in rows]\n")


def _load_at(position: int, load: Convert) -> Convert:
    def load_there(value: Any) -> Any:
        try:
            return load(value)
        except BadCell as problem:
            raise BadCell(problem.value, position) from None

    return load_there


def _function(name: str, parts: Sequence[str], names: dict[str, Any], source: str) -> Callable[[Any], Any]:
    fields = f"({''.join(f'v{i}, ' for i in range(len(parts)))})"
    row = f"({''.join(f'{part}, ' for part in parts)})"
    exec(compile(source.format(fields=fields, row=row), f"<{name} {len(parts)} cells>", "exec"), names)
    function: Callable[[Any], Any] = names[name]
    return function
