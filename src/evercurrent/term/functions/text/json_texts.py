"""JSON as text: get_json_object, json_array_length, json_object_keys and to_json, as Spark reads and writes it.

>>> get_json_object('{"a": [1, {"b": "x"}]}', "$.a[1].b"), json_array_length("[1, [2, 3]]")
('x', 2)
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    INT,
    STRING,
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    Type,
)
from evercurrent.term.functions.failures import join_within_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import count, simple, take_exactly
from evercurrent.term.functions.values.casts import conversion


class Real(str):
    """A number with a point or an exponent, as Spark writes it; `raw` is how it stood in the text."""

    raw: str


class Pairs(list[Any]):
    """An object: its members in order, each as it came."""


def _real(text: str) -> Real:
    convert = conversion(Float(64), STRING)
    assert convert is not None
    found = Real(convert(float(text)))
    found.raw = text
    return found


def _refuse(text: str) -> Any:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_float=_real, parse_constant=_refuse, object_pairs_hook=Pairs, strict=True)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\['([^']*)'\]")
_CODE = re.compile(r"(\\u00)([0-9a-f]{2})")
MISSING: Any = object()


def _decode_json(text: str, whole: bool = False) -> Any:
    """The first value in a text; MISSING if there is none. With `whole`, nothing may follow it."""
    try:
        value, end = _DECODER.raw_decode(text.strip(" \t\r\n"))
    except (ValueError, RecursionError):
        return MISSING
    return MISSING if whole and end != len(text.strip(" \t\r\n")) else value


def read_json(text: str) -> Any:
    """The first value in a text, as Spark's parser for values reads it: also with texts in single quotes, NaN and infinities."""
    found = _decode_json(text)
    if found is not MISSING or not ("'" in text or "N" in text or "I" in text):
        return found
    try:
        return Tolerant(text).value()
    except (ValueError, IndexError, RecursionError):
        return MISSING


def write_json(value: Any) -> str:
    """A value that was read, as text."""
    return _write_json(value)


