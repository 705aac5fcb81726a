"""JSON as values: from_json and schema_of_json, as Spark reads it.

>>> from_json(read_schema("a INT, b ARRAY<INT>"))('{"a": 1, "b": [1, null]}')
(1, (1, None))

Law. A text that is no JSON, or whose root is not what the schema says, is a struct of NULLs, or NULL for arrays and maps. A value
that is not of its column's type is NULL, and the rest is read; but an array or map with such a value is NULL as a whole. What
follows the first value of a text is not looked at.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from typing import Any

from evercurrent.data.texts import read_date, read_timestamp
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    NULL,
    STRING,
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Map,
    Member,
    Null,
    String,
    Struct,
    Timestamp,
    Type,
)
from evercurrent.data.values import FrozenMap, canonical_float, float32
from evercurrent.errors import EvaluationError, UnsupportedError
from evercurrent.term.functions.calendar import moment_of
from evercurrent.term.functions.exact import POWERS, rescale
from evercurrent.term.functions.function import UNKNOWN, Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import count, expect, take_exactly
from evercurrent.term.functions.text.json_texts import MISSING, Pairs, Real, read_json, write_json
from evercurrent.term.functions.text.schema_texts import read_schema, write_name

MISMATCH: Any = object()
"""In place of a value that is not of the type that is wanted."""
Reader = Callable[[Any], Any]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LOCAL = re.compile(
    r"\s*[+-]?\d{4,6}(?:-\d{1,2}(?:-\d{1,2}(?:[T ]\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d*)?)?)?)?)?\s*", re.ASCII
)
_FLOATS = {
    "NaN": math.nan,
    **dict.fromkeys(("Infinity", "+Infinity", "+INF"), math.inf),
    **dict.fromkeys(("-Infinity", "-INF"), -math.inf),
}


def from_json(t: Type) -> Callable[[str], Any]:
    """Returns the function from a text to a value of a type."""
    read = value_reader(t)
    nothing = (None,) * len(t.members) if isinstance(t, Struct) else None
    wraps = isinstance(t, Array) and isinstance(t.element, Struct)

    def parse(text: str) -> Any:
        if not text.strip(" \t\r\n"):
            return None
        value = read_json(text)
        if value is MISSING or value is None:
            return nothing
        found = read([value] if wraps and isinstance(value, Pairs) else value)
        return nothing if found is MISMATCH else found

    return parse


def value_reader(t: Type) -> Reader:
    """Returns the function from decoded JSON to values of a type; MISMATCH where it is of another. NULL is NULL in every type."""
    read = _reader(t)
    return lambda v: None if v is None else read(v)


def _reader(t: Type) -> Reader:
    match t:
        case Struct(members):
            return _struct(members)
        case Array(element):
            return _array(value_reader(element))
        case Map(_, value):
            return _map(value_reader(value))
        case Boolean():
            return lambda v: v if isinstance(v, bool) else MISMATCH
        case Integer(bits):
            return _integer(bits)
        case Float(bits):
            return _float(bits)
        case Decimal(precision, scale):
            return _decimal(precision, scale)
        case String():
            return lambda v: v if isinstance(v, str) and not isinstance(v, Real) else write_json(v)
        case Date():
            return lambda v: (read_date(v) if _is_text(v) else None) or MISMATCH
        case Timestamp(zone):
            return _timestamp if zone else _local_timestamp
        case Binary():
            return _binary
        case Null():
            return lambda v: None
        case _:
            raise TypeMismatch(f"values of type {t} cannot be read from JSON")


def _is_text(v: Any) -> bool:
    return isinstance(v, str) and not isinstance(v, Real)


def _struct(members: tuple[Member, ...]) -> Reader:
    places: dict[str, list[tuple[int, Reader]]] = {}
    for place, member in enumerate(members):
        places.setdefault(member.name, []).append((place, value_reader(member.type)))
    width = len(members)

    def read(v: Any) -> Any:
        if not isinstance(v, Pairs):
            return MISMATCH
        row: list[Any] = [None] * width
        for name, inner in v:
            for place, value_of in places.get(name, ()):
                found = value_of(inner)
                if found is not MISMATCH:
                    row[place] = found
        return tuple(row)

    return read


def _array(read: Reader) -> Reader:
    def items(v: Any) -> Any:
        if not isinstance(v, list) or isinstance(v, Pairs):
            return MISMATCH
        found = tuple(map(read, v))
        return MISMATCH if any(x is MISMATCH for x in found) else found

    return items


def _map(read: Reader) -> Reader:
    def entries(v: Any) -> Any:
        if not isinstance(v, Pairs):
            return MISMATCH
        found = {name: read(inner) for name, inner in v}
        return MISMATCH if any(x is MISMATCH for x in found.values()) else FrozenMap(found)

    return entries


def _integer(bits: int) -> Reader:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(v: Any) -> Any:
        if not isinstance(v, int) or isinstance(v, bool):
            return MISMATCH
        if bits == 8 and most < v <= 255:  # Spark takes an unsigned byte, too
            return v - 256
        return v if least <= v <= most else MISMATCH

    return read


def _float(bits: int) -> Reader:
    def read(v: Any) -> Any:
        if isinstance(v, Real) or (isinstance(v, int) and not isinstance(v, bool)):
            number = _FLOATS.get(v.raw) if isinstance(v, Real) else None
            number = _to_float(v) if number is None else number
        else:
            number = _FLOATS.get(v) if isinstance(v, str) else None
        if number is None:
            return MISMATCH
        return canonical_float(number) if bits == 64 else float32(number)

    return read


def _to_float(v: Any) -> float:
    try:
        return float(v.raw if isinstance(v, Real) else v)
    except OverflowError:
        return math.inf if v > 0 else -math.inf


def _decimal(precision: int, scale: int) -> Reader:
    bound = POWERS[precision]

    def read(v: Any) -> Any:
        if isinstance(v, bool) or not isinstance(v, str | int):
            return MISMATCH
        text = v.raw if isinstance(v, Real) else str(v)
        if not _NUMBER.fullmatch(text):
            return MISMATCH
        mantissa, _, exponent = text.lower().partition("e")
        whole, _, part = mantissa.partition(".")
        shift = int(exponent or 0) - len(part)
        if abs(shift) > 400:
            return 0 if not (whole + part).strip("+-0") or shift < 0 else MISMATCH
        digits = int((whole + part) or "0") * (10 ** max(shift, 0))
        value = rescale(digits, max(-shift, 0), scale)
        return value if -bound < value < bound else MISMATCH

    return read


def _timestamp(v: Any) -> Any:
    if _is_text(v):
        return read_timestamp(v, True) or MISMATCH
    if isinstance(v, int) and not isinstance(v, bool):
        try:
            return moment_of(v * 1_000_000)
        except (OverflowError, ValueError, EvaluationError):
            return MISMATCH
    return MISMATCH


def _local_timestamp(v: Any) -> Any:
    if not _is_text(v) or not _LOCAL.fullmatch(v):
        return MISMATCH
    return read_timestamp(v, False) or MISMATCH


def _binary(v: Any) -> Any:
    if not _is_text(v):
        return MISMATCH
    try:
        return base64.b64decode(v, validate=True)
    except (binascii.Error, ValueError):
        return MISMATCH


# --- schema_of_json ------------------------------------------------------------------------------------------


def schema_of_json(text: str) -> str:
    """The schema of a text, as from_json reads it."""
    value = None if not text.strip(" \t\r\n") else read_json(text)
    if value is MISSING:
        raise EvaluationError(f"schema_of_json: {text[:80]!r} is no JSON")
    found = _type_of(value)
    return write_type(_canonical(found) or (Struct(()) if isinstance(found, Struct) else STRING))


def _type_of(value: Any) -> Type:
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case Real():
            return DOUBLE
        case int():
            digits = len(str(abs(value)))
            if -(1 << 63) <= value < 1 << 63:
                return BIGINT
            return Decimal(digits, 0) if digits <= 38 else DOUBLE
        case str():
            return STRING
        case Pairs():
            members = [Member(name, _type_of(v)) for name, v in value]
            return Struct(tuple(sorted(members, key=lambda m: m.name)))
        case _:
            element: Type = NULL
            for v in value:
                element = _common(element, _type_of(v))
            return Array(element)


def _common(a: Type, b: Type) -> Type:
    """The type that holds values of both; STRING if there is nothing better."""
    match a, b:
        case _ if a == b:
            return a
        case (Null(), t) | (t, Null()):
            return t
        case Struct(xs), Struct(ys):
            merged = {m.name: m.type for m in xs}
            for m in ys:
                merged[m.name] = _common(merged.get(m.name, NULL), m.type)
            return Struct(tuple(Member(name, merged[name]) for name in sorted(merged)))
        case Array(x), Array(y):
            return Array(_common(x, y))
        case (Float(), Integer() | Decimal()) | (Integer() | Decimal(), Float()):
            return DOUBLE
        case (Decimal(p, _), Decimal(q, _)):
            return Decimal(max(p, q), 0)
        case (Decimal(p, _), Integer()) | (Integer(), Decimal(p, _)):
            return Decimal(max(p, 20), 0)
        case _:
            return STRING


def _canonical(t: Type) -> Type | None:
    """A type without NULLs and without structs that have no columns; None if nothing is left."""
    match t:
        case Null():
            return STRING
        case Array(element):
            inner = _canonical(element)
            return None if inner is None else Array(inner)
        case Struct(members):
            kept = [(m.name, inner) for m in members if m.name and (inner := _canonical(m.type)) is not None]
            return Struct(tuple(Member(name, inner) for name, inner in kept)) if kept else None
        case _:
            return t


def write_type(t: Type) -> str:
    """A type as a schema."""
    match t:
        case Struct(members):
            return f"STRUCT<{', '.join(f'{write_name(m.name)}: {write_type(m.type)}' for m in members)}>"
        case Array(element):
            return f"ARRAY<{write_type(element)}>"
        case _:
            return str(t)


# --- functions -----------------------------------------------------------------------------------------------


def _refine_schema(types: Types, constants: tuple[Any, ...]) -> Signature:
    count(types, 2)
    schema = constants[1]
    if schema is UNKNOWN or not isinstance(schema, str):
        raise TypeMismatch("the schema must be a constant text, such as 'a INT, b ARRAY<STRING>'")
    t = read_schema(schema)
    if not isinstance(t, Struct | Array | Map):
        raise TypeMismatch(f"the schema is {t}: a struct, array or map is needed")
    if isinstance(t, Struct) and any(m.name == "_corrupt_record" for m in t.members):
        raise UnsupportedError("a column _corrupt_record in a schema is not supported", hint="leave it out")
    value_reader(t)  # refuses types that it cannot read
    return Signature((expect(types[0], STRING, 0), STRING), t)


def _needs_constants(types: Types) -> Signature:
    return _refine_schema(types, (UNKNOWN,) * len(types))


def _implement(types: Types, result: Type) -> Callable[..., Any]:
    parse = from_json(result)
    return lambda text, schema: parse(text)


FUNCTIONS: tuple[Function, ...] = (
    Function("from_json", _needs_constants, _implement, nullable=True, refine=_refine_schema),
    Function(
        "schema_of_json",
        take_exactly((STRING,), STRING),
        lambda types, result: schema_of_json,
        fails=True,
    ),
)
