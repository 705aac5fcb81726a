"""The formats of `db.stream`, and what can be said of each.

>>> read_options("debezium", {"decimals": "string"})
Messages(format='debezium', upsert=True, decimals='string', time_unit=None, schema=None, framing='none')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError

FORMATS = ("json", "avro", "debezium")
CHOICES = {
    "mode": ("insert", "upsert"),
    "decimals": ("string", "precise"),
    "time_unit": ("milliseconds", "microseconds", "nanoseconds"),
    "framing": ("none", "confluent"),
}
OPTIONS = {
    "json": ("mode", "decimals", "time_unit"),
    "avro": ("mode", "schema", "framing"),
    "debezium": ("decimals", "time_unit"),
}
"""The options of each format."""


@dataclass(frozen=True)
class Messages:
    """How messages are read. `upsert`: the last message of a key decides which row the key has, if any.

    `decimals` and `time_unit` say what texts in columns of decimals, and integers in columns of times, stand for, where no
    schema in the message does: `precise` are bytes in base 64, with the scale of the column.
    """

    format: str
    upsert: bool
    decimals: str | None = None
    time_unit: str | None = None
    schema: str | None = None
    framing: str = "none"


def read_options(format: Any, options: Mapping[str, Any] | None) -> Messages:
    """Returns how messages of a format are read.

    >>> read_options("json", {"mode": "upsert"}).upsert
    True
    >>> read_options("debezium", {"mode": "insert"})
    Traceback (most recent call last):
    evercurrent.errors.QueryError: messages of format 'debezium' have no option 'mode'
    hint: they have decimals, time_unit
    """
    if not isinstance(format, str) or format not in FORMATS:
        raise QueryError(
            f"there is no format {show_value(format)} of messages",
            hint=f"the formats are {', '.join(FORMATS)}; without one, the columns of the frame are those of the table",
        )
    given = dict(options or {})
    for name, value in given.items():
        if name not in OPTIONS[format]:
            raise QueryError(
                f"messages of format {format!r} have no option {name!r}",
                hint=f"they have {', '.join(OPTIONS[format])}",
            )
        if name in CHOICES and value not in CHOICES[name]:
            raise QueryError(
                f"the option {name} cannot be {show_value(value)}",
                hint=f"it is one of {', '.join(CHOICES[name])}",
            )
    if format == "avro" and not isinstance(given.get("schema"), str):
        raise QueryError(
            "messages in Avro need the option 'schema'", hint="the schema that they were written by, as JSON"
        )
    return Messages(
        format,
        format == "debezium" or given.get("mode") == "upsert",
        given.get("decimals", "string" if format == "json" else None),
        given.get("time_unit"),
        given.get("schema"),
        given.get("framing", "none"),
    )
