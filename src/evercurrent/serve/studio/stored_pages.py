"""Pages of a store on disk, read from the row groups that hold them.

A store is a base, in which every row stands once, and recent segments, which are added to it. Its rows are, in this order,

    the rows of the base, file by file and group by group, each with the weight that the recent segments leave it
    the rows that only the recent segments have

The footers of files say how many rows a group has, and whether all weights are one; statistics say which groups can hold a row
that a recent segment changes. So a page reads the groups that it shows, and before them only groups that have changed:

    pages.page(500_000, 100)      the rows from 500,000 on: one or two groups, however large the store is
    pages.count                   how many rows there are: weights add up, so that nothing has to be looked up for it

What is in memory is one row group, and the rows of the recent segments.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.compute

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.entry_reader import EntryReader, filterable
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.lookup import Footer, find_groups, only
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.engine.spark.translate.types import arrow_schema, plain
from evercurrent.serve.studio.inspection import Entries, repeat_rows

if TYPE_CHECKING:
    from evercurrent.engine.spark.engine import Engine

MOST_RECENT = 300_000
"""A store with more rows in recent segments is read whole."""


@dataclass(frozen=True, slots=True)
class Group:
    """A row group of a file of the base. `changed`: recent segments may change rows of it."""

    footer: Footer
    number: int
    rows: int
    changed: bool


def open_pages(engine: Engine, store: Store, types: Sequence[Type]) -> StoredPages | None:
    """The pages of a store; None if it has to be read whole: rows lie in a source, or too many are recent."""
    if store.elsewhere or sum(s.rows for s in store.recent) > MOST_RECENT:
        return None
    recent = engine.rows(Store((), store.recent), types) if store.recent else []
    return StoredPages(engine.reader, store, types, dict(recent))


class StoredPages:
    """Pages of one store at one version. `recent` are the rows of its recent segments, added up."""

    def __init__(
        self, reader: EntryReader, store: Store, types: Sequence[Type], recent: dict[Row, int]
    ) -> None:
        self.reader, self.store, self.types, self.recent = reader, store, types, recent
        self.schema = arrow_schema(row_schema(types))
        self.wanted = [
            Wanted.of(self.schema.field(i).name, [plain(t, v) for v in {row[i] for row in recent}], kind)
            for i, (t, kind) in enumerate(zip(types, self.schema.types[:-1], strict=True))
            if recent and filterable(t)
        ]
        self.found: set[Row] = set()
        """The rows of `recent` that are known to stand in the base."""
        self._weights: dict[int, int] = {}
        self._totals: dict[int, int] = {}

    @cached_property
    def groups(self) -> list[Group]:
        """The row groups of the base, in order."""
        found = []
        for file in (f for segment in self.store.base for f in segment.files):
            footer = self.reader.footer(file)
            changed = set(find_groups(footer, self.wanted)) if self.recent else set()
            for number in range(footer.groups):
                rows = footer.metadata.row_group(number).num_rows
                found.append(Group(footer, number, rows, number in changed))
        return found

    @cached_property
    def count(self) -> int:
        """How many rows there are, each as often as it is there."""
        return sum(map(self.weight, range(len(self.groups)))) + sum(self.recent.values())

    def page(self, offset: int, limit: int) -> list[Row]:
        """So many rows from one on."""
        rows: list[Row] = []
        for i in range(len(self.groups)):
            if len(rows) >= limit:
                return rows
            total = self.total(i)
            if offset < total:
                rows += self.part(i, offset, limit - len(rows))
                offset = total
            offset -= total
        return rows + list(islice(repeat_rows(self.list_added()), offset, offset + limit - len(rows)))

    def entries(self) -> Entries:
        """All rows with their multiplicities, read group by group."""
        for i in range(len(self.groups)):
            yield from self.entries_of(i)
        yield from self.list_added()

    # --- one group -----------------------------------------------------------------------------------------

    def weight(self, i: int) -> int:
        """The weights of a group's rows, added up, as the base has them."""
        found = self._weights.get(i)
        if found is None:
            group = self.groups[i]
            ones = group.footer.range(W)[group.number] == (1, 1, False)
            found = group.rows if ones else pyarrow.compute.sum(self.read(group, (W,)).column(0)).as_py()
            self._weights[i] = found = found or 0
        return found

    def total(self, i: int) -> int:
        """How many rows a group has after what the recent segments change."""
        if not self.groups[i].changed:
            return self.weight(i)
        found = self._totals.get(i)
        if found is None:
            table = self.read(self.groups[i], self.schema.names)
            table = only(table, self.wanted) if self.wanted else table
            rows = [row[:-1] for row in self.decode(table) if row[:-1] in self.recent]
            self.found.update(rows)
            self._totals[i] = found = self.weight(i) + sum(self.recent[row] for row in rows)
        return found

    def part(self, i: int, offset: int, limit: int) -> list[Row]:
        """So many rows of a group from one on. Of a group with no copies, only these become Python values."""
        group = self.groups[i]
        if not group.changed and self.weight(i) == group.rows:
            table = self.read(group, self.schema.names).slice(offset, limit)
            return [row[:-1] for row in self.decode(table)]
        return list(islice(repeat_rows(self.entries_of(i)), offset, offset + limit))

    def entries_of(self, i: int) -> Iterator[tuple[Row, int]]:
        for *values, weight in self.decode(self.read(self.groups[i], self.schema.names)):
            row = tuple(values)
            change = self.recent.get(row)
            if change is not None:
                self.found.add(row)
                weight += change
            if weight:
                yield row, weight

    def list_added(self) -> Entries:
        """The rows that only the recent segments have. All groups have been looked at."""
        return [(row, weight) for row, weight in self.recent.items() if row not in self.found]

    def read(self, group: Group, names: Sequence[str]) -> pyarrow.Table:
        group.footer.require([group.number], names)
        with group.footer.open_file() as file:
            found = file.read_row_groups([group.number], columns=list(names), use_threads=False)
        return found.select(names).cast(pyarrow.schema([self.schema.field(n) for n in names]))

    def decode(self, table: pyarrow.Table) -> list[tuple[Any, ...]]:
        self.reader.allow(max(table.num_rows, 1), sys.maxsize)
        return self.reader.decode([table], self.types)
