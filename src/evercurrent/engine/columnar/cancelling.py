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
FEW = 500
"""So many rows are paired by a dictionary of their keys."""


def split_changes(given: GivenRows, key: tuple[int, ...], inserts: Mask) -> tuple[GivenRows, GivenRows]:
    """The inserted and the deleted rows without those that are both; equal rows have equal keys."""
    new_at, gone_at = inserts.nonzero()[0], (~inserts).nonzero()[0]
    left_out = _find_cancelled(given, key, new_at, gone_at)
    if len(left_out):
        kept = numpy.ones(given.num_rows, bool)
        kept[left_out] = False
        new_at, gone_at = (kept & inserts).nonzero()[0], (kept & ~inserts).nonzero()[0]
    return given.choose(new_at), given.choose(gone_at)


def _find_cancelled(given: GivenRows, key: tuple[int, ...], new_at: Ints, gone_at: Ints) -> Ints:
    """The places of inserted and deleted rows that are equal: as many of the one as of the other."""
    pools = Pools()
    words = _words([given.vector(i, pools) for i in key])
    new_at, gone_at = _narrow(words[0], new_at, gone_at)
    if not len(new_at):
        return NONE
    if len(new_at) + len(gone_at) <= FEW and (few := _pair_few(words, new_at, gone_at)) is not None:
        return _choose_equal(given, few)
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
            return _choose_equal(given, numpy.concatenate([new_at, partners[ids]]))
    return _find_repeated(given, new_at, gone_at)


def _pair_few(words: Sequence[Ints], new_at: Ints, gone_at: Ints) -> Ints | None:
    """Inserted rows, and behind them the deleted rows with the same keys; None if a key occurs twice on one side."""
    new, gone = (
        dict(zip(zip(*(w.take(at).tolist() for w in words), strict=True), at.tolist(), strict=True))
        for at in (new_at, gone_at)
    )
    if len(new) < len(new_at) or len(gone) < len(gone_at):
        return None
    common = [key for key in new if key in gone]
    return numpy.array([new[key] for key in common] + [gone[key] for key in common], numpy.int64)


def _choose_equal(given: GivenRows, pairs: Ints) -> Ints:
    """Those places of which the row in the first half is equal to its partner in the second."""
    if not len(pairs):
        return NONE
    same = _are_equal(given.choose(pairs))
    return pairs if same.all() else pairs[numpy.concatenate([same, same])]


def _narrow(values: Ints, new_at: Ints, gone_at: Ints) -> tuple[Ints, Ints]:
    """The places of inserted and of deleted rows that have a value in common; more of them where the values lie too far apart."""
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span > SPARSE * len(values):
        return new_at, gone_at
    offsets = values - low
    new, gone = offsets.take(new_at), offsets.take(gone_at)
    for both in range(2):
        marked = numpy.zeros(span, bool)
        marked[new if both else gone] = True
        found = marked.take(gone if both else new).nonzero()[0]
        if both:
            gone_at = gone_at.take(found)
        else:
            new_at, new = new_at.take(found), new.take(found)
    return new_at, gone_at


def _are_equal(pairs: GivenRows) -> Mask:
    """Whether each row of the first half is equal to the one at its place in the second half."""
    size, pools = pairs.num_rows // 2, Pools()
    same = numpy.ones(size, bool)
    if not pairs.absent and pairs.table().slice(0, size).equals(pairs.table().slice(size)):
        return same
    for i, t in enumerate(pairs.types):
        if i in pairs.absent:
            continue
        if kind_of(t) != "pool":
            v = pairs.vector(i, pools)
            ok = (None, None) if v.valid is None else (v.valid[:size], v.valid[size:])
            same &= equal(Vector(v.values[:size], ok[0]), Vector(v.values[size:], ok[1]))
            continue
        mine, theirs = pairs.array(i).slice(0, size), pairs.array(i).slice(size)
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
