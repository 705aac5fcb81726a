"""The changes of a version as messages: a key, and an envelope as Debezium writes it.

    (customer 7, 3 orders) -> (customer 7, 4 orders)
      key    {"customer": 7}
      value  {"before": {"customer": 7, "n": 3}, "after": {"customer": 7, "n": 4}, "op": "u", "source": {...}, "ts_ms": ...}

A view with a key has at most one message for each key and version, and after a deletion one without a value, so that Kafka can
compact the topic. In a view without a key every copy of a row is a message, inserted (`c`) or deleted (`d`), under the row itself.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evercurrent.data.types import (
    Array,
    Binary,
    Collection,
    Date,
    Decimal,
    Float,
    Map,
    Member,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import give_out
from evercurrent.data.zset import Row


class Message(NamedTuple):
    """The key and the value of a message of Kafka; without a value it is a tombstone."""

    key: bytes
    value: bytes | None


def json_of(t: Type, value: Any) -> Any:
    """An inside value as something that JSON has: numbers as they are, what JSON lacks as text.

    >>> import datetime
    >>> json_of(Decimal(6, 2), 1050), json_of(Date(), datetime.date(2026, 5, 1)), json_of(Binary(), b"\\x01\\x02")
    ('10.50', '2026-05-01', 'AQI=')
    """
    if value is None:
        return None
    match t:
        case Decimal():
            return format(give_out(t, value), "f")
        case Date() | Time():
            return value.isoformat()
        case Timestamp():
            return give_out(t, value).isoformat()
        case Binary():
            return base64.b64encode(value).decode("ascii")
        case Float():
            if math.isfinite(value):
                return value
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        case Array(element) | Collection(_, element):
            return [json_of(element, x) for x in value]
        case Map(key, element):
            return [[json_of(key, k), json_of(element, x)] for k, x in value.items()]
        case Struct(members):
            return {m.name: json_of(m.type, x) for m, x in zip(members, value, strict=True)}
        case _:
            return value


def text(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True)
class Envelopes:
    """Writes the changes of a view as messages. `key`: the positions of the columns that identify its rows."""

    view: str
    fields: Sequence[Member]
    key: Sequence[int]
    now: Callable[[], int]  # milliseconds

    def row(self, row: Row | None) -> dict[str, Any] | None:
        if row is None:
            return None
        return {f.name: json_of(f.type, v) for f, v in zip(self.fields, row, strict=True)}

    def key_of(self, row: Row) -> bytes:
        chosen = self.key or range(len(self.fields))
        return text({self.fields[i].name: json_of(self.fields[i].type, row[i]) for i in chosen})

    def message(self, op: str, before: Row | None, after: Row | None, version: int) -> Message:
        named = after if after is not None else before
        assert named is not None
        content = {
            "before": self.row(before),
            "after": self.row(after),
            "op": op,
            "source": {"connector": "evercurrent", "table": self.view, "version": version},
            "ts_ms": self.now(),
        }
        return Message(self.key_of(named), text(content))

    def snapshot(self, rows: Iterable[tuple[Row, int]], version: int) -> Iterator[Message]:
        """Yields the rows of a view, each as often as it is there."""
        for row, weight in rows:
            for _ in range(weight):
                yield self.message("r", None, row, version)

    def changes(self, delta: Iterable[tuple[Row, int]], version: int) -> Iterator[Message]:
        """Yields what a version has changed; deletions and updates first, so that a reader never has a row too many."""
        listed = [(row, w) for row, w in delta if w]
        come: dict[Row, Row] = {}
        if self.key:
            come = {self.identity(row): row for row, w in listed if w > 0}
        for row, w in listed:
            if w < 0:
                after = come.pop(self.identity(row), None) if self.key else None
                for _ in range(-w):
                    yield self.message("d" if after is None else "u", row, after, version)
                if after is None and self.key:
                    yield Message(self.key_of(row), None)
        for row, w in listed:
            if w > 0 and (not self.key or self.identity(row) in come):
                for _ in range(w):
                    yield self.message("c", None, row, version)

    def identity(self, row: Row) -> Row:
        return tuple(row[i] for i in self.key)
