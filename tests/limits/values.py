"""Values that are hard to handle: not finite, at the ends of ranges, of other libraries, or rude."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy
import pandas


class Rude:
    """Cannot be shown, compared or hashed."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


def itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def zone(hours: int) -> datetime.timezone:
    return datetime.timezone(datetime.timedelta(hours=hours))


VALUES: dict[str, Any] = {
    "signalling NaN": Decimal("sNaN"),
    "quiet NaN": Decimal("NaN"),
    "infinite": Decimal("-Infinity"),
    "large exponent": Decimal("1e999999"),
    "small exponent": Decimal("1e-999999"),
    "float NaN": math.nan,
    "float infinity": math.inf,
    "10**60": 10**60,
    "10**5000": 10**5000,
    "digits": "9" * 5000,
    "aware, before the first": datetime.datetime.min.replace(tzinfo=zone(14)),
    "aware, after the last": datetime.datetime.max.replace(tzinfo=zone(-12)),
    "first": datetime.datetime.min,
    "last": datetime.datetime.max,
    "first date": datetime.date.min,
    "longest": datetime.timedelta.max,
    "time": datetime.time(23, 59),
    "0-d": numpy.array(5),
    "0-d moment": numpy.array("2024-01-01", dtype="datetime64[ns]"),
    "0-d object": numpy.array(None, dtype=object),
    "array": numpy.array([1, 2]),
    "matrix": numpy.zeros((2, 2)),
    "far moment": numpy.datetime64(2**62, "s"),
    "no moment": numpy.datetime64("NaT"),
    "no duration": numpy.timedelta64("NaT"),
    "record": numpy.array([(1, 2)], dtype="i4,i4")[0],
    "complex": 1j,
    "Timestamp": pandas.Timestamp("2024-01-01"),
    "NA": pandas.NA,
    "NaT": pandas.NaT,
    "Series": pandas.Series([1]),
    "half a pair": "a\ud800",
    "NUL": "\x00",
    "bytes": b"\xff",
    "rude": Rude(),
    "rude list": [Rude()],
    "list": [1, None],
    "itself": itself(),
    "mapping": {"a": 1},
    "set": {1},
    "tuple": (1, 2),
    "function": len,
    "class": int,
    "object": object(),
    "true": True,
    "nothing": None,
}

TYPES = (
    "BOOLEAN",
    "INT",
    "BIGINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL(10,2)",
    "STRING",
    "VARCHAR(3)",
    "BINARY",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "INTERVAL DAY TO SECOND",
    "INTERVAL YEAR TO MONTH",
    "ARRAY<INT>",
    "ARRAY<STRING>",
    "MAP<STRING, INT>",
    "STRUCT<a: INT>",
)
