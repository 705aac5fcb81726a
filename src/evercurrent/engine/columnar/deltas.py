"""Weighted rows as columns that are made when they are asked for.

delta = of_rows(types, [((1, "a"), 1), ((2, "b"), -1)], pools)
delta.column(0)      Vector([1, 2]); column 1 is never converted if no rule reads it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.engine.columnar.index import Index
from evercurrent.engine.columnar.vectors import (
    Ints,
    Pools,
    Vector,
    concatenate,
    from_list,
    to_list,
    words_of,
)


class Delta:
    """Rows with weights. `read` makes the vector of a column; each is made once."""

    __slots__ = ("_made", "_read", "weights")

    def __init__(self, weights: Ints, read: Callable[[int], Vector]) -> None:
        self.weights = weights
        self._read = read
        self._made: dict[int, Vector] = {}

    def __len__(self) -> int:
        return len(self.weights)

    def column(self, position: int) -> Vector:
        found = self._made.get(position)
        if found is None:
            found = self._made[position] = self._read(position)
        return found

    def take(self, places: Ints) -> Delta:
        return Delta(self.weights[places], lambda i: self.column(i).take(places))

    def select_sign(self, sign: int) -> Delta:
        """The rows whose weight has this sign."""
        wanted = self.weights > 0 if sign > 0 else self.weights < 0
        return self if wanted.all() else self.take(wanted.nonzero()[0])


class SignedDelta(Delta):
    """Deleted rows, then inserted ones: both parts are at hand, so nobody has to choose them."""

    __slots__ = ("negative", "positive")

    def __init__(self, negative: Delta, positive: Delta) -> None:
        super().__init__(
            numpy.concatenate([negative.weights, positive.weights]),
            lambda i: concatenate([negative.column(i), positive.column(i)]),
        )
        self.negative, self.positive = negative, positive

    def select_sign(self, sign: int) -> Delta:
        return self.positive if sign > 0 else self.negative


def of_vectors(columns: Sequence[Vector], weights: Ints) -> Delta:
    return Delta(weights, columns.__getitem__)


def of_rows(types: Sequence[Type], entries: Sequence[tuple[Row, int]], pools: Pools) -> Delta:
    """Rows in internal representation, with weights."""
    weights = numpy.fromiter((w for _, w in entries), numpy.int64, len(entries))
    return Delta(weights, lambda i: from_list(types[i], [row[i] for row, _ in entries], pools))


def to_rows(types: Sequence[Type], columns: Sequence[Vector], size: int, pools: Pools) -> list[Row]:
    """Rows in internal representation."""
    if not types or not size:
        return [()] * size
    lists = [to_list(t, v, pools) for t, v in zip(types, columns, strict=True)]
    return list(zip(*lists, strict=True))


def consolidate(columns: Sequence[Vector], weights: Ints) -> tuple[list[Vector], Ints]:
    """Each row once, with the sum of its weights if that is not zero."""
    if not columns:
        total = weights.sum(keepdims=True)
        return [], total[total != 0]
    ids, _ = Index(len(columns) + 1).insert(words_of(columns, True))
    sums = numpy.zeros(int(ids.max()) + 1 if len(ids) else 0, numpy.int64)
    numpy.add.at(sums, ids, weights)
    places = numpy.zeros(len(sums), numpy.int64)
    places[ids] = numpy.arange(len(ids))
    alive = sums != 0
    chosen = places[alive]
    return [c.take(chosen) for c in columns], sums[alive]
