"""Types and values as Arrow has them.

Two spellings differ in intervals only: users get Arrow's own, and files hold the number that we compute with, because
Spark cannot read the others from Parquet.

>>> from evercurrent.data.types import INT, Array, Decimal, Interval
>>> arrow_type(Array(Decimal(12, 2)))
ListType(list<item: decimal128(12, 2)>)
>>> arrow_type(Interval("micros")), arrow_type(Interval("days"), in_files=True)
(DurationType(duration[us]), DataType(int64))
>>> arrow_value(Array(INT), (1, None))
[1, None]
"""

from __future__ import annotations

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

if TYPE_CHECKING:
    import pyarrow


def arrow_type(t: Type, *, in_files: bool = False) -> pyarrow.DataType:
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
        case Interval() if in_files:
            return pyarrow.int64()
        case Interval(unit):
            return pyarrow.month_day_nano_interval() if unit == "months" else pyarrow.duration("us")
        case Array(element) | Collection(_, element):
            return pyarrow.list_(arrow_type(element, in_files=in_files))
        case Map(key, value):
            return pyarrow.map_(arrow_type(key, in_files=in_files), arrow_type(value, in_files=in_files))
        case Struct(members):
            return pyarrow.struct(
                [pyarrow.field(m.name, arrow_type(m.type, in_files=in_files), m.nullable) for m in members]
            )
        case Reference():
            return pyarrow.int64()
        case _:
            assert_never(t)


def arrow_value(t: Type, value: Any, *, in_files: bool = False) -> Any:
    """An internal value as Arrow's constructors take it."""
    if value is None:
        return None
    match t:
        case Interval() if in_files:
            return value
        case Interval("months"):
            return (value, 0, 0)
        case Array(element) | Collection(_, element):
            return [arrow_value(element, v, in_files=in_files) for v in value]
        case Map(key, element):
            return [
                (arrow_value(key, k, in_files=in_files), arrow_value(element, v, in_files=in_files))
                for k, v in value.items()
            ]
        case Struct(members):
            return {
                m.name: arrow_value(m.type, v, in_files=in_files) for m, v in zip(members, value, strict=True)
            }
        case _:
            return give_out(t, value)
