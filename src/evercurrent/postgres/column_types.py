"""Types of PostgreSQL as types of views, and their values from text.

    boolean, smallint, integer, bigint, real, double precision, date, time    the same
    numeric(p,s)                            DECIMAL(p,s); numeric without digits DECIMAL(38,18)
    timestamp, timestamp with time zone     TIMESTAMP_NTZ, TIMESTAMP
    bytea                                   BINARY
    arrays of these                         ARRAY, of one dimension
    all others                              STRING, as PostgreSQL writes them: text, varchar, uuid, json, enumerations, interval, ...

psycopg reads the text of a value; what it returns is converted as any value that a user inserts. A value that does not fit (an
infinite date, a numeric that is no number or has too many digits) is refused, with the column and the row's text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import Connection
from psycopg import Error as PostgresError
from psycopg.adapt import Transformer
from psycopg.pq import Format

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Type,
)
from evercurrent.errors import EvaluationError

NUMERIC = 1700
SCALARS: dict[int, Type] = {
    16: BOOLEAN,
    17: BINARY,
    20: BIGINT,
    21: SMALLINT,
    23: INT,
    26: BIGINT,
    700: FLOAT,
    701: DOUBLE,
    1082: DATE,
    1083: TIME,
    1114: TIMESTAMP_NTZ,
    1184: TIMESTAMP,
}
ARRAYS = {
    1000: 16, 1001: 17, 1016: 20, 1005: 21, 1007: 23, 1021: 700, 1022: 701,
    1182: 1082, 1183: 1083, 1115: 1114, 1185: 1184, 1231: NUMERIC, 1009: 25, 1015: 25, 1014: 25,
}  # fmt: skip
"""Types of arrays, and of their elements; 25 is text."""
WIDEST = 38
READ_BY_PSYCOPG = {*SCALARS, *ARRAYS, NUMERIC}


def type_of(oid: int, modifier: int) -> Type:
    """Returns the type of a column."""
    if oid == NUMERIC:
        if modifier < 0:
            return Decimal(WIDEST, 18)
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
        scale = scale - 0x800 if scale >= 0x400 else scale
        if 0 <= scale <= precision <= WIDEST:
            return Decimal(precision, scale)
        return Decimal(WIDEST, min(max(scale, 0), WIDEST))
    if oid in ARRAYS:
        return Array(type_of(ARRAYS[oid], modifier))
    return SCALARS.get(oid, STRING)


Convert = Callable[[bytes], Any]


def converter(connection: Connection[Any], oid: int, what: str) -> Convert:
    """Returns the function from the text of a value to the value; `what` names the column."""
    if oid not in READ_BY_PSYCOPG:
        return bytes.decode
    load = Transformer(connection).get_loader(oid, Format.TEXT).load

    def convert(text: bytes) -> Any:
        try:
            return load(text)
        except (PostgresError, ValueError) as problem:
            raise EvaluationError(f"{what}: {text.decode()[:60]!r} cannot be read: {problem}") from problem

    return convert
