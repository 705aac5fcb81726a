"""Finds entries of growing arrays by their keys, a batch at a time.

A key is one or more integers. Entries are numbered from 0, in any order within a batch, and are never taken out: who keeps
entries says which are alive. Two layouts, chosen by the keys:

    direct   the integers lie in narrow ranges: a place for each combination of them, which holds the entry (`box`)
    hashed   open addressing: the entry at `table[hash(key)]`, or behind it; keys are compared, so a hash decides nothing

A place holds the number of the entry plus one, so that empty places are zeros, which cost no memory until they are used.
Both layouts work on whole batches: each round looks at one place for every key that is not settled yet, and most are
settled in the first.

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

from evercurrent.engine.columnar.box import Box, box_of
from evercurrent.engine.columnar.vectors import Ints, Mask

FACTOR = numpy.uint64(0x9E3779B97F4A7C15)
HALF = numpy.uint64(32)
LEAST = 1024
NARROW, SPARSE, FREE = 8, 16, 1 << 20
"""A direct table has at most `NARROW` places for each key, or `SPARSE` as long as it has no more than `FREE` in all."""
SLACKS = 2, 8
"""A table that has to grow grows by a half or an eighth beyond; if there is no room for that, keys are hashed."""


class Index:
    """The keys of entries, and where each is. `words` are arrays with room behind the first `size` keys."""

    __slots__ = ("_bits", "_box", "_table", "_torn", "size", "width", "words")

    def __init__(self, width: int) -> None:
        self.width = width
        self.size = 0
        self.words: list[Ints] = [numpy.empty(LEAST, numpy.int64) for _ in range(width)]
        self._box: Box | None = None  # the ranges of a direct table; None: hashed, or no table yet
        self._bits = 0
        self._table: NDArray[numpy.int32] = numpy.empty(0, numpy.int32)
        self._torn = False  # whether an insertion is under way, or was interrupted

    def keys(self) -> list[Ints]:
        return [w[: self.size] for w in self.words]

    def find(self, words: Sequence[Ints]) -> Ints:
        """Returns the entry of each key; -1 where there is none."""
        return self._look_up(words)[0]

    def insert(self, words: Sequence[Ints]) -> tuple[Ints, Ints]:
        """Returns the entry of each key, new ones included, and for each new entry a place where its key stands."""
        ids, slots, inside = self._look_up(words)
        rest = (ids < 0).nonzero()[0]
        if not len(rest):
            return ids, rest
        whole = len(rest) == len(ids)
        fresh = list(words) if whole else [w[rest] for w in words]
        self._torn = True
        self._reserve(len(rest))
        if self._make_room(fresh, inside):
            slots = self._slots(fresh)
        elif not whole:
            slots = slots[rest]
        winners = self._claim(fresh, slots)
        candidates = numpy.arange(self.size, self.size + len(rest))
        won = winners == candidates
        if won.all():
            numbers, count, places = candidates, len(rest), rest
        else:
            numbers = self.size - 1 + numpy.cumsum(won)
            count, places = int(numbers[-1]) + 1 - self.size, rest[won]
            self._table[slots[won]] = numbers[won] + 1
            numbers = numbers[winners - self.size]
            fresh = [w[won] for w in fresh]
        for own, w in zip(self.words, fresh, strict=True):
            own[self.size : self.size + count] = w
        if whole:
            ids = numbers
        else:
            ids[rest] = numbers
        self.size += count
        self._torn = False
        return ids, places

    def repair(self) -> None:
        """Makes the table again from the keys: after an interrupt it may hold entries that are none."""
        self._box = None
        if self.width:
            self._rebuild([w[:0] for w in self.words])
        self._torn = False

    # --- tables --------------------------------------------------------------------------------------------

    def _look_up(self, words: Sequence[Ints]) -> tuple[Ints, Ints, bool]:
        """Returns the entry of each key, or -1, the place where it stands or would stand, and whether the table has all these places."""
        if self._torn:
            self.repair()
        count = len(words[0]) if words else 0
        if not count or not len(self._table):  # a key of no integers has no table
            found = numpy.full(count, -1 if self.width or not self.size else 0, numpy.int64)
            return found, found, False
        if self._box is None:
            return *self._look_up_hashed(words), True
        within = self._box.find_places(words)
        if within is not None:
            return self._entries(within), within, True
        inside = self._box.inside(words)
        slots = self._box.places(
            [numpy.where(inside, w, low) for w, low in zip(words, self._box.lows, strict=True)]
        )
        return numpy.where(inside, self._entries(slots), -1), slots, False

    def _entries(self, slots: Ints) -> Ints:
        """The entries at these places, -1 where there is none."""
        found: Ints = numpy.subtract(self._table.take(slots), 1, dtype=numpy.int64)
        return found

    def _slots(self, words: Sequence[Ints]) -> Ints:
        """The first place where each key may stand; all must have room in the table."""
        return self._hash(words) if self._box is None else self._box.places(words)

    def _make_room(self, fresh: Sequence[Ints], inside: bool) -> bool:
        """Makes room for keys that are not in; returns whether places have changed. `inside`: a direct table has their places."""
        if inside and (self._box is not None or 2 * (self.size + len(fresh[0])) <= len(self._table)):
            return False
        self._rebuild(fresh)
        return True

    def _rebuild(self, fresh: Sequence[Ints]) -> None:
        """Makes the table again, with room for more keys."""
        old, box = self._box, self._find_box(fresh)
        if box is not None:
            table = numpy.zeros(box.size, numpy.int32)
            if old is not None and old.begins(box):
                table[: len(self._table)] = self._table
            elif self.size:
                table[box.places(self.keys())] = numpy.arange(1, self.size + 1)
            self._box, self._table = box, table
            return
        self._box = None
        self._bits = max(LEAST, 4 * (self.size + len(fresh[0]))).bit_length()
        self._table = numpy.zeros(1 << self._bits, numpy.int32)
        if self.size:
            keys = self.keys()
            self._settle(keys, self._hash(keys), 0)

    def _find_box(self, fresh: Sequence[Ints]) -> Box | None:
        """The ranges of a direct table for the keys and more of them; None if they lie too far apart."""
        count = self.size + len(fresh[0])
        most = max(NARROW * count + LEAST, min(SPARSE * count, FREE))
        parts = [
            words for words in (fresh, self.keys() if self._box is None else []) if words and len(words[0])
        ]
        if not parts:
            return None
        box = box_of(parts[0])
        for words in parts[1:]:
            box = box.union(box_of(words))
        if self._box is None:
            return box if box.size <= most else None
        wider = (self._box.widen(box, share) for share in SLACKS)
        return next((b for b in wider if b.size <= most), None)

    def _claim(self, words: Sequence[Ints], slots: Ints) -> Ints:
        """Puts keys that are not in at places; returns for each which of them stands for it, numbered from `size` on.

        Of equal keys one stands for all. `slots` are places to start from, and become the places where they stand.
        """
        if self._box is None:
            for own, w in zip(self.words, words, strict=True):
                own[self.size : self.size + len(w)] = w  # so that they can be compared as others are
            return self._settle(words, slots, self.size)
        self._table[slots] = numpy.arange(self.size + 1, self.size + 1 + len(slots), dtype=numpy.int32)
        return self._entries(slots)

    def _reserve(self, more: int) -> None:
        wanted = self.size + more
        if self.width and wanted > len(self.words[0]):
            room = max(wanted, 2 * len(self.words[0]))
            self.words = [grow(w, self.size, room) for w in self.words]

    # --- hashing -------------------------------------------------------------------------------------------

    def _hash(self, words: Sequence[Ints]) -> Ints:
        h = words[0].view(numpy.uint64) * FACTOR
        for w in words[1:]:
            h ^= h >> HALF
            h ^= w.view(numpy.uint64)
            h *= FACTOR
        h >>= numpy.uint64(64 - self._bits)
        return h.view(numpy.int64)

    def _have_keys(self, entries: Ints, words: Sequence[Ints]) -> Mask:
        """Whether each entry has the key beside it; of -1, something."""
        same: Mask = self.words[0].take(entries, mode="wrap") == words[0]
        for own, w in zip(self.words[1:], words[1:], strict=True):
            same &= own.take(entries, mode="wrap") == w
        return same

    def _look_up_hashed(self, words: Sequence[Ints]) -> tuple[Ints, Ints]:
        last = len(self._table) - 1
        slots = self._hash(words)
        found = self._entries(slots)
        active = ((found >= 0) & ~self._have_keys(found, words)).nonzero()[0]
        while len(active):
            at = (slots[active] + 1) & last
            entries = self._entries(at)
            slots[active], found[active] = at, entries
            active = active[(entries >= 0) & ~self._have_keys(entries, [w[active] for w in words])]
        return found, slots

    def _settle(self, words: Sequence[Ints], slots: Ints, first: int) -> Ints:
        """Puts keys, which are those of the entries from `first` on, into the hashed table; see `_claim`."""
        table, last = self._table, len(self._table) - 1
        winners = numpy.empty(len(slots), numpy.int64)
        active: Any = slice(None)
        numbers = numpy.arange(len(slots))
        while True:
            at = slots[active]
            free = table[at] == 0
            table[at[free]] = numbers[active][free] + (first + 1)
            entries = self._entries(at)
            winners[active] = entries
            wrong = ~self._have_keys(entries, [w[active] for w in words])
            active = numbers[active][wrong]
            if not len(active):
                return winners
            slots[active] = (slots[active] + 1) & last


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