class Tolerant:
    """Reads what the parser of the standard library refuses: texts in single quotes, NaN and infinities."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> str:
        """Goes to the next sign, and returns it."""
        self.at += len(self.text[self.at :]) - len(self.text[self.at :].lstrip(" \t\r\n"))
        return self.text[self.at]

    def value(self) -> Any:
        sign = self.skip()
        if sign == "{":
            return self.members()
        if sign == "[":
            return self.elements()
        if sign in "\"'":
            return self.string(sign)
        special = _SPECIAL.match(self.text, self.at)
        if special is not None:
            self.at = special.end()
            return _special(special[0])
        found, self.at = _DECODER.raw_decode(self.text, self.at)
        return found

    def members(self) -> Pairs:
        found = Pairs()
        self.at += 1
        if self.skip() == "}":
            self.at += 1
            return found
        while True:
            quote = self.skip()
            if quote not in "\"'":
                raise ValueError(quote)
            name = self.string(quote)
            if self.skip() != ":":
                raise ValueError(name)
            self.at += 1
            found.append((name, self.value()))
            if self.ends("}"):
                return found

    def elements(self) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        if self.skip() == "]":
            self.at += 1
            return found
        while True:
            found.append(self.value())
            if self.ends("]"):
                return found

    def ends(self, sign: str) -> bool:
        """Whether a list ends here; else a comma must follow."""
        found = self.skip()
        self.at += 1
        if found not in (sign, ","):
            raise ValueError(found)
        return found == sign

    def string(self, quote: str) -> str:
        end = self.at + 1
        while self.text[end] != quote:
            end += 2 if self.text[end] == "\\" else 1
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        if quote == "'":
            inside = re.sub(
                r"\\(.)|\"", lambda f: f[0] if f[1] and f[1] != "'" else f[1] or '\\"', inside, flags=re.S
            )
        found = _DECODER.decode(f'"{inside}"')
        assert isinstance(found, str)
        return found


_SPECIAL = re.compile(r"NaN|[+-]?Infinity|[+-]INF")


def _special(text: str) -> Real:
    found = Real({"N": "NaN", "-": "-Infinity"}.get(text[0], "Infinity"))
    found.raw = text
    return found


def _steps(path: str) -> list[str | int] | None:
    if not path.startswith("$"):
        return None
    found: list[str | int] = []
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        found.append(int(step[2]) if step[2] is not None else step[1] or step[3])
        at = step.end()
    return found


def get_json_object(text: str, path: str) -> str | None:
    """What stands at a path, as text; NULL if there is nothing, or the text is no JSON."""
    steps = _steps(path)
    value = MISSING if steps is None else _decode_json(text)
    for step in steps or ():
        if isinstance(step, int):
            inside = isinstance(value, list) and not isinstance(value, Pairs) and step < len(value)
            value = value[step] if inside else MISSING
        else:
            members = value if isinstance(value, Pairs) else ()
            value = next((v for k, v in members if k == step), MISSING)
    if value is MISSING or (value is None and steps):
        return None
    return value if isinstance(value, str) else _write_json(value)


def _write_json(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Real() | int():
            return str(value)
        case str():
            return _quote_json(value)
        case Pairs():
            return "{" + ",".join(f"{_quote_json(k)}:{_write_json(v)}" for k, v in value) + "}"
        case _:
            return "[" + ",".join(map(_write_json, value)) + "]"


def _quote_json(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return _CODE.sub(lambda found: found[1] + found[2].upper(), written)


def json_array_length(text: str) -> int | None:
    value = _decode_json(text)
    return len(value) if isinstance(value, list) and not isinstance(value, Pairs) else None


def json_object_keys(text: str) -> tuple[str, ...] | None:
    value = _decode_json(text)
    return tuple(k for k, _ in value) if isinstance(value, Pairs) else None


# --- to_json ------------------------------------------------------------------------------------------------


def _infer_to_json(types: Types) -> Signature:
    count(types, 1)
    if not isinstance(types[0], Struct | Array | Map):
        raise TypeMismatch(f"a struct, array or map is needed, not {types[0]}")
    writer(types[0])  # refuses types that it cannot write
    return Signature(types, STRING)


def writer(t: Type) -> Callable[[Any], str]:
    """Returns the function that writes values of a type; NULL members of structs are left out."""
    match t:
        case Struct(members):
            parts = [(_quote_json(m.name), writer(m.type)) for m in members]
            return lambda row: (
                "{"
                + join_within_size(
                    "TO_JSON",
                    ",",
                    (f"{n}:{w(v)}" for (n, w), v in zip(parts, row, strict=True) if v is not None),
                )
                + "}"
            )
        case Array(element):
            write = _nullable(element)
            return lambda items: f"[{join_within_size('TO_JSON', ',', map(write, items))}]"
        case Map(key, value):
            name, inner = _name(key), _nullable(value)
            return lambda found: (
                "{" + ",".join(f"{_quote_json(name(k))}:{inner(v)}" for k, v in found.items()) + "}"
            )
        case Boolean():
            return lambda v: "true" if v else "false"
        case Integer() | Decimal():
            return _name(t)
        case Float():
            text = _name(t)
            return lambda v: text(v) if v == v and abs(v) != float("inf") else _quote_json(text(v))
        case String():
            return _quote_json
        case Date():
            text = _name(t)
            return lambda v: _quote_json(text(v))
        case Binary():
            return lambda v: _quote_json(base64.b64encode(v).decode())
        case Timestamp(zone):
            return lambda v: _quote_json(
                f"{v:%Y-%m-%dT%H:%M:%S}.{v.microsecond // 1000:03}{'Z' if zone else ''}".rjust(23, "0")
            )
        case Null():
            return lambda v: "null"
        case _:
            raise TypeMismatch(f"values of type {t} cannot be written as JSON")


def _nullable(t: Type) -> Callable[[Any], str]:
    write = writer(t)
    return lambda v: "null" if v is None else write(v)


def _name(t: Type) -> Callable[[Any], str]:
    """A value as the text that a cast makes of it."""
    convert = conversion(t, STRING) if not isinstance(t, String) else (lambda v: v)
    if convert is None:
        raise TypeMismatch(f"values of type {t} cannot be written as JSON")
    return convert


def _infer_path(types: Types, values: tuple[Any, ...]) -> Signature:
    signature = take_exactly((STRING, STRING), STRING)(types)
    if len(values) == 2 and isinstance(values[1], str) and "*" in values[1]:
        raise TypeMismatch(
            f"the path {values[1]} has a wildcard, which is not supported: explode the array instead"
        )
    return signature


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "get_json_object",
        take_exactly((STRING, STRING), STRING),
        lambda types, result: get_json_object,
        nullable=True,
        refine=_infer_path,
    ),
    simple("json_array_length", (STRING,), INT, json_array_length, nullable=True),
    simple("json_object_keys", (STRING,), Array(STRING), json_object_keys, nullable=True),
    Function("to_json", _infer_to_json, lambda types, result: writer(types[0])),
)
