"""Schemas as texts: what from_json reads, and what schema_of_json writes.

>>> print(read_schema("a INT, b ARRAY<STRUCT<c: DECIMAL(5,2)>>"))
STRUCT<a: INT, b: ARRAY<STRUCT<c: DECIMAL(5,2)>>>
>>> write_name("a b")
'`a b`'
"""

from __future__ import annotations

import re
from functools import lru_cache

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
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
from evercurrent.limits import TYPE_DEPTH, check
from evercurrent.term.functions.function import TypeMismatch

TYPES: dict[str, Type] = {
    **dict.fromkeys(("tinyint", "byte"), TINYINT),
    **dict.fromkeys(("smallint", "short"), SMALLINT),
    **dict.fromkeys(("int", "integer"), INT),
    **dict.fromkeys(("bigint", "long"), BIGINT),
    **dict.fromkeys(("float", "real"), FLOAT),
    **dict.fromkeys(("timestamp", "timestamp_ltz"), TIMESTAMP),
    "binary": BINARY,
    "boolean": BOOLEAN,
    "date": DATE,
    "double": DOUBLE,
    "string": STRING,
    "timestamp_ntz": TIMESTAMP_NTZ,
    "void": NULL,
}
_TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)*)`|'((?:[^'\\]|\\.)*)'|(\w+)|([<>(),:]))")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_name(name: str) -> str:
    """A name as a schema has it."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


@lru_cache(256)
def read_schema(text: str) -> Type:
    """The type that a schema describes: a list of columns, or one type. Every column may be NULL, whatever it says."""
    try:
        return _Reader(text).whole_type()
    except TypeMismatch:
        return _Reader(text).columns()


class _Reader:
    """Reads one schema, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[tuple[str, str]] = []
        end = len(text.rstrip())
        while self.at < end:
            found = _TOKEN.match(text, self.at)
            if found is None:
                raise self.wrong()
            kind = ("quoted", "text", "word", "sign")[(found.lastindex or 1) - 1]
            self.tokens.append((kind, found[found.lastindex or 1].replace("``", "`")))
            self.at = found.end()
        self.next = 0

    def wrong(self) -> TypeMismatch:
        return TypeMismatch(
            f"the schema {self.text[:80]!r} cannot be read: write it as 'a INT, b ARRAY<STRING>'"
        )

    def take(self, *wanted: str) -> bool:
        """Whether one of these comes next; it is read then."""
        if self.next < len(self.tokens):
            kind, text = self.tokens[self.next]
            if kind in ("word", "sign") and text.lower() in wanted:
                self.next += 1
                return True
        return False

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise self.wrong()

    def name(self) -> str:
        if self.next >= len(self.tokens) or self.tokens[self.next][0] not in ("word", "quoted"):
            raise self.wrong()
        self.next += 1
        return self.tokens[self.next - 1][1]

    def number(self) -> int:
        text = self.name()
        if not text.isdigit():
            raise self.wrong()
        return int(text)

    def whole_type(self) -> Type:
        found = self.type(1)
        if self.next < len(self.tokens):
            raise self.wrong()
        return found

    def columns(self) -> Struct:
        members = self.members(1, ())
        if self.next < len(self.tokens) or not members:
            raise self.wrong()
        return Struct(members)

    def members(self, depth: int, signs: tuple[str, ...]) -> tuple[Member, ...]:
        """Columns, separated by commas; between name and type may stand one of the signs."""
        found: list[Member] = []
        while True:
            name = self.name()
            self.take(*signs)
            found.append(Member(name, self.type(depth + 1)))
            if self.take("not"):
                self.need("null")
            if self.take("comment"):
                self.next += 1
            if not self.take(","):
                return tuple(found)

    def type(self, depth: int) -> Type:
        check(depth, TYPE_DEPTH, "types in each other")
        name = self.name().lower()
        match name:
            case "array":
                self.need("<")
                element = self.type(depth + 1)
                self.need(">")
                return Array(element)
            case "map":
                self.need("<")
                key = self.type(depth + 1)
                self.need(",")
                value = self.type(depth + 1)
                self.need(">")
                if not isinstance(key, String):
                    raise TypeMismatch("the keys of a JSON object are texts: write MAP<STRING, ...>")
                return Map(key, value)
            case "struct":
                self.need("<")
                members = () if self.take(">") else self.members(depth, (":",))
                if members:
                    self.need(">")
                return Struct(members)
            case "decimal" | "dec" | "numeric":
                return self.decimal()
            case "varchar" | "char" | "character":
                raise TypeMismatch(f"{name.upper()} cannot stand in a schema: write STRING")
            case _ if name in TYPES:
                return TYPES[name]
            case _:
                raise self.wrong()

    def decimal(self) -> Decimal:
        precision, scale = 10, 0
        if self.take("("):
            precision = self.number()
            if self.take(","):
                scale = self.number()
            self.need(")")
        if not (0 < precision <= 38 and scale <= precision):
            raise self.wrong()
        return Decimal(precision, scale)
