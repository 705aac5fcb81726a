"""The values of a key of a table, numbered, and a number for each of them.

    orders (id PRIMARY KEY)        from id to the row that has it; -1 for an id that no row has any more
    REFERENCES customers           from customer to how many rows refer to it

>>> key = KeyColumns((0,), -1)
>>> key.numbers[key.insert([numpy.array([7, 9])])] = [0, 1]
>>> key.find([numpy.array([9, 8])]).tolist()
[1, -1]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from evercurrent.engine.columnar.index import Index, grow
from evercurrent.engine.columnar.vectors import Ints

START = 1024


class KeyColumns:
    """The values of a key, numbered, and a number for each: the row that has it, or how many rows refer to it."""

    def __init__(self, positions: tuple[int, ...], nothing: int) -> None:
        self.positions = positions
        self.nothing = nothing
        self.index = Index(len(positions))
        self.numbers: Ints = numpy.full(START, nothing, numpy.int64)

    def insert(self, words: Sequence[Ints]) -> Ints:
        """The entries of these keys; new ones have no row."""
        ids, _ = self.index.insert(words)
        self._reserve()
        return ids

    def _reserve(self) -> None:
        if self.index.size > len(self.numbers):
            old = len(self.numbers)
            numbers = grow(self.numbers, old, max(self.index.size, 2 * old))
            numbers[old:] = self.nothing
            self.numbers = numbers

    def renumber(self, rows: Ints) -> KeyColumns:
        """The same keys, with the new number of each row."""
        made = KeyColumns(self.positions, self.nothing)
        self._reserve()
        made.index, numbers = self.index, self.numbers
        made.numbers = numpy.where(numbers < 0, self.nothing, rows[numbers])
        return made

    def drop_unused(self) -> KeyColumns:
        """The same keys without those that stand for nothing any more."""
        self._reserve()
        used = (self.numbers[: self.index.size] != self.nothing).nonzero()[0]
        made = KeyColumns(self.positions, self.nothing)
        ids = made.insert([w[used] for w in self.index.words])
        made.numbers[ids] = self.numbers[used]
        return made

    def find(self, words: Sequence[Ints]) -> Ints:
        """The numbers of these keys."""
        ids = self.index.find(words)
        self._reserve()  # an interrupt may have stopped an insertion
        found = self.numbers[numpy.maximum(ids, 0)]
        return numpy.where(ids < 0, self.nothing, found)
