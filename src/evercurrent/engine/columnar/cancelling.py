"""Rows that a change both inserts and deletes.

    inserted (1, 'a'), (2, 'b'); deleted (2, 'b'), (3, 'c')      inserted (1, 'a'); deleted (3, 'c')

Few rows of a batch are both, if any, so most are ruled out by a mark for each value of one column of the key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pyarrow
import pyarrow.compute

from evercurrent.engine.columnar.given import GivenRows
from evercurrent.engine.columnar.index import Index
from evercurrent.engine.columnar.vectors import Ints, Mask, Pools, Vector, equal, kind_of, words_of

NONE: Ints = numpy.empty(0, numpy.int64)


def split_changes(given: GivenRows, key: tuple[int, ...], inserts: Mask) -> tuple[GivenRows, GivenRows]:
    """The inserted and the deleted rows without those that are both; equal rows have equal keys."""
    new_at, gone_at = numpy.flatnonzero(inserts), numpy.flatnonzero(~inserts)
    left_out = _find_cancelled(given, key, new_at, gone_at)
    if len(left_out):
        kept = numpy.ones(given.num_rows, bool)
        kept[left_out] = False
        new_at, gone_at = new_at[kept[new_at]], gone_at[kept[gone_at]]
    return given.choose(new_at), given.choose(gone_at)


def _find_cancelled(given: GivenRows, key: tuple[int, ...], new_at: Ints, gone_at: Ints) -> Ints:
    """The places of inserted and deleted rows that are equal: as many of the one as of the other."""
    pools = Pools()
    words = _words([given.vector(i, pools) for i in key])
    new, gone = [w[new_at] for w in words], [w[gone_at] for w in words]
    new_places = common_places(new, gone)
    if not len(new_places):
        return NONE
    old_places = common_places(gone, [w[new_places] for w in new])
    new, gone = [w[new_places] for w in new], [w[old_places] for w in gone]
    new_at, gone_at = new_at[new_places], gone_at[old_places]
    index = Index(len(words))
    ids, _ = index.insert(new)
    if index.size == len(new_at) == len(gone_at):
        partners = numpy.full(len(gone_at), -1, numpy.int64)
        partners[index.find(gone)] = gone_at
        if (partners >= 0).all():
            gone_at = partners[ids]
            same = _are_equal(given.choose(new_at), given.choose(gone_at))
            return numpy.concatenate([new_at[same], gone_at[same]])
    return _find_repeated(given, new_at, gone_at)


def _are_equal(rows: GivenRows, others: GivenRows) -> Mask:
    """Whether each row is equal to the one beside it."""
    same = numpy.ones(rows.num_rows, bool)
    pools = Pools()
    for i, t in enumerate(rows.types):
        if i in rows.absent:
            continue
        if kind_of(t) != "pool":
            same &= equal(rows.vector(i, pools), others.vector(i, pools))
            continue
        mine, theirs = rows.array(i), others.array(i)
        if not mine.equals(theirs):
            alike = pyarrow.compute.equal(mine, theirs)
            if alike.null_count:
                both = pyarrow.compute.and_(mine.is_null(), theirs.is_null())
                alike = pyarrow.compute.coalesce(alike, both)
            same &= alike.to_numpy(zero_copy_only=False)
    return same


def _find_repeated(given: GivenRows, new_at: Ints, gone_at: Ints) -> Ints:
    """The same for rows whose keys occur several times."""
    both = given.choose(numpy.concatenate([gone_at, new_at]))
    pools = Pools()
    read = [i for i in range(len(given.types)) if i not in given.absent]
    every = _words([both.vector(i, pools) for i in read])
    ids, _ = Index(len(every)).insert(every)
    weights = numpy.ones(len(ids), numpy.int64)
    weights[: len(gone_at)] = -1
    net = numpy.zeros(len(ids), numpy.int64)
    numpy.add.at(net, ids, weights)
    return both.places[~_first_with_sign(ids, weights, net)]


def _words(vectors: list[Vector]) -> list[Ints]:
    return words_of(vectors, any(v.valid is not None for v in vectors))


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
        found = _are_among(word[places] if i else word, rest[i])
        if found is None:
            continue
        places = places[found]
        if not len(places):
            return NONE
        if len(keys) == 1:
            return places
        kept = _are_among(rest[i], word[places])
        if kept is not None:
            rest = [w[kept] for w in rest]
    index = Index(len(rest))
    index.insert(rest)
    return places[index.find([w[places] for w in keys]) >= 0]


def _are_among(values: Ints, others: Ints) -> Mask | None:
    """Whether each value is among others; None where they lie too far apart to mark them."""
    low = min(int(values.min()), int(others.min()))
    high = max(int(values.max()), int(others.max()))
    if high - low >= SPARSE * (len(others) + len(values)):
        return None
    marked = numpy.zeros(high - low + 1, bool)
    marked[others - low] = True
    found: Mask = marked[values - low]
    return found


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
