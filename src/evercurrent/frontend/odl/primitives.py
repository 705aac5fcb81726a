"""The primitive types of ODL, as types and limits.

`time` is the time of day, TIME(6). `decimal(p, s)` is an extension.

>>> PRIMITIVES["octet"]
(Integer(bits=16), Limit(least=0, greatest=255, labels=()))
>>> spelling(SMALLINT, Limit(0, 255)), spelling(Decimal(12, 2), ANY)
('octet', 'decimal(12, 2)')
"""

from __future__ import annotations

from evercurrent.catalog.classes import Limit
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    Decimal,
    Interval,
    String,
    Type,
)

ANY = Limit()

PRIMITIVES: dict[str, tuple[Type, Limit]] = {
    "short": (SMALLINT, ANY),
    "unsigned short": (INT, Limit(0, 2**16 - 1)),
    "long": (INT, ANY),
    "int": (INT, ANY),
    "unsigned long": (BIGINT, Limit(0, 2**32 - 1)),
    "long long": (BIGINT, ANY),
    "unsigned long long": (Decimal(20, 0), Limit(0, 2**64 - 1)),
    "float": (FLOAT, ANY),
    "double": (DOUBLE, ANY),
    "boolean": (BOOLEAN, ANY),
    "octet": (SMALLINT, Limit(0, 255)),
    "char": (String(1), ANY),
    "string": (STRING, ANY),
    "date": (DATE, ANY),
    "time": (TIME, ANY),
    "timestamp": (TIMESTAMP, ANY),
    "interval": (MICROS, ANY),
    "binary": (BINARY, ANY),
}

ALIASES = {
    "integer": "long",
    "long short": "short",
    "unsigned": "unsigned long",
    "bool": "boolean",
    "float double": "double",
}


def spelling(t: Type, limit: Limit) -> str | None:
    """The ODL name of a primitive type with its limit; None if there is none."""
    for name, pair in PRIMITIVES.items():
        if pair == (t, Limit(limit.least, limit.greatest)):
            return "long" if name == "int" else name
    match t:
        case String(length):
            return f"string<{length}>"
        case Decimal(precision, scale):
            return f"decimal({precision}, {scale})"
        case Interval("micros"):  # with limits, as times of day were kept before there was a type for them
            return "interval"
        case _:
            return None
