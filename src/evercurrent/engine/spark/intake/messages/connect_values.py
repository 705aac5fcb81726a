"""Values of JSON and of Kafka Connect, as the values of columns.

    column     in the message                                  value
    DATE       20000, with io.debezium.time.Date               2024-10-04
    TIMESTAMP  1700000000000000, with ...MicroTimestamp        2023-11-14 22:13:20
    DECIMAL    "A+g=", with ...connect.data.Decimal, scale 2   10.00
    BINARY     "AQI="                                          the bytes 1, 2

A message with a schema says by a name what its numbers and texts stand for. Without one, ambiguous values are refused and the
message of the error names the option that says it: nothing is guessed.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Map,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import BadValue, taker
from evercurrent.engine.spark.intake.messages.options import Messages

Schema = Mapping[str, Any]
"""What a message says of a field: its type, a name of what it stands for, parameters."""
NO_SCHEMA: Schema = {}
Convert = Callable[[Any], Any]

DECIMAL = "org.apache.kafka.connect.data.Decimal"
UNITS = {
    "io.debezium.time.Timestamp": 1_000,
    "io.debezium.time.MicroTimestamp": 1,
    "io.debezium.time.NanoTimestamp": -1_000,
    "org.apache.kafka.connect.data.Timestamp": 1_000,
    "io.debezium.time.Time": 1_000,
    "io.debezium.time.MicroTime": 1,
    "io.debezium.time.NanoTime": -1_000,
    "org.apache.kafka.connect.data.Time": 1_000,
}
"""How many microseconds a number stands for; if negative, how many of it make one."""
NAMED_UNITS = {"milliseconds": 1_000, "microseconds": 1, "nanoseconds": -1_000}
EPOCH = datetime.datetime(1970, 1, 1)
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
SPECIAL_FLOATS = {"NaN", "Infinity", "-Infinity", "+Infinity"}


def converter(t: Type, messages: Messages, schema: Schema = NO_SCHEMA) -> Convert:
    """Returns the function from a value of JSON to an inside value of a type; it raises `BadValue`.

    >>> from evercurrent.engine.spark.intake.messages.options import read_options
    >>> debezium = read_options("debezium", {})
    >>> converter(Decimal(6, 2), debezium, {"name": DECIMAL, "parameters": {"scale": "2"}})("A+g=")
    1000
    >>> converter(Date(), debezium)(20000)
    datetime.date(2024, 10, 4)
    """
    take, outside = taker(t), outside_value(t, messages, schema)

    def convert(value: Any) -> Any:
        if value is None:
            return None
        return take(outside(value))

    return convert


def outside_value(t: Type, messages: Messages, schema: Schema) -> Convert:
    """Returns the function from a value of JSON to what the intake of rows knows as a value of the type."""
    match t:
        case Boolean():
            return lambda v: bool(v) if type(v) is int and v in (0, 1) else v
        case Float():
            return lambda v: float(v) if isinstance(v, str) and v in SPECIAL_FLOATS else v
        case Decimal():
            return lambda v: decimal_value(t, v, messages, schema)
        case Date():
            return lambda v: datetime.date.fromordinal(FIRST_DAY + v) if type(v) is int else v
        case Timestamp():
            return lambda v: EPOCH + micros(v, messages, schema) if type(v) is int else v
        case Time():
            return lambda v: (EPOCH + micros(v, messages, schema)).time() if type(v) is int else v
        case Binary():
            return unbase64
        case String():
            return lambda v: v if isinstance(v, str) else json.dumps(v, default=str, ensure_ascii=False)
        case Array(element):
            inner = converter_of_outside(element, messages, schema.get("items") or NO_SCHEMA)
            return lambda v: [inner(x) for x in v] if isinstance(v, list) else v
        case Map(key, value):
            of_key = converter_of_outside(key, messages, NO_SCHEMA)
            of_value = converter_of_outside(value, messages, schema.get("values") or NO_SCHEMA)
            return lambda v: {of_key(k): of_value(x) for k, x in (v.items() if isinstance(v, dict) else v)}
        case Struct(members):
            fields = fields_by_name(schema.get("fields") or ())
            parts = [
                (m.name, converter_of_outside(m.type, messages, fields.get(m.name.lower(), NO_SCHEMA)))
                for m in members
            ]
            return lambda v: {n: c(v.get(n)) for n, c in parts} if isinstance(v, dict) else v
        case _:
            return lambda v: v


def converter_of_outside(t: Type, messages: Messages, schema: Schema) -> Convert:
    """Returns the same for a part of a nested value, which may be NULL."""
    outside = outside_value(t, messages, schema)
    return lambda v: None if v is None else outside(v)


def fields_by_name(fields: Sequence[Schema]) -> dict[str, Schema]:
    return {str(f.get("field", "")).lower(): f for f in fields}


def unbase64(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadValue(f"{value[:40]!r} is not bytes in base 64") from None


def decimal_value(t: Decimal, value: Any, messages: Messages, schema: Schema) -> Any:
    """Numbers and texts as they are; bytes in base 64 where the schema or the option says so."""
    if isinstance(value, Mapping):  # io.debezium.data.VariableScaleDecimal
        return scale_digits(unbase64(value.get("value")), int(value.get("scale") or 0))
    if not isinstance(value, str):
        return value
    if schema.get("name") == DECIMAL:
        return scale_digits(unbase64(value), int((schema.get("parameters") or {}).get("scale", 0)))
    if schema.get("type") == "string" or messages.decimals == "string":
        return value
    if messages.decimals == "precise":
        return scale_digits(unbase64(value), t.scale)
    raise BadValue(
        f"{value[:40]!r} is a decimal as text or as bytes, and the message has no schema that says which: "
        "options={'decimals': 'string'} says that it is text, 'precise' that it is bytes with the scale of the column"
    )


def scale_digits(digits: Any, scale: int) -> decimal.Decimal:
    if not isinstance(digits, bytes):
        raise BadValue(f"{digits!r} is not the bytes of a decimal")
    return decimal.Decimal(int.from_bytes(digits, "big", signed=True)).scaleb(
        -scale, decimal.Context(prec=100)
    )


def micros(value: int, messages: Messages, schema: Schema) -> datetime.timedelta:
    unit = UNITS.get(str(schema.get("name")))
    if unit is None and messages.time_unit is not None:
        unit = NAMED_UNITS[messages.time_unit]
    if unit is None:
        raise BadValue(
            f"{value} is a time in a unit that no schema in the message says: "
            "options={'time_unit': 'microseconds'} does (or milliseconds, nanoseconds)"
        )
    number = value * unit if unit > 0 else value // -unit
    try:
        return datetime.timedelta(microseconds=number)
    except OverflowError:
        raise BadValue(f"{value} is out of range for a time") from None
