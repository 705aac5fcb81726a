"""Finds entries of growing arrays by their keys, a batch at a time.

A key is one or more integers. Entries are numbered from 0, in any order within a batch, and are never taken out: who keeps
entries says which are alive. Two layouts, chosen by the keys:

    direct   one integer within a narrow range: `table[key - base]` is the entry
    hashed   open addressing: the entry at `table[hash(key)]`, or behind it; keys are compared, so a hash decides nothing

Both work on whole batches: each round looks at one place for every key that is not settled yet, and most are settled in
the first.

>>> index = Index(1)
>>> entries = index.insert([numpy.array([7, 9, 7])])[0]
>>> found = index.find([numpy.array([9, 8])])
>>> bool(entries[0] == entries[2]), bool(found[0] == entries[1]), int(found[1])
(True, True, -1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from evercurrent.engine.columnar.vectors import Ints

FACTOR = numpy.uint64(0x9E3779B97F4A7C15)
HALF = numpy.uint64(32)
LEAST = 1024
NARROW = 8
"""A direct table has at most so many places for each key."""


class Index:
    """The keys of entries, and where each is. `words` are arrays with room behind the first `size` keys."""

    __slots__ = ("_base", "_bits", "_direct", "_table", "_torn", "size", "width", "words")

    def __init__(self, width: int) -> None:
        self.width = width
        self.size = 0
        self.words: list[Ints] = [numpy.empty(LEAST, numpy.int64) for _ in range(width)]
        self._direct = width == 1
        self._base = 0
        self._bits = 0
        self._table: NDArray[numpy.int32] = numpy.empty(0, numpy.int32)
        self._torn = False  # whether an insertion is under way, or was interrupted

    def keys(self) -> list[Ints]:
        return [w[: self.size] for w in self.words]

    def find(self, words: Sequence[Ints]) -> Ints:
        """Returns the entry of each key; -1 where there is none."""
        if self._torn:
            self.repair()
        if not self.width:
            return numpy.full(len(words[0]) if words else 0, 0 if self.size else -1, numpy.int64)
        if not self.size or not len(words[0]):
            return numpy.full(len(words[0]), -1, numpy.int64)
        return self._find_direct(words[0]) if self._direct else self._find_hashed(words)

    def insert(self, words: Sequence[Ints]) -> tuple[Ints, Ints]:
        """Returns the entry of each key, new ones included, and for each new entry a place where its key stands."""
        ids = self.find(words)
        rest = numpy.flatnonzero(ids < 0)
        if not len(rest):
            return ids, rest
        whole = len(rest) == len(ids)
        fresh = list(words) if whole else [w[rest] for w in words]
        self._torn = True
        self._reserve(len(rest))
        if self._direct and not self._widen(fresh[0]):
            self._rebuild_hashed(len(rest))
        if not self._direct and 2 * (self.size + len(rest)) > len(self._table):
            self._rebuild_hashed(len(rest))
        winners, slots = self._claim(fresh, self.size)
        candidates = numpy.arange(self.size, self.size + len(rest), dtype=numpy.int32)
        won = winners == candidates
        numbers = self.size - 1 + numpy.cumsum(won)
        self._table[slots[won]] = numbers[won]
        count = int(numbers[-1]) + 1 - self.size
        for own, w in zip(self.words, fresh, strict=True):
            own[self.size : self.size + count] = w[won]
        ids[rest] = numbers[winners - self.size]
        self.size += count
        self._torn = False
        return ids, rest[won]

    def repair(self) -> None:
        """Makes the table again from the keys: after an interrupt it may hold entries that are none."""
        if self.width:
            self._direct = False
            self._rebuild_hashed(0)
        self._torn = False

    # --- direct --------------------------------------------------------------------------------------------

    def _find_direct(self, keys: Ints) -> Ints:
        span = len(self._table)
        low, high = int(keys.min()), int(keys.max())
        if self._base <= low and high < self._base + span:
            return self._table[keys - self._base].astype(numpy.int64)
        inside = (keys >= self._base) & (keys < self._base + span)
        places = numpy.where(inside, keys, self._base) - self._base
        found: Ints = numpy.where(inside, self._table[places], numpy.int32(-1)).astype(numpy.int64)
        return found

    def _widen(self, keys: Ints) -> bool:
        """Makes room for these keys in the direct table; False if they lie too far apart."""
        low, high = int(keys.min()), int(keys.max())
        span = len(self._table)
        if span:
            low, high = min(low, self._base), max(high, self._base + span - 1)
        wanted = high - low + 1
        if wanted == span:
            return True
        most = NARROW * (self.size + len(keys)) + LEAST
        if wanted > most:
            return False
        room = min(most, wanted + wanted // 2) if span else wanted
        table = numpy.full(room, -1, numpy.int32)
        if span:
            table[self._base - low : self._base - low + span] = self._table
        self._base, self._table = low, table
        return True

    # --- hashed --------------------------------------------------------------------------------------------

    def _hash(self, words: Sequence[Ints]) -> Ints:
        h = words[0].view(numpy.uint64) * FACTOR
        for w in words[1:]:
            h ^= h >> HALF
            h = (h ^ w.view(numpy.uint64)) * FACTOR
        return (h >> numpy.uint64(64 - self._bits)).astype(numpy.int64)

    def _find_hashed(self, words: Sequence[Ints]) -> Ints:
        table, last = self._table, len(self._table) - 1
        slots = self._hash(words)
        found = table[slots].astype(numpy.int64)
        active = numpy.flatnonzero(found >= 0)
        while len(active):
            entries = found[active]
            same = self.words[0][entries] == words[0][active]
            for own, w in zip(self.words[1:], words[1:], strict=True):
                same &= own[entries] == w[active]
            active = active[~same]
            if len(active):
                slots[active] = (slots[active] + 1) & last
                found[active] = table[slots[active]]
                active = active[found[active] >= 0]
        return found

    def _claim(self, words: Sequence[Ints], size: int) -> tuple[Ints, Ints]:
        """Returns for keys that are not in which of them stands for each, as a number from `size` on, and its place.

        Of equal keys one stands for all. The keys are written behind the last, so that they can be compared as others are.
        """
        count = len(words[0])
        candidates = numpy.arange(size, size + count, dtype=numpy.int32)
        if self._direct:
            slots = words[0] - self._base
            self._table[slots] = candidates
            return self._table[slots].astype(numpy.int64), slots
        for own, w in zip(self.words, words, strict=True):
            own[size : size + count] = w
        table, last = self._table, len(self._table) - 1
        slots = self._hash(words)
        winners = numpy.full(count, -1, numpy.int64)
        active = numpy.arange(count)
        while len(active):
            at = slots[active]
            entries = table[at]
            empty = entries < 0
            if empty.any():
                table[at[empty]] = candidates[active[empty]]
                entries = table[at]
            same = self.words[0][entries] == words[0][active]
            for own, w in zip(self.words[1:], words[1:], strict=True):
                same &= own[entries] == w[active]
            winners[active[same]] = entries[same]
            active = active[~same]
            slots[active] = (slots[active] + 1) & last
        return winners, slots

    def _rebuild_hashed(self, more: int) -> None:
        """Makes the hashed table again, with room for so many more keys."""
        self._direct = False
        self._bits = max(LEAST, 4 * (self.size + more)).bit_length()
        self._table = numpy.full(1 << self._bits, -1, numpy.int32)
        if self.size:
            keys = [w[: self.size].copy() for w in self.words]
            winners, slots = self._claim(keys, 0)
            self._table[slots] = winners

    def _reserve(self, more: int) -> None:
        wanted = self.size + more
        if self.width and wanted > len(self.words[0]):
            room = max(wanted, 2 * len(self.words[0]))
            self.words = [grow(w, self.size, room) for w in self.words]


def grow(array: NDArray[Any], size: int, room: int) -> NDArray[Any]:
    """The first values in a larger array; zeros behind them."""
    result = numpy.zeros(room, array.dtype)
    result[:size] = array[:size]
    return result


class Chains:
    """Entries by keys that several of them may have.

    The entries of a key are a list: `_heads` of the key is the last of them, `_before` of an entry the one before it.
    """

    __slots__ = ("_before", "_heads", "_slots", "keys", "size")

    def __init__(self, width: int) -> None:
        self.keys = Index(width)
        self.size = 0
        self._heads: Ints = numpy.full(LEAST, -1, numpy.int64)
        self._before: Ints = numpy.full(LEAST, -1, numpy.int64)
        self._slots: Ints = numpy.zeros(LEAST, numpy.int64)

    def extend(self, words: Sequence[Ints]) -> None:
        """Takes in the next entries, with these keys."""
        count = len(words[0])
        slots, _ = self.keys.insert(words)
        if self.keys.size > len(self._heads):
            heads = numpy.full(2 * self.keys.size, -1, numpy.int64)
            heads[: len(self._heads)] = self._heads
            self._heads = heads
        if self.size + count > len(self._before):
            room = 2 * (self.size + count)
            self._before, self._slots = (
                grow(self._before, self.size, room),
                grow(self._slots, self.size, room),
            )
        entries = numpy.arange(self.size, self.size + count)
        order = numpy.argsort(slots, kind="stable")
        sorted_slots, sorted_entries = slots[order], entries[order]
        first = numpy.ones(count, bool)
        first[1:] = sorted_slots[1:] != sorted_slots[:-1]
        before = numpy.empty(count, numpy.int64)
        before[1:] = sorted_entries[:-1]
        before[first] = self._heads[sorted_slots[first]]
        self._before[sorted_entries] = before
        self._slots[self.size : self.size + count] = slots
        last = numpy.append(first[1:], True)
        self._heads[sorted_slots[last]] = sorted_entries[last]
        self.size += count

    def matches(self, words: Sequence[Ints]) -> tuple[Ints, Ints]:
        """Returns pairs: the place of a key, and an entry that has it."""
        slots = self.keys.find(words)
        places = numpy.flatnonzero(slots >= 0)
        if self.size > 16 * max(1, self.keys.size):
            return self._matches_sorted(places, slots[places])
        entries = self._heads[slots[places]]
        all_places, all_entries = [places], [entries]
        while True:
            entries = self._before[entries]
            more = entries >= 0
            if not more.any():
                break
            places, entries = places[more], entries[more]
            all_places.append(places)
            all_entries.append(entries)
        if len(all_places) == 1:
            return places, all_entries[0]
        return numpy.concatenate(all_places), numpy.concatenate(all_entries)

    def _matches_sorted(self, places: Ints, slots: Ints) -> tuple[Ints, Ints]:
        """The same where keys have many entries: all entries are sorted by key."""
        own = self._slots[: self.size]
        order = numpy.argsort(own, kind="stable")
        counts = numpy.bincount(own, minlength=self.keys.size)
        starts = numpy.cumsum(counts) - counts
        return ranges(places, starts[slots], counts[slots], order)


def ranges(places: Ints, starts: Ints, counts: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Returns each place as often as its count says, with the elements of `order` from its start on."""
    total = int(counts.sum())
    repeated = numpy.repeat(places, counts)
    ends = numpy.cumsum(counts)
    within = numpy.arange(total) - numpy.repeat(ends - counts, counts)
    return repeated, order[numpy.repeat(starts, counts) + within]
