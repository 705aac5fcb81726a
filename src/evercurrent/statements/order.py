"""Rows in the order of ORDER BY.

>>> from evercurrent.data.types import BIGINT
>>> order_rows([(1,), (3,), (2,)], (Member("n", BIGINT),), ((0, True, False),))
[(3,), (2,), (1,)]
"""

from __future__ import annotations

from evercurrent.data.types import Member
from evercurrent.data.values import sort_key
from evercurrent.data.zset import Row

Order = tuple[tuple[int, bool, bool], ...]
"""For each key: the position of a field, whether it descends, and whether NULLs come first."""


def order_rows(rows: list[Row], fields: tuple[Member, ...], order: Order) -> list[Row]:
    """Sorts the rows in place, from the last key to the first, and returns them."""
    for position, descending, nulls_first in reversed(order):
        key = sort_key(fields[position].type, descending, nulls_first)
        rows.sort(key=lambda row, key=key, position=position: key(row[position]))  # type: ignore[misc]
    return rows
