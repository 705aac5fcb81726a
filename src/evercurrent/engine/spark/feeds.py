"""Change feeds that come as Arrow tables, taken in a column at a time.

Law. Where `taken` gives rows, they are those that `session.intake` gives, which takes in one value after another: a column
of the very type that files have needs no more than `columns.decoded`, any other goes through the same takers. Where
anything is amiss `taken` gives None, and the slow way says what it is.

>>> from evercurrent.data.types import Decimal, Integer, Member
>>> fields = [Member("id", Integer(64), False), Member("price", Decimal(6, 2), True)]
>>> feed = pyarrow.table(
...     {
...         "id": [1, 2],
...         "price": pyarrow.array(["9.50", "1.25"]).cast(pyarrow.decimal128(6, 2)),
...         "_change_type": ["insert", "delete"],
...     }
... )
>>> taken(fields, feed)
([(1, 950)], [(2, 125)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow
import pyarrow.compute

from evercurrent.data.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Integer,
    Member,
    String,
    Timestamp,
    Type,
)
from evercurrent.data.values import BadValue, taker
from evercurrent.data.zset import Row
from evercurrent.engine.spark.columns import decoded
from evercurrent.engine.spark.intake import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.engine.spark.types import arrow_type, spark_type


def taken(fields: Sequence[Member], feed: Any) -> tuple[list[Row], list[Row]] | None:
    """The rows that come and those that go, if the feed is an Arrow table of whole rows with nothing amiss."""
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
        goes = pyarrow.compute.invert(comes)
        return rows(fields, feed.filter(comes)), rows(fields, feed.filter(goes))
    except (BadValue, pyarrow.ArrowException):
        return None


def rows(fields: Sequence[Member], table: pyarrow.Table) -> list[Row]:
    """The rows of a table as the driver holds them; raises where a value is none of its type."""
    return list(zip(*(values(f.type, table.column(f.name)) for f in fields), strict=True))


def values(t: Type, column: pyarrow.ChunkedArray) -> list[Any]:
    if alike(t, column):
        column.validate(full=True)
        return decoded(t, column)
    return list(map(taker(t), column.to_pylist()))


def alike(t: Type, column: pyarrow.ChunkedArray) -> bool:
    """Whether each value of a valid column is one of the type as it stands."""
    match t:
        case Boolean() | Integer() | Binary() | Date() | Decimal() | Timestamp():
            return bool(column.type == arrow_type(spark_type(t)))
        case String(length):
            if column.type != pyarrow.string() or length is None:
                return bool(column.type == pyarrow.string())
            longest = pyarrow.compute.max(pyarrow.compute.utf8_length(column)).as_py()
            return longest is None or bool(longest <= length)
        case _:
            return False
