"""Recursion on the driver: the derivations of a fixpoint, read from its stores as rows are touched.

Delta            the net change of each relation of the recursion, once, after the last iteration
State            for each row the number of its derivations, and of those that read nothing of the recursion: two stores
Cost             the new derivations, and those of rows that might have depended on what was deleted; only touched rows are read
Correct because  `delta.rederive` is

    path(a, b) :- edge(a, b);  path(a, c) :- path(a, b), edge(b, c)        edges {(1, 2): 1, (2, 3): 1}
    delete edge (2, 3)                                                     delta of path {(2, 3): -1, (1, 3): -1}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow

from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Loop
from evercurrent.delta.rederive import Change, RowDerivations, RunRules, TouchedRows
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.store_names import StoreName, counts_store, outside_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow


class StoredCounts:
    """How many derivations each row has: the stored counts of touched rows, and what the transaction adds."""

    def __init__(self, reader: EntryReader, loop: Loop, store: Store) -> None:
        self.reader, self.store = reader, store
        self.types = [c.type for c in loop.columns]
        self.old: dict[Row, int] = {}
        self.new: dict[Row, int] = {}

    def load(self, rows: Iterable[Row]) -> None:
        missing = {row for row in rows if row not in self.old}
        if not missing:
            return
        for row in missing:
            self.old[row] = 0
        if self.store.segments:
            at = range(len(self.types))
            for row in self.reader.rows(self.store, row_schema(self.types), self.types, at, missing):
                if row[:-1] in missing:
                    self.old[row[:-1]] += row[-1]

    def add(self, row: Row, weight: int) -> None:
        self.new[row] = self.new.get(row, 0) + weight

    def get(self, row: Row) -> int:
        return self.old.get(row, 0) + self.new.get(row, 0)

    def size(self) -> int:
        return self.store.rows + len(self.new)

    def list_added(self) -> pyarrow.Table:
        names = [f"c{i}" for i in range(len(self.types))]
        return rows_to_arrow(self.types, names, [(row, w) for row, w in self.new.items() if w], "w")


class Recursion(RowDerivations):
    """One fixpoint in one transaction."""

    def __init__(
        self, node: Fixpoint, reader: EntryReader, stores: Mapping[StoreName, Store], rules: RunRules
    ) -> None:
        self.reader = reader
        self.counts = [StoredCounts(reader, x, stores.get(counts_store(x), Store())) for x in node.loops]
        self.outside = [StoredCounts(reader, x, stores.get(outside_store(x), Store())) for x in node.loops]
        touched = zip(node.loops, self.counts, self.outside, strict=True)
        super().__init__(node, [TouchedRows(*x) for x in touched], rules)

    def count(self, changes: list[Change]) -> None:
        known = sum(len(r.before) for r in self.relations)
        super().count(changes)
        # Derived rows take room as rows that are read do.
        self.reader.spend(sum(len(r.before) for r in self.relations) - known)

    def list_added(self) -> Iterator[tuple[StoreName, pyarrow.Table]]:
        """The tables to be written to the stores of the recursion."""
        for loop, counts, outside in zip(self.node.loops, self.counts, self.outside, strict=True):
            yield counts_store(loop), counts.list_added()
            yield outside_store(loop), outside.list_added()
