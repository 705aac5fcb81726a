"""What one message says: the operation and the row, in JSON or in an envelope of Debezium.

    {"op": "u", "before": {"id": 1, "n": 2}, "after": {"id": 1, "n": 3}}      upsert (1, 3)
    {"op": "d", "before": {"id": 1, "n": 3}, "after": null}                   delete 1
    {"schema": {...}, "payload": {...}}                                       the same, with a schema
    no value, key {"id": 1}                                                   delete 1: a tombstone

The operations `c`, `r` (a row of a snapshot) and `u` say which row a key has now, and that is all that is taken from them: a
message that is delivered twice changes nothing the second time, and the row before need not be in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from evercurrent.data.types import Member
from evercurrent.data.values import BadValue
from evercurrent.data.zset import Row
from evercurrent.engine.spark.intake.messages.connect_values import (
    NO_SCHEMA,
    Convert,
    Schema,
    converter,
    fields_by_name,
)
from evercurrent.engine.spark.intake.messages.options import Messages

UPSERT, DELETE, TRUNCATE = "upsert", "delete", "truncate"
UNAVAILABLE = "__debezium_unavailable_value"
"""What Debezium writes for a large value that an update did not touch."""

Said = tuple[str, Row, tuple[int, ...]]
"""An operation, a row, and the positions of columns that keep the value that they have."""


@dataclass
class Reader:
    """Reads messages for a table with these columns, of which those at `key` are its primary key."""

    fields: Sequence[Member]
    key: Sequence[int]
    messages: Messages
    known: dict[Any, list[tuple[str, Convert]]] = field(default_factory=dict)

    def read(self, key: bytes | None, value: bytes | None) -> Said | None:
        """Returns what a message says; None if that is nothing."""
        if value is None:
            return self.tombstone(key)
        content, schema = payload(parse(value))
        if content is None:
            return self.tombstone(key)
        if not isinstance(content, Mapping):
            raise BadValue("the message is not a JSON object")
        if self.messages.format == "debezium":
            return self.envelope(content, schema, key)
        return UPSERT, self.row(content, NO_SCHEMA), ()

    def envelope(self, content: Mapping[str, Any], schema: Schema, key: bytes | None) -> Said:
        op = content.get("op")
        parts = fields_by_name(schema.get("fields") or ())
        match op:
            case "c" | "r" | "u":
                after = content.get("after")
                if not isinstance(after, Mapping):
                    raise BadValue(f"the message has op {op!r} and no row in 'after'")
                missing = self.unavailable(after)
                kept = (
                    {name: None if v == UNAVAILABLE else v for name, v in after.items()} if missing else after
                )
                return UPSERT, self.row(kept, parts.get("after", NO_SCHEMA)), missing
            case "d":
                before = content.get("before")
                if isinstance(before, Mapping) and self.has_key(before):
                    return DELETE, self.key_row(before, parts.get("before", NO_SCHEMA)), ()
                said = self.tombstone(key)
                if said is None:
                    raise BadValue("the message has op 'd', and neither 'before' nor its key say which row")
                return said
            case "t":
                return TRUNCATE, (None,) * len(self.fields), ()
            case _:
                raise BadValue(
                    f"the message has op {op!r}, and is no envelope of Debezium with c, r, u, d or t"
                )

    def tombstone(self, key: bytes | None) -> Said | None:
        """A message without a value: the row of its key is gone. It repeats the deletion before it, unless that was compacted away."""
        if not self.messages.upsert or key is None:
            return None
        content, schema = payload(parse(key))
        if not isinstance(content, Mapping):
            content = {self.fields[self.key[0]].name: content} if len(self.key) == 1 else {}
        if not self.has_key(content):
            names = ", ".join(self.fields[i].name for i in self.key)
            raise BadValue(f"the message deletes a row, and its key does not have {names}")
        return DELETE, self.key_row(content, schema), ()

    def has_key(self, content: Mapping[str, Any]) -> bool:
        given = {name.lower() for name, v in content.items() if v is not None}
        return all(self.fields[i].name.lower() in given for i in self.key)

    def unavailable(self, after: Mapping[str, Any]) -> tuple[int, ...]:
        if UNAVAILABLE not in [v for v in after.values() if isinstance(v, str)]:
            return ()
        gone = {name.lower() for name, v in after.items() if v == UNAVAILABLE}
        return tuple(i for i, f in enumerate(self.fields) if f.name.lower() in gone)

    def key_row(self, content: Mapping[str, Any], schema: Schema) -> Row:
        """The values of the key in their places, and NULL elsewhere."""
        wanted = {self.fields[i].name.lower() for i in self.key}
        return self.row({n: v for n, v in content.items() if n.lower() in wanted}, schema)

    def row(self, content: Mapping[str, Any], schema: Schema) -> Row:
        """The values of the columns; members without a column are passed over, and columns without a member are NULL."""
        given = {name.lower(): v for name, v in content.items()}
        values = []
        for name, convert in self.converters(schema):
            try:
                values.append(convert(given.get(name)))
            except BadValue as problem:
                raise BadValue(f"{name}: {problem}") from None
            except (ValueError, TypeError, ArithmeticError, KeyError, AttributeError) as problem:
                raise BadValue(f"{name}: {given.get(name)!r} cannot be read ({problem})") from None
        return tuple(values)

    def converters(self, schema: Schema) -> list[tuple[str, Convert]]:
        named = fields_by_name(schema.get("fields") or ())
        mark = tuple((n, f.get("name"), f.get("type"), repr(f.get("parameters"))) for n, f in named.items())
        found = self.known.get(mark)
        if found is None:
            found = self.known[mark] = [
                (f.name.lower(), converter(f.type, self.messages, named.get(f.name.lower(), NO_SCHEMA)))
                for f in self.fields
            ]
        return found


def parse(text: bytes) -> Any:
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise BadValue(f"the message is not JSON: {problem}") from None


def refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def payload(content: Any) -> tuple[Any, Schema]:
    """A message and its schema, if it has one.

    >>> payload({"schema": {"type": "struct"}, "payload": {"id": 1}})
    ({'id': 1}, {'type': 'struct'})
    >>> payload({"id": 1})
    ({'id': 1}, {})
    """
    if isinstance(content, Mapping) and "payload" in content and content.keys() <= {"schema", "payload"}:
        return content["payload"], content.get("schema") or NO_SCHEMA
    return content, NO_SCHEMA


ReadMessage = Callable[[bytes | None, bytes | None], Said | None]
