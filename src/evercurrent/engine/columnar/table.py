"""The rows of one table as columns: what users handed over stays Arrow, beside arrays that answer for its keys.

    orders (id PRIMARY KEY, customer REFERENCES customers)
    chunks          one Arrow table for each load; a row is a number, counted over all of them
    alive           which rows are there
    keys[0]         from id to the row that has it
    references[0]   from customer to how many rows refer to it

Law. A change is worked out first (`TableChange`), then made; making and undoing it are idempotent, whatever stopped the
other on its way: both say what stands in the end. Rows that are no longer there, and their keys, keep their places until they are
most of what is kept (`without_dead`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
import pyarrow

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.engine.columnar.arrow import vector_of
from evercurrent.engine.columnar.cancelling import NONE, common_places
from evercurrent.engine.columnar.deltas import Delta, SignedDelta, to_rows
from evercurrent.engine.columnar.given import GivenRows, of_table
from evercurrent.engine.columnar.index import grow
from evercurrent.engine.columnar.table_keys import START, KeyColumns
from evercurrent.engine.columnar.vectors import Ints, Mask, Pools, Unfit, Vector, words_of


class ArrowRows:
    """Rows as an Arrow table of stored types, with weights: what a transaction inserts and deletes."""

    def __init__(self, types: Sequence[Type], table: pyarrow.Table | None, weights: Ints) -> None:
        self.types = types
        self.weights = weights
        self._table = table

    @property
    def table(self) -> pyarrow.Table:
        return self._table

    def __len__(self) -> int:
        return len(self.weights)

    def delta(self, pools: Pools) -> Delta:
        return Delta(self.weights, lambda i: vector_of(self.types[i], self.table.column(i), pools))

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        return self.items()

    def every(self, step: int) -> list[Row]:
        """One row of so many."""
        places = numpy.arange(0, len(self), step)
        if not len(places):
            return []
        some = ArrowRows(self.types, self.table.take(pyarrow.array(places)), self.weights[places])
        return [row for row, _ in some.items()]

    def part(self, offset: int, limit: int) -> ArrowRows:
        """So many rows from one on."""
        return ArrowRows(self.types, self.table.slice(offset, limit), self.weights[offset : offset + limit])

    def items(self) -> Iterator[tuple[Row, int]]:
        """The rows one by one."""
        if not len(self):
            return iter(())
        pools = Pools()
        columns = [vector_of(t, self.table.column(i), pools) for i, t in enumerate(self.types)]
        rows = to_rows(self.types, columns, len(self), pools)
        return zip(rows, self.weights.tolist(), strict=True)


class ChangedRows(ArrowRows):
    """The rows that a transaction deletes from a table, and those that it inserts."""

    def __init__(self, gone: GivenRows | None, inserted: GivenRows) -> None:
        self.gone = inserted.choose(NONE) if gone is None else gone
        self.inserted = inserted
        signs = [
            numpy.full(self.gone.num_rows, -1, numpy.int64),
            numpy.ones(inserted.num_rows, numpy.int64),
        ]
        super().__init__(inserted.types, None, numpy.concatenate(signs))

    @property
    def table(self) -> pyarrow.Table:
        if self._table is None:
            self._table = pyarrow.concat_tables([self.gone.table(), self.inserted.table()])
        return self._table

    def delta(self, pools: Pools) -> Delta:
        gone, inserted, split = self.gone, self.inserted, self.gone.num_rows
        positive = Delta(self.weights[split:], lambda i: inserted.vector(i, pools))
        if not split:
            return positive
        return SignedDelta(Delta(self.weights[:split], lambda i: gone.vector(i, pools)), positive)


@dataclass(slots=True)
class TableChange:
    """Rows that are deleted, by number, and inserted behind the last; `apply` and `undo` are idempotent."""

    table: ColumnTable
    deleted: Ints
    chunk: GivenRows
    start: int
    gone: GivenRows | None = None  # the deleted rows
    keys: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)
    """For each key: entries, the row that has it before, and after."""
    counts: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)

    def apply(self) -> None:
        self._set(2)
        table = self.table
        if self.chunk.num_rows and table.size == self.start:
            kept = self.chunk.find_kept()
            table.append(kept.table(), slice(None) if kept is self.chunk else self.chunk.places)
        table.alive[self.deleted] = False

    def undo(self) -> None:
        self._set(1)
        table = self.table
        table.alive[self.deleted] = True
        table.cut(self.start)  # a chunk may be there though it was not counted yet

    def has_replaced_keys(self) -> bool:
        """Whether a key passes from a deleted row to an inserted one."""
        return any(bool(((before >= 0) & (after >= 0)).any()) for _, before, after in self.keys)

    def _set(self, which: int) -> None:
        for key, change in zip(self.table.keys, self.keys, strict=True):
            if key is not None:
                key.numbers[change[0]] = change[which]
        for reference, change in zip(self.table.references, self.counts, strict=True):
            reference.numbers[change[0]] = change[which]


class Forwarding(TableChange):
    """The change of a table that keeps no rows: there is nothing to change."""

    def __init__(self, table: ColumnTable, inserted: GivenRows, deleted: GivenRows) -> None:
        super().__init__(table, numpy.arange(deleted.num_rows), inserted, 0, deleted)

    def apply(self) -> None:
        """Nothing is kept."""

    def undo(self) -> None:
        """Nothing was kept."""

    def has_replaced_keys(self) -> bool:
        """Whether a deleted row and an inserted one have a key in common."""
        for key in self.table.keys:
            if key is not None and self.gone is not None:
                gone = self.table.words(key.positions, self.gone)[0]
                if len(common_places(self.table.words(key.positions, self.chunk)[0], gone)):
                    return True
        return False


class ColumnTable:
    """A table. `keys` are the positions of the declared keys (None: no primary key), then those of the references."""

    def __init__(
        self,
        types: Sequence[Type],
        keys: Sequence[tuple[int, ...] | None],
        references: Sequence[tuple[int, ...]],
        pools: Pools,
    ) -> None:
        self.types = types
        self.pools = pools
        self.keys = [None if key is None else KeyColumns(key, -1) for key in keys]
        self.references = [KeyColumns(key, 0) for key in references]
        self.chunks: list[pyarrow.Table] = []
        self.size = 0
        self.alive: Mask = numpy.zeros(START, bool)

    def append(self, chunk: pyarrow.Table, places: Ints | slice) -> None:
        """Takes in a chunk, of which the rows at these places are there."""
        end = self.size + chunk.num_rows
        if end > len(self.alive):
            self.alive = grow(self.alive, self.size, max(end, 2 * len(self.alive)))
        self.alive[self.size : end] = False
        self.alive[self.size : end][places] = True
        self.chunks = [*merge_chunks(self.chunks), chunk]
        self.size = end

    def fill(self, columns: Sequence[pyarrow.Array]) -> None:
        """Takes in the rows of a table whose keys are known to be sound."""
        change = self.change(GivenRows(self.types, columns, len(columns[0])), NONE)
        assert change is not None
        change.apply()

    def cut(self, size: int) -> None:
        """Forgets the rows behind this number."""
        self.alive[size:] = False
        self.size = size
        while sum(c.num_rows for c in self.chunks) > size:
            self.chunks.pop()

    def __len__(self) -> int:
        return int(numpy.count_nonzero(self.alive[: self.size]))

    def rows(self) -> ArrowRows:
        """All rows."""
        if not self.chunks:
            return ArrowRows(self.types, pyarrow.table({}), NONE)
        whole = pyarrow.concat_tables(self.chunks)
        alive = self.alive[: self.size]
        if not alive.all():
            whole = whole.take(pyarrow.array(alive.nonzero()[0]))
        return ArrowRows(self.types, whole, numpy.ones(whole.num_rows, numpy.int64))

    def bytes(self) -> int:
        """About how much memory the rows and their keys take."""
        keys = [k for k in (*self.keys, *self.references) if k is not None]
        arrays = [a for k in keys for a in (*k.index.words, k.numbers)]
        return int(sum(c.nbytes for c in self.chunks) + sum(a.nbytes for a in arrays) + self.alive.nbytes)

    def take(self, rows: Ints) -> GivenRows:
        """Rows by their numbers."""
        return of_table(self.types, pyarrow.concat_tables(self.chunks).take(pyarrow.array(rows)))

    # --- changes -------------------------------------------------------------------------------------------

    def change(self, inserted: GivenRows, deleted: Ints, gone: GivenRows | None = None) -> TableChange | None:
        """The change that deletes rows, by their numbers, and inserts others; None if a key would occur twice.

        `gone` are the deleted rows, if they are at hand.
        """
        if len(deleted) and gone is None:
            gone = self.take(deleted)
        change, kept = TableChange(self, deleted, inserted, self.size, gone), inserted.find_kept()
        for key in self.keys:
            if key is None:
                change.keys.append((NONE, NONE, NONE))
                continue
            found = self._replace(key, inserted, gone, None if kept is inserted else inserted.places)
            if found is None:
                return None
            change.keys.append(found)
        for reference in self.references:
            change.counts.append(self._count(reference, inserted, gone))
        return change

    def _replace(
        self, key: KeyColumns, inserted: GivenRows, gone: GivenRows | None, kept: Ints | None
    ) -> tuple[Ints, Ints, Ints] | None:
        """The entries of a key that change; None if a key would occur twice. `kept`: which rows of the new chunk are inserted."""
        entries, split, places = self._insert_keys(key, gone, inserted)
        lost, ids = entries[:split], entries[split:]
        if not _are_distinct(ids, key.index.size):
            return None
        before = key.numbers.take(entries)
        held, replaced = before[split:] >= 0, False
        if held.any():  # these rows must be deleted
            marked = numpy.zeros(key.index.size, bool)
            marked[lost] = True
            if not marked[ids[held]].all():
                return None
            replaced = True
        after = numpy.empty(len(entries), numpy.int64)
        after[:split] = -1
        numpy.add(places if kept is None else kept.take(places), self.size, out=after[split:])
        return _last_of(entries, before, after) if replaced else (entries, before, after)

    def _insert_keys(
        self, key: KeyColumns, gone: GivenRows | None, inserted: GivenRows
    ) -> tuple[Ints, int, Ints]:
        """The entries of deleted rows and of inserted ones, how many the first are, and the places of the inserted rows with a key."""
        new, places = self.words(key.positions, inserted)
        if gone is None:
            return key.insert(new), 0, places
        old, _ = self.words(key.positions, gone)
        both = [numpy.concatenate(pair) for pair in zip(old, new, strict=True)]
        return key.insert(both), len(old[0]), places

    def _count(
        self, reference: KeyColumns, inserted: GivenRows, gone: GivenRows | None
    ) -> tuple[Ints, Ints, Ints]:
        ids, split, _ = self._insert_keys(reference, gone, inserted)
        weights = numpy.ones(len(ids), numpy.int64)
        weights[:split] = -1
        stamps = numpy.zeros(reference.index.size, numpy.int64)
        numpy.add.at(stamps, ids, weights)
        entries = stamps.nonzero()[0]
        before = reference.numbers.take(entries)
        return entries, before, before + stamps.take(entries)

    def words(self, positions: tuple[int, ...], rows: GivenRows) -> tuple[list[Ints], Ints]:
        """The keys of rows, and the places of the rows that have one: no column of it is NULL."""
        vectors = [rows.vector(i, self.pools) for i in positions]
        present = None
        for v in vectors:
            if v.valid is not None:
                present = v.valid if present is None else present & v.valid
        places = numpy.arange(rows.num_rows) if present is None else present.nonzero()[0]
        if present is not None:
            vectors = [v.take(places) for v in vectors]
        return words_of([Vector(v.values) for v in vectors], False), places

    def find_rows(self, rows: GivenRows) -> Ints:
        """The numbers of these rows, found by the primary key and compared as a whole; raises Unfit if one is not there."""
        key = self.keys[0] if self.keys else None
        if key is None:
            raise Unfit("rows are not found without a key")
        words, places = self.words(key.positions, rows)
        found = key.find(words)
        if len(places) < rows.num_rows or (found < 0).any() or not _are_distinct(found, self.size):
            raise Unfit("a row that is not there")
        self._require_equal(found, rows)
        return found

    def _require_equal(self, numbers: Ints, rows: GivenRows) -> None:
        """Raises Unfit unless the rows of these numbers are the given ones; compares them in the order of the chunks."""
        order = numpy.argsort(numbers)
        ordered = numbers.take(order)
        ends = numpy.cumsum([chunk.num_rows for chunk in self.chunks])
        last, own = 0, []
        for chunk, end, until in zip(self.chunks, ends, numpy.searchsorted(ordered, ends), strict=True):
            if last < until:
                places = pyarrow.array(ordered[last:until] - (end - chunk.num_rows))
                own += [batch.take(places) for batch in _one_batch(chunk)]
            last = until
        if own and not pyarrow.Table.from_batches(own).equals(rows.choose(order).table()):
            raise Unfit("a row that is another")

    def without_dead(self) -> ColumnTable:
        """The same rows without those that are no longer there, and without their keys, where these are most of what is kept."""
        most = 2 * len(self) + MOST_DEAD
        found = self if self.size <= most else self._renumber()
        found.keys = [k if k is None or k.index.size <= most else k.drop_unused() for k in found.keys]
        found.references = [k if k.index.size <= most else k.drop_unused() for k in found.references]
        return found

    def _renumber(self) -> ColumnTable:
        """The rows that are there under new numbers."""
        made = ColumnTable(self.types, [], [], self.pools)
        made.references = self.references
        rows = numpy.cumsum(self.alive[: self.size]) - 1
        made.keys = [None if key is None else key.renumber(rows) for key in self.keys]
        made.append(self.rows().table, slice(None))
        return made


MOST_DEAD = 10_000
"""So many rows that are no longer there are always kept."""
MOST_ALIKE = 8
"""So many chunks of about one size become one."""


def merge_chunks(chunks: list[pyarrow.Table]) -> list[pyarrow.Table]:
    """The same rows in few chunks, whatever the number of batches: finding a row looks at all of them."""
    found = list(chunks)
    while len(found) >= MOST_ALIKE:
        last = found[-MOST_ALIKE:]
        if last[0].num_rows > sum(c.num_rows for c in last[1:]):
            break
        found[-MOST_ALIKE:] = [pyarrow.concat_tables(last).combine_chunks()]
    return found


def _one_batch(chunk: pyarrow.Table) -> list[Any]:
    """The rows as one piece from which rows are taken: a batch, which is quicker than a table, if they are one."""
    batches: list[Any] = chunk.to_batches()
    return batches if len(batches) == 1 else [chunk.combine_chunks().to_batches()[0]]


def _is_ascending(ids: Ints) -> bool:
    """Whether the entries are certainly distinct."""
    return bool((ids[1:] > ids[:-1]).all())


def _are_distinct(ids: Ints, size: int) -> bool:
    places = numpy.arange(len(ids))
    stamps = numpy.empty(size, numpy.int64)
    stamps[ids] = places
    return bool((stamps[ids] == places).all())


def _last_of(entries: Ints, before: Ints, after: Ints) -> tuple[Ints, Ints, Ints]:
    """Each entry once, with what is to stand under it in the end."""
    if _is_ascending(entries):
        return entries, before, after
    distinct, last = numpy.unique(entries[::-1], return_index=True)
    at = len(entries) - 1 - last
    return distinct, before[at], after[at]
