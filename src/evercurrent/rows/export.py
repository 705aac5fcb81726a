"""Rows as Arrow tables and pandas frames, typed as the columns are.

arrow_table(fields, rows).schema      id: int64, total: decimal128(12, 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

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
from evercurrent.data.values import give_out
from evercurrent.data.zset import Row
from evercurrent.rows.conversion import Fields

if TYPE_CHECKING:
    import pandas
    import pyarrow


def arrow_table(fields: Fields, rows: Iterable[Row]) -> pyarrow.Table:
    """The rows as an Arrow table."""
    import pyarrow

    lists = list(zip(*rows, strict=True)) or [()] * len(fields)
    schema = pyarrow.schema([pyarrow.field(f.name, arrow_type(f.type), f.nullable) for f in fields])
    arrays = [
        pyarrow.array([_plain(f.type, v) for v in values], arrow_type(f.type))
        for f, values in zip(fields, lists, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def arrow_type(t: Type) -> Any:
    """The Arrow type of a type."""
    import pyarrow

    match t:
        case Null():
            return pyarrow.null()
        case Boolean():
            return pyarrow.bool_()
        case Integer(bits):
            return {8: pyarrow.int8, 16: pyarrow.int16, 32: pyarrow.int32, 64: pyarrow.int64}[bits]()
        case Float(bits):
            return pyarrow.float32() if bits == 32 else pyarrow.float64()
        case Decimal(precision, scale):
            return pyarrow.decimal128(precision, scale)
        case String():
            return pyarrow.string()
        case Binary():
            return pyarrow.binary()
        case Date():
            return pyarrow.date32()
        case Time():
            return pyarrow.time64("us")
        case Timestamp(zone):
            return pyarrow.timestamp("us", tz="UTC" if zone else None)
        case Interval(unit):
            return pyarrow.month_day_nano_interval() if unit == "months" else pyarrow.duration("us")
        case Array(element) | Collection(_, element):
            return pyarrow.list_(arrow_type(element))
        case Map(key, value):
            return pyarrow.map_(arrow_type(key), arrow_type(value))
        case Struct(members):
            return pyarrow.struct([pyarrow.field(m.name, arrow_type(m.type), m.nullable) for m in members])
        case Reference():
            return pyarrow.int64()
        case _:
            assert_never(t)


def _plain(t: Type, value: Any) -> Any:
    """An internal value as Arrow's constructors take it."""
    if value is None:
        return None
    match t:
        case Interval("months"):
            return (value, 0, 0)
        case Array(element) | Collection(_, element):
            return [_plain(element, v) for v in value]
        case Map(key, element):
            return [(_plain(key, k), _plain(element, v)) for k, v in value.items()]
        case Struct(members):
            return {m.name: _plain(m.type, v) for m, v in zip(members, value, strict=True)}
        case _:
            return give_out(t, value)


def pandas_frame(fields: Fields, rows: Iterable[Row]) -> pandas.DataFrame:
    """The rows as a pandas frame; integers and booleans with NULLs get pandas' nullable types, nothing becomes a float."""
    import pandas

    lists = list(zip(*rows, strict=True)) or [()] * len(fields)
    series = [
        pandas.Series([give_out(f.type, v) for v in values], dtype=_dtype(f.type, values))
        for f, values in zip(fields, lists, strict=True)
    ]
    frame = pandas.concat(series, axis=1) if series else pandas.DataFrame()
    frame.columns = [f.name for f in fields]
    return frame


def _dtype(t: Type, values: tuple[Any, ...]) -> str:
    missing = any(v is None for v in values)
    match t:
        case Boolean():
            return "boolean" if missing else "bool"
        case Integer(bits):
            return f"Int{bits}" if missing else f"int{bits}"
        case Float(bits):
            return f"float{bits}"
        case Timestamp(zone):
            return "datetime64[us, UTC]" if zone else "datetime64[us]"
        case Interval("micros"):
            return "timedelta64[us]"
        case _:
            return "object"
