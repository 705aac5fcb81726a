"""Rows that a change both inserts and deletes.

    inserted (1, 'a'), (2, 'b'); deleted (2, 'b'), (3, 'c')      inserted (1, 'a'); deleted (3, 'c')

Few rows of a batch are both, if any, so most are ruled out by a mark for each value of one column of the key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pyarrow

from evercurrent.data.types import Type
from evercurrent.engine.columnar.arrow import vector_of
from evercurrent.engine.columnar.index import Index
from evercurrent.engine.columnar.vectors import Ints, Mask, Pools, words_of

NONE: Ints = numpy.empty(0, numpy.int64)


def without_cancelled(
    types: Sequence[Type], key: tuple[int, ...], inserted: pyarrow.Table, deleted: pyarrow.Table
) -> tuple[pyarrow.Table, pyarrow.Table]:
    """The inserted and the deleted rows without those that are both; equal rows have equal keys."""
    pools = Pools()

    def words(rows: pyarrow.Table, positions: Sequence[int]) -> list[Ints]:
        return words_of([vector_of(types[i], rows.column(i), pools) for i in positions], True)

    read = [i for i in range(len(types)) if not pyarrow.types.is_null(inserted.schema.types[i])]
    gone, new = words(deleted, key), words(inserted, key)
    new_places = common_places(new, gone)
    if not len(new_places):
        return inserted, deleted
    old_places = common_places(gone, [w[new_places] for w in new])
    both = pyarrow.concat_tables([deleted.take(old_places), inserted.take(new_places)])
    ids, _ = Index(len(read) + 1).insert(words(both, read))
    weights = numpy.ones(len(ids), numpy.int64)
    weights[: len(old_places)] = -1
    net = numpy.zeros(len(ids), numpy.int64)
    numpy.add.at(net, ids, weights)
    keep = _first_with_sign(ids, weights, net)
    return (
        _leave_out(inserted, new_places[~keep[len(old_places) :]]),
        _leave_out(deleted, old_places[~keep[: len(old_places)]]),
    )


SPARSE = 64
"""Keys are marked in a table of at most so many places for each."""


def common_places(keys: Sequence[Ints], others: Sequence[Ints]) -> Ints:
    """The places of the keys that are among others. Most batches have none, which one word of the keys mostly shows.

    >>> common_places([numpy.array([3, 5, 9])], [numpy.array([9, 4, 3])]).tolist()
    [0, 2]
    """
    if not len(others[0]) or not len(keys[0]):
        return NONE
    places, rest = numpy.arange(len(keys[0])), list(others)
    for i, word in enumerate(keys):
        places = places[_are_among(word[places], rest[i])]
        if not len(places):
            return NONE
        kept = _are_among(rest[i], word[places])
        rest = [w[kept] for w in rest]
        if not len(rest[0]):
            return NONE
    index = Index(len(rest))
    index.insert(rest)
    return places[index.find([w[places] for w in keys]) >= 0]


def _are_among(values: Ints, others: Ints) -> Mask:
    """Whether each value may be among others; certain, where these lie close together."""
    low, high = int(others.min()), int(others.max())
    inside: Mask = (values >= low) & (values <= high)
    if high - low < SPARSE * (len(others) + len(values)):
        marked = numpy.zeros(high - low + 1, bool)
        marked[others - low] = True
        inside &= marked[numpy.where(inside, values - low, 0)]
    return inside


def _first_with_sign(ids: Ints, weights: Ints, net: Ints) -> Mask:
    """Of the rows with each number, as many as its net weight says, of its sign."""
    wanted = numpy.sign(net[ids]) == weights
    places = numpy.flatnonzero(wanted)
    order = places[numpy.argsort(ids[places], kind="stable")]
    sorted_ids = ids[order]
    first = numpy.ones(len(order), bool)
    first[1:] = sorted_ids[1:] != sorted_ids[:-1]
    starts = numpy.flatnonzero(first)
    rank = numpy.arange(len(order)) - numpy.repeat(starts, numpy.diff(numpy.append(starts, len(order))))
    keep = numpy.zeros(len(ids), bool)
    keep[order[rank < numpy.abs(net[sorted_ids])]] = True
    return keep


def _leave_out(rows: pyarrow.Table, places: Ints) -> pyarrow.Table:
    if not len(places):
        return rows
    kept = numpy.ones(rows.num_rows, bool)
    kept[places] = False
    return rows.filter(pyarrow.array(kept))
