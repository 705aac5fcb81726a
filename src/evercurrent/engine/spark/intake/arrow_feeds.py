"""Change feeds in Arrow tables, read a column at a time.

Law. Where `read_feed_rows` returns rows, they are those that `rows.readers` returns, which reads value by value: a column of
exactly the type that files have is used as it is, any other goes through the same conversions. Where anything is wrong
`read_feed_rows` and `feed_columns` return None, and reading value by value raises the error that says what.

>>> from evercurrent.data.types import Decimal, Integer, Member
>>> fields = [Member("id", Integer(64), False), Member("price", Decimal(6, 2), True)]
>>> feed = pyarrow.table(
...     {
...         "id": [1, 2],
...         "price": pyarrow.array(["9.50", "1.25"]).cast(pyarrow.decimal128(6, 2)),
...         "_change_type": ["insert", "delete"],
...     }
... )
>>> read_feed_rows(fields, feed)
([(1, 950)], [(2, 125)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow
import pyarrow.compute

from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.data.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Integer,
    Member,
    String,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import BadValue, taker
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows, values_to_arrow
from evercurrent.engine.spark.translate.types import arrow_type, spark_type


def read_feed_rows(fields: Sequence[Member], feed: Any) -> tuple[list[Row], list[Row]] | None:
    """Returns the inserted and the deleted rows, if the feed is an Arrow table of whole, valid rows."""
    table = feed_columns(fields, feed)
    if table is None:
        return None
    types = [f.type for f in fields]
    comes = pyarrow.compute.greater(table.column(W), 0)
    come, go = table.filter(comes), table.filter(pyarrow.compute.invert(comes))
    return [row for row, _ in arrow_to_rows(types, come, W)], [row for row, _ in arrow_to_rows(types, go, W)]


def feed_columns(fields: Sequence[Member], feed: Any) -> pyarrow.Table | None:
    """Returns the same as columns `c0, c1, ..., w`, as files have them; the weights are 1 and -1, equal rows stand side by side."""
    if not isinstance(feed, pyarrow.Table):
        return None
    names = [n for n in feed.column_names if n not in PASSED_OVER]
    if sorted(names) != sorted([*(f.name for f in fields), CHANGE_TYPE]):
        return None
    kinds = feed.column(CHANGE_TYPE)
    coming = [kind for kind, sign in SIGNS.items() if sign > 0]
    try:
        if not all(kind in SIGNS for kind in kinds.unique().to_pylist()):
            return None
        comes = pyarrow.compute.is_in(kinds, pyarrow.array(coming, kinds.type))
        weights = pyarrow.compute.if_else(comes, pyarrow.scalar(1, pyarrow.int64()), -1)
        columns = [encode_column(f.type, feed.column(f.name)) for f in fields]
    except (BadValue, pyarrow.ArrowException):
        return None
    return pyarrow.table([*columns, weights], [*(f"c{i}" for i in range(len(fields))), W])


def encode_column(t: Type, column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray | pyarrow.Array:
    """A column as files have it; raises where a value is none of the type."""
    if has_stored_type(t, column):
        column.validate(full=True)
        return column
    return values_to_arrow(t, list(map(taker(t), column.to_pylist())))


def has_stored_type(t: Type, column: pyarrow.ChunkedArray) -> bool:
    """Whether each value of a valid column is one of the type as it stands."""
    match t:
        case Boolean() | Integer() | Binary() | Date() | Decimal() | Timestamp():
            return bool(column.type == arrow_type(spark_type(t)))
        case Time(6):
            return bool(column.type == pyarrow.time64("us"))
        case String(length):
            if column.type != pyarrow.string() or length is None:
                return bool(column.type == pyarrow.string())
            longest = pyarrow.compute.max(pyarrow.compute.utf8_length(column)).as_py()
            return longest is None or bool(longest <= length)
        case _:
            return False
