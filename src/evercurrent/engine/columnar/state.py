"""The entries of one state, as arrays: keys, dependents, weights and sums.

Law. An entry is alive while its weight is not zero (law L11); one that is not keeps its place, for the same key may be
inserted again. Every change is noted first: `changes` are the entries and their old values, in the order of additions, and
putting them back from last to first undoes everything, as often as needed. Sums stay within 64 bits: a bound of them is
kept, and `Unfit` is raised before one could pass it.

    (7, +5.00), (9, +3.00), (7, -5.00)      keys [7, 9], weights [0, 1], sums [0, 300]; only the entry of 9 is alive
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from evercurrent.delta.program import WEIGHT, State
from evercurrent.engine.columnar.arithmetic import LIMIT, largest
from evercurrent.engine.columnar.exact_sums import FloatAmounts, add_floats, values_of
from evercurrent.engine.columnar.index import LEAST, Chains, Index, grow
from evercurrent.engine.columnar.vectors import (
    DTYPES,
    Ints,
    Mask,
    Unfit,
    Values,
    Vector,
    has_nulls,
    keys_without_nulls,
    kind_of,
    valid_of,
    value_of_word,
    words_of,
)


@dataclass(slots=True)
class Saved:
    """Some entries, each once, and what they were before a change."""

    ids: Ints
    weights: Ints
    sums: list[Values]
    dependents: list[Vector]


Amounts = Values | FloatAmounts


def no_floats(size: int) -> FloatAmounts:
    return FloatAmounts(numpy.zeros(size), numpy.zeros(size, numpy.int64))


class ColumnState:
    """One state. `names` of what can be read: columns, dependents, accumulators and the weight."""

    def __init__(self, state: State, chained: Sequence[tuple[str, ...]] = ()) -> None:
        if any(a.kind != "sum" or kind_of(a.type) not in ("int", "float") for a in state.accumulators):
            raise Unfit("an accumulator that is no sum of numbers")
        self.state = state
        self.columns = [c.name for c in state.columns]
        self.kinds = [kind_of(c.type) for c in state.columns]
        self.dependents = [c.name for c in state.dependents]
        self.sums_at = {a.name: i for i, a in enumerate(state.accumulators)}
        self.readable = frozenset((*self.columns, *self.dependents, *self.sums_at))
        self.chained = tuple(chained)
        self.single = not state.columns
        self.index = Index(len(self.columns))
        self.weights: Ints = numpy.zeros(LEAST, numpy.int64)
        self.sums: list[Values] = [
            numpy.zeros(LEAST, object if kind_of(a.type) == "float" else numpy.int64)
            for a in state.accumulators
        ]
        """Sums of integers; of floats, their exact totals."""
        self.values: list[Values] = [
            numpy.zeros(LEAST, DTYPES[kind_of(c.type)]) for c in self.state.dependents
        ]
        self.valid: list[Mask] = [numpy.zeros(LEAST, bool) for _ in self.state.dependents]
        self.bounds = [0] * len(self.sums)
        self.stamps: Ints = numpy.zeros(LEAST, numpy.int64)
        self.chains = {names: Chains(len(names)) for names in self.chained}
        self.changes: list[Saved] = []
        self.dead = 0
        if self.single:
            self.index.size = 1

    @property
    def size(self) -> int:
        return self.index.size

    @property
    def nullable(self) -> bool:
        """Whether a key may hold a NULL: from the first one on."""
        return self.index.width > len(self.columns)

    # --- adding --------------------------------------------------------------------------------------------

    def add(
        self,
        columns: Sequence[Vector],
        dependents: Sequence[Vector],
        counts: Ints,
        amounts: Sequence[Amounts],
    ) -> None:
        """Adds rows: their weights and amounts go to the entries of their columns."""
        if not len(counts):
            return
        self._check_bounds(amounts)
        if self.single:
            ids, fresh = numpy.zeros(len(counts), numpy.int64), numpy.empty(0, numpy.int64)
        else:
            if not self.nullable and any(map(has_nulls, columns)):
                self.index = with_null_word(self.index)
            ids, fresh = self.index.insert(words_of(columns, self.nullable))
            self._reserve()
        if len(fresh) == len(ids):
            self._append(ids, dependents, counts, amounts)
            return
        touched, first = self._distinct(ids)
        before = self.weights.take(touched)
        self.changes.append(self.save(touched, before))
        begun = first[before == 0]
        if self.dependents and len(begun):
            self._set(ids.take(begun), dependents, begun)
            if len(fresh) < len(begun):
                self._forget_chains()
        numpy.add.at(self.weights, ids, counts)
        for own, amount in zip(self.sums, amounts, strict=True):
            if isinstance(amount, FloatAmounts):
                self.stamps[touched] = numpy.arange(len(touched))
                add_floats(own, touched, self.stamps[ids], amount)
            else:
                numpy.add.at(own, ids, amount)
        self.dead += int((self.weights.take(touched) == 0).sum()) - len(begun) + len(fresh)

    def _append(
        self, ids: Ints, dependents: Sequence[Vector], counts: Ints, amounts: Sequence[Amounts]
    ) -> None:
        """The same where every row has an entry of its own, which is new: they are the last ones, in the order of the rows."""
        new = slice(self.size - len(ids), self.size)
        self.changes.append(self._save_new(ids))
        for values, valid, given in zip(self.values, self.valid, dependents, strict=True):
            values[new] = given.values
            valid[new] = True if given.valid is None else given.valid
        self.weights[new] = counts
        for own, amount in zip(self.sums, amounts, strict=True):
            if isinstance(amount, FloatAmounts):
                add_floats(own, ids, numpy.arange(len(ids)), amount)
            else:
                own[new] = amount
        self.dead += len(ids) - int(numpy.count_nonzero(counts))

    def _save_new(self, ids: Ints) -> Saved:
        """What entries were that are new: nothing."""
        size = len(ids)
        return Saved(
            ids,
            numpy.zeros(size, numpy.int64),
            [numpy.zeros(size, s.dtype) for s in self.sums],
            [Vector(numpy.zeros(size, v.dtype), numpy.zeros(size, bool)) for v in self.values],
        )

    def _check_bounds(self, amounts: Sequence[Amounts]) -> None:
        for i, amount in enumerate(amounts):
            if isinstance(amount, FloatAmounts):
                continue
            more = largest(amount) * len(amount)
            if self.bounds[i] + more >= LIMIT:
                self.bounds[i] = largest(self.sums[i][: self.size])
                if self.bounds[i] + more >= LIMIT:
                    raise Unfit("a sum of more than 64 bits")
            self.bounds[i] += more

    def _distinct(self, ids: Ints) -> tuple[Ints, Ints]:
        """Each of these entries once, and the place of one occurrence."""
        places = numpy.arange(len(ids))
        self.stamps[ids] = places
        first = (self.stamps.take(ids) == places).nonzero()[0]
        return (ids, first) if len(first) == len(ids) else (ids.take(first), first)

    def save(self, ids: Ints, weights: Ints) -> Saved:
        return Saved(
            ids,
            weights,
            [s.take(ids) for s in self.sums],
            [Vector(v.take(ids), ok.take(ids)) for v, ok in zip(self.values, self.valid, strict=True)],
        )

    def _set(self, ids: Ints, dependents: Sequence[Vector], places: Ints) -> None:
        for values, valid, given in zip(self.values, self.valid, dependents, strict=True):
            values[ids] = given.values.take(places)
            valid[ids] = True if given.valid is None else given.valid.take(places)

    def _reserve(self) -> None:
        if self.size > len(self.weights):
            room = max(self.size, 2 * len(self.weights))
            old = len(self.weights)
            self.weights = grow(self.weights, old, room)
            self.stamps = grow(self.stamps, old, room)
            self.sums = [grow(s, old, room) for s in self.sums]
            self.values = [grow(v, old, room) for v in self.values]
            self.valid = [grow(v, old, room) for v in self.valid]

    # --- chains --------------------------------------------------------------------------------------------

    def _forget_chains(self) -> None:
        """A dependent of an entry has changed: chains by it are made again when they are asked."""
        for names in self.chained:
            if any(n in self.dependents for n in names):
                self.chains[names] = Chains(len(names))

    def _chain(self, names: tuple[str, ...]) -> Chains:
        chains = self.chains[names]
        if chains.size < self.size:
            new = numpy.arange(chains.size, self.size)
            keys = [self.read(n, new) for n in names]
            if chains.keys.width == len(names) and any(map(has_nulls, keys)):
                chains = self.chains[names] = Chains(len(names) + 1)
                new = numpy.arange(self.size)
                keys = [self.read(n, new) for n in names]
            chains.extend(words_of(keys, chains.keys.width > len(names)))
        return chains

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, name: str, ids: Ints, saved: Saved | None = None) -> Vector:
        """What entries have under a name; with `saved`, what those had."""
        if name == WEIGHT:
            return Vector(self.weights.take(ids) if saved is None else saved.weights)
        if name in self.sums_at:
            at = self.sums_at[name]
            sums = self.sums[at].take(ids) if saved is None else saved.sums[at]
            return Vector(values_of(sums) if sums.dtype == object else sums)
        if name in self.dependents:
            at = self.dependents.index(name)
            found = (
                Vector(self.values[at].take(ids), self.valid[at].take(ids))
                if saved is None
                else saved.dependents[at]
            )
            return Vector(found.values) if found.valid is not None and found.valid.all() else found
        at = self.columns.index(name)
        values = value_of_word(self.kinds[at], self.index.words[at].take(ids))
        if not self.nullable:
            return Vector(values)
        missing = (self.index.words[-1][ids] >> at) & 1
        return Vector(values, missing == 0) if missing.any() else Vector(values)

    def find(self, names: Sequence[str], keys: Sequence[Vector], count: int) -> tuple[Ints, Ints]:
        """Returns pairs of a place among so many keys and a living entry that has that key; NULL equals NULL here."""
        given = dict(zip(names, keys, strict=True))
        if not names or self.single:
            alive = self.alive()
            places, ids = numpy.repeat(numpy.arange(count), len(alive)), numpy.tile(alive, count)
            return self._where_equal(given, places, ids)
        if all(c in given for c in self.columns):
            places, ids = self._find_home(given)
        else:
            chains = self._chain(tuple(names))
            if chains.keys.width > len(names):
                places, ids = chains.matches(words_of(keys, True))
            else:
                asked = keys_without_nulls(keys)
                places, ids = chains.matches(words_of([k.take(asked) for k in keys], False))
                places = asked[places]
        if self.dead:
            alive = self.weights.take(ids).nonzero()[0]
            if len(alive) < len(ids):
                places, ids = places.take(alive), ids.take(alive)
        return places, ids

    def _find_home(self, given: dict[str, Vector]) -> tuple[Ints, Ints]:
        own = [given[c] for c in self.columns]
        if self.nullable:
            ids = self.index.find(words_of(own, True))
        else:
            ids = self.index.find(words_of([Vector(v.values) for v in own], False))
            for v in own:  # no entry has a NULL
                if v.valid is not None:
                    ids[~v.valid] = -1
        places = (ids >= 0).nonzero()[0]
        if len(places) < len(ids):
            ids = ids.take(places)
        return self._where_equal(given, places, ids) if len(given) > len(own) else (places, ids)

    def _where_equal(self, given: dict[str, Vector], places: Ints, ids: Ints) -> tuple[Ints, Ints]:
        """The pairs whose dependents are the given ones too."""
        for name, wanted in given.items():
            if name in self.dependents:
                mine = words_of([self.read(name, ids)], True)
                theirs = words_of([wanted.take(places)], True)
                same = (mine[0] == theirs[0]) & (mine[1] == theirs[1])
                places, ids = places[same], ids[same]
        return places, ids

    def alive(self) -> Ints:
        """The entries that are there."""
        return numpy.flatnonzero(self.weights[: self.size])

    # --- transactions --------------------------------------------------------------------------------------

    def list_touched(self) -> Saved | None:
        """Every entry that the transaction has changed, once, with what it was before."""
        if len(self.changes) <= 1:
            return self.changes[0] if self.changes else None
        ids = numpy.concatenate([s.ids for s in self.changes])
        _, first = numpy.unique(ids, return_index=True)
        return Saved(
            ids[first],
            numpy.concatenate([s.weights for s in self.changes])[first],
            [numpy.concatenate(list(s))[first] for s in zip(*(x.sums for x in self.changes), strict=True)],
            [
                Vector(
                    numpy.concatenate([d.values for d in ds])[first],
                    numpy.concatenate([valid_of(d) for d in ds])[first],
                )
                for ds in zip(*(x.dependents for x in self.changes), strict=True)
            ],
        )

    def undo(self) -> None:
        """Puts back what was changed. Idempotent."""
        for saved in reversed(self.changes):
            ids = saved.ids
            self.weights[ids] = saved.weights
            for own, old in zip(self.sums, saved.sums, strict=True):
                own[ids] = old
            for values, valid, given in zip(self.values, self.valid, saved.dependents, strict=True):
                values[ids], valid[ids] = given.values, valid_of(given)
        if self.changes:
            self._forget_chains()
        self._count_dead()
        self.changes = []

    def _count_dead(self) -> None:
        """Counts the entries that are not there: also those of an addition that was stopped before it was noted."""
        self._reserve()
        self.dead = self.size - self.count()

    def commit(self) -> ColumnState:
        """Forgets what was before; returns the state, or one without the entries that are not alive if they are many."""
        self.changes = []
        if self.dead > LEAST and 2 * self.dead > self.size and not self.single:
            return self._compact()
        return self

    def repair(self) -> None:
        """Makes again what an interrupt may have left half made; the entries themselves are right."""
        if self.single:
            return
        self.index.repair()
        self._count_dead()
        self.chains = {names: Chains(len(names)) for names in self.chained}

    def set_totals(self, sums: Sequence[Values]) -> None:
        """Puts the exact totals of floats in place, for the first entries."""
        for own, given in zip(self.sums, sums, strict=True):
            if own.dtype == object:
                own[: len(given)] = given

    def chain_like(self, other: ColumnState) -> ColumnState:
        """The same entries, found by the keys of another state as well."""
        self.chained = tuple(sorted({*self.chained, *other.chained}))
        self.chains = {names: self.chains.get(names) or Chains(len(names)) for names in self.chained}
        return self

    def count(self) -> int:
        """How many entries there are."""
        return int(numpy.count_nonzero(self.weights[: self.size]))

    def bytes(self) -> int:
        """About how much memory the entries take."""
        arrays = [*self.index.words, self.weights, *self.sums, *self.values, *self.valid]
        return sum(a.nbytes * self.size // max(1, len(a)) for a in arrays)

    def _compact(self) -> ColumnState:
        alive = self.alive()
        made = ColumnState(self.state, self.chained)
        made.add(
            [self.read(c, alive) for c in self.columns],
            [self.read(d, alive) for d in self.dependents],
            self.weights[alive],
            [no_floats(len(alive)) if s.dtype == object else s[alive] for s in self.sums],
        )
        made.set_totals([s[alive] for s in self.sums])
        made.changes = []
        return made


def with_null_word(index: Index) -> Index:
    """The same entries, whose keys say besides that none of them is NULL."""
    made = Index(index.width + 1)
    if index.size:
        made.insert([*index.keys(), numpy.zeros(index.size, numpy.int64)])
    return made
