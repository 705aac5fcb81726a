"""Sums of the weights of equal rows, where integers tell rows apart: by sorting, without a hash table.

Law. `sum_equal(table, keys)` returns of each set of rows that are equal in `keys` one place and the sum of its weights; None where
it does not serve (a key that is no integer or has NULLs, or one that many rows share in its first column).

    k  [1, 2, 1, 2]    h  [7, 8, 7, 9]    w  [1, 1, -1, 1]        places [0, 1, 3]    sums [0, 1, 1]

Correct because  rows that are equal are equal in the first column, so a stable sort by that column alone puts them at most `MOST`
rows apart; each row is compared with all those within that distance. Few rows share a key: those that are stored and those that change.

>>> rows = pyarrow.table({"k": [1, 2, 1, 2], "h": [7, 8, 7, 9], W: [1, 1, -1, 1]})
>>> places, sums = sum_equal(rows, ["k", "h"])
>>> places.tolist(), sums.tolist()
([0, 1, 3], [0, 1, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pyarrow

from evercurrent.engine.columnar.vectors import Ints
from evercurrent.engine.spark.storage.file_schema import W

MOST = 16
"""The most rows that may be equal in the first column of a key."""
DENSE = 8
"""If one in so many rows has another one near it, all are compared."""


def sum_equal(table: pyarrow.Table, keys: Sequence[str]) -> tuple[Ints, Ints] | None:
    """Returns a place of each distinct row, and its weight; in the order of the first column."""
    columns = list_integers(table, keys)
    weights = list_integers(table, [W])
    if not columns or weights is None:
        return None
    order, columns = sort_stably(columns)
    first, others = columns[0], columns[1:]
    own = weights[0] if order is None else weights[0][order]
    near = first[1:] == first[:-1]  # equal in the first column to the row at this distance
    if not near.any():
        return (numpy.arange(len(first)) if order is None else order), own
    totals, alone = own.copy(), numpy.ones(len(first), bool)
    for distance in range(1, MOST + 1):
        count = int(numpy.count_nonzero(near))
        if not count:
            kept = numpy.flatnonzero(alone)
            return (kept if order is None else order[kept]), totals[kept]
        if DENSE * count > len(near):  # all rows in one pass cost less than some of them one by one
            same = near.copy()
            for column in others:
                same &= column[distance:] == column[:-distance]
            totals[:-distance] += own[distance:] * same
            alone[distance:] &= ~same
        else:
            places = numpy.flatnonzero(near)
            for column in others:
                places = places[column[places + distance] == column[places]]
            totals[places] += own[places + distance]
            alone[places + distance] = False
        near = near[:-1] & (first[distance + 1 :] == first[: -distance - 1])
    return None


def list_integers(table: pyarrow.Table, names: Sequence[str]) -> list[Ints] | None:
    """Returns columns as arrays; None if one of them is not of integers, or has NULLs."""
    found = []
    for name in names:
        column = table.column(name)
        if not pyarrow.types.is_signed_integer(column.type) or column.null_count:
            return None
        found.append(column.to_numpy().astype(numpy.int64, copy=False))
    return found


def sort_stably(columns: Sequence[Ints]) -> tuple[Ints | None, list[Ints]]:
    """Returns the order by the first of some columns, None if they are in it, and the columns in that order."""
    if is_sorted(columns[0]):
        return None, list(columns)
    order = numpy.argsort(columns[0], kind="stable")  # a merge of the runs that are there
    return order, [c[order] for c in columns]


def is_sorted(values: Ints) -> bool:
    return bool((values[1:] >= values[:-1]).all())
