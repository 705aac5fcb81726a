"""How values are represented inside the engines, and how they are converted from and to those of users.

    type                inside                                       outside (all are accepted; the first is returned)
    BOOLEAN             bool                                         bool
    integers            int                                          int, integral numbers
    FLOAT, DOUBLE       float, canonical: one NaN, one zero          float, any number
    DECIMAL(p,s)        int, the number times 10**s                  decimal.Decimal, int, str, float
    STRING, VARCHAR     str                                          str
    BINARY              bytes                                        bytes, bytearray, memoryview
    DATE                datetime.date                                date, ISO text
    TIME(p)             naive datetime.time, cut to p digits         datetime.time, ISO text
    TIMESTAMP           naive datetime in UTC                        aware datetime, naive (read as UTC), ISO text
    TIMESTAMP_NTZ       naive datetime                               naive datetime, ISO text
    INTERVAL            int, months or microseconds                  months: int; micros: timedelta, int
    ARRAY               tuple                                        list, tuple, any sequence
    STRUCT              tuple, by position                           Record, mapping, sequence
    MAP                 FrozenMap                                    dict, mapping, pairs

NULL is None everywhere. All inside values hash, and equality is Spark's: NaN equals itself (by identity, inside tuples
and dictionaries), NULL members of nested values equal each other.

>>> from evercurrent.data.types import Decimal
>>> take_in(Decimal(12, 2), "9.5"), give_out(Decimal(12, 2), 950)
(950, Decimal('9.50'))
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evercurrent.data.bounds import WIDE, decimal_fits, float32, integer_fits
from evercurrent.data.intake import BadValue, Row, decimal_taker, take_in, taker
from evercurrent.data.order import compare, sort_key
from evercurrent.data.representation import NAN, FrozenMap, Record, canonical_float
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
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)

__all__ = [
    "NAN",
    "WIDE",
    "BadValue",
    "FrozenMap",
    "Record",
    "canonical_float",
    "compare",
    "decimal_fits",
    "float32",
    "give_out",
    "giver",
    "integer_fits",
    "reader",
    "sort_key",
    "take_in",
    "taker",
    "writer",
]

UTC = datetime.UTC


# --- out ---------------------------------------------------------------------------------------------------


def give_out(t: Type, value: Any) -> Any:
    """What the user sees of an inside value."""
    if value is None:
        return None
    give = giver(t)
    return value if give is None else give(value)


def giver(t: Type) -> Callable[[Any], Any] | None:
    """The conversion of values other than NULL, or None where they are shown as they are."""
    match t:
        case Decimal(scale=scale):
            return lambda v: WIDE.scaleb(decimal.Decimal(v), -scale)
        case Timestamp(zone=True):
            return lambda v: v.replace(tzinfo=UTC)
        case Interval(unit="micros"):
            return lambda v: datetime.timedelta(microseconds=v)
        case Array(element) | Collection(_, element):
            return lambda v: [give_out(element, x) for x in v]
        case Map(key, element):
            return lambda v: {_as_key(give_out(key, k)): give_out(element, x) for k, x in v.items()}
        case Struct(members):
            names = tuple(m.name for m in members)
            return lambda v: Record(
                names, tuple(give_out(m.type, x) for m, x in zip(members, v, strict=True))
            )
        case _:
            return None


def _as_key(value: Any) -> Any:
    return tuple(map(_as_key, value)) if isinstance(value, list) else value


# --- whole rows --------------------------------------------------------------------------------------------


def reader(types: Sequence[Type]) -> Callable[[Iterable[Sequence[Any]]], list[Row]]:
    """A function that takes in rows of these types; its `BadValue` says at which position.

    Values that already are what the type wants, the usual case, are only checked, in line.
    """
    parts, names = reading_parts(types)
    return _row_function("read", parts, names, "def read(rows):\n    return [{row} for {fields} in rows]\n")


def reading_parts(types: Sequence[Type]) -> tuple[list[str], dict[str, Any]]:
    """For each type the expression that takes in the value in the local `v0`, `v1` and so on, and what these refer to."""
    names: dict[str, Any] = {}
    parts: list[str] = []
    for i, t in enumerate(types):
        take = names[f"take{i}"] = take_at(i, taker(t))
        taken = f"v{i}"
        match t:
            case Integer(bits):
                test = f"type(v{i}) is int and {-(1 << (bits - 1))} <= v{i} <= {(1 << (bits - 1)) - 1}"
            case Float(64):
                taken, test = f"v{i} + 0.0", f"type(v{i}) is float and v{i} == v{i}"  # 0.0 for -0.0
            case Decimal():
                names["decimal"], names[f"scale{i}"] = decimal.Decimal, decimal_taker(t, take)
                taken, test = f"scale{i}(v{i})", f"type(v{i}) is decimal"
            case Boolean():
                test = f"v{i} is True or v{i} is False"
            case String(None):
                test = f"type(v{i}) is str and v{i}.isascii()"
            case Binary():
                test = f"type(v{i}) is bytes"
            case Date():
                names["date"] = datetime.date
                test = f"type(v{i}) is date"
            case Time(6):
                names["time"] = datetime.time
                test = f"type(v{i}) is time and v{i}.tzinfo is None"
            case Timestamp():
                names["datetime"] = datetime.datetime
                test = f"type(v{i}) is datetime and v{i}.tzinfo is None"
            case _:
                test = ""
        parts.append(f"{taken} if {test} else take{i}(v{i})" if test else f"take{i}(v{i})")
    return parts, names


def writer(types: Sequence[Type]) -> Callable[[Row], Row]:
    """A function that converts a row of these types; the identity where nothing is to be converted."""
    givers = [giver(t) for t in types]
    if not any(givers):
        return lambda row: row
    names = {f"give{i}": g for i, g in enumerate(givers) if g is not None}
    parts = [
        f"v{i}" if g is None else f"None if v{i} is None else give{i}(v{i})" for i, g in enumerate(givers)
    ]
    return _row_function("write", parts, names, "def write(row):\n    {fields} = row\n    return {row}\n")


def take_at(position: int, take: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def take_there(value: Any) -> Any:
        try:
            return take(value)
        except BadValue as error:
            error.position, error.value = position, value
            raise

    return take_there


def _row_function(
    name: str, parts: Sequence[str], names: dict[str, Any], source: str
) -> Callable[[Any], Any]:
    """The function of this source, where `{fields}` are the fields of a row and `{row}` is the row of the parts."""
    fields = f"({''.join(f'v{i}, ' for i in range(len(parts)))})"
    row = f"({''.join(f'{part}, ' for part in parts)})"
    exec(compile(source.format(fields=fields, row=row), f"<{name} {len(parts)} fields>", "exec"), names)
    function: Callable[[Any], Any] = names[name]
    return function
