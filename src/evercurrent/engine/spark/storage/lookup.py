"""Reads only those parts of a file that can hold certain keys.

A Parquet file says for each of its row groups the smallest and the largest value of every column. A row group can hold one
of the asked keys only if, in every key column, one of the asked values lies between the two: with the values sorted, that
is one binary search. In a file that is sorted by the key (see `sort_order`) 1,000 keys out of 60 million rows touch at most
1,000 groups of 8,192 rows, however large the file is.

>>> may_hold((4, 9, False), Wanted.of("c0", [5, 3], pyarrow.int64())), may_hold((6, 9, False), Wanted.of("c0", [5], pyarrow.int64()))
(True, False)

Where a file has a mapped copy (`mapped_copy`), places are found in that, and row groups are read only for columns that it lacks.

Footers are read once and kept: files never change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.engine.spark.storage.checksums import Checked
from evercurrent.engine.spark.storage.mapped_copy import Copy, Places, numbers
from evercurrent.engine.spark.storage.wanted import Wanted as Wanted  # noqa: PLC0414 -- its readers find it here too
from evercurrent.engine.spark.storage.wanted import expand_ranges, find_equal, rises

AT_ONCE = 1024
"""The number of row groups that are read before rows that were not asked for are dropped."""


class Origins(Protocol):
    """Reads rows that lie elsewhere, as weighted rows: some columns of them, and at least those under the wanted keys."""

    def frame(self, session: Any, origin: str, names: Sequence[str]) -> Any: ...

    def table(
        self, origin: str, schema: pyarrow.Schema, wanted: Sequence[Wanted], most: int
    ) -> pyarrow.Table: ...


Range = tuple[Any, Any, bool]
"""The smallest value, the largest, and whether there may be a NULL; the values are None if only NULLs are there."""


@dataclass
class Footer:
    """What a file says about itself."""

    file: Checked
    metadata: pyarrow.parquet.FileMetaData
    ranges: dict[str, list[Range | None]] = field(default_factory=dict)
    few: dict[str, bool] = field(default_factory=dict)
    spans: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)

    @staticmethod
    def read(file: Checked | str) -> Footer:
        if isinstance(file, str):
            file = Checked.open(file, None)
        file.require(file.size - 8, file.size)
        length = int.from_bytes(memoryview(file.data)[-8:-4], "little")
        file.require(file.size - 8 - length, file.size)
        return Footer(file, pyarrow.parquet.read_metadata(pyarrow.BufferReader(file.data)))

    def open_file(self, coded: Sequence[str] = ()) -> pyarrow.parquet.ParquetFile:
        """The file, for reading few of its row groups: mapped, since fetching them ahead takes as long as decoding them."""
        return pyarrow.parquet.ParquetFile(
            pyarrow.BufferReader(self.file.data),
            metadata=self.metadata,
            read_dictionary=coded,
            pre_buffer=False,
        )

    def require(self, groups: Sequence[int], columns: Sequence[str]) -> None:
        """Check the bytes of columns in some row groups."""
        if self.file.sums is None:
            return
        for name in columns:
            for begins, ends in self.places(name):
                self.file.require_spans(begins[groups], ends[groups])

    def places(self, column: str) -> list[tuple[Any, Any]]:
        """Where the parts of a column begin and end in each row group: one pair of arrays for each part."""
        found = self.spans.get(column)
        if found is None:
            schema = self.metadata.schema
            found = []
            for i in range(len(schema)):
                if schema.column(i).path.split(".")[0] == column:
                    chunks = [self.metadata.row_group(g).column(i) for g in range(self.groups)]
                    begins = numpy.array([first_byte(c) for c in chunks], numpy.int64)
                    sizes = numpy.array([c.total_compressed_size for c in chunks], numpy.int64)
                    found.append((begins, begins + sizes))
            self.spans[column] = found
        return found

    @property
    def groups(self) -> int:
        return int(self.metadata.num_row_groups)

    @property
    def columns(self) -> list[str]:
        return [str(n) for n in self.metadata.schema.to_arrow_schema().names]

    def range(self, column: str) -> list[Range | None]:
        """The range of a column in each row group; None where the file does not say."""
        found = self.ranges.get(column)
        if found is None:
            at = self.place(column)
            assert at is not None
            found = [_range(self.metadata.row_group(i).column(at)) for i in range(self.groups)]
            self.ranges[column] = found
        return found

    def is_coded(self, column: str) -> bool:
        """Whether a column is one of strings that are written as places in a dictionary of a few.

        Those are read as such, and become strings only for the rows that are asked for. A string that is written as it is
        takes four bytes for its length alone: a column that takes less has few that are.
        """
        found = self.few.get(column)
        if found is None:
            at = self.place(column)
            chunk = None if at is None else self.metadata.row_group(0).column(at)
            found = self.few[column] = (
                chunk is not None
                and chunk.physical_type == "BYTE_ARRAY"
                and any("DICTIONARY" in e for e in chunk.encodings)
                and chunk.total_uncompressed_size < 4 * chunk.num_values
            )
        return found

    def share(self, columns: Sequence[str]) -> float:
        """The share of these columns in the bytes of the first row group, and by and large of all."""
        group = self.metadata.row_group(0)
        sizes: dict[str, int] = {}
        for i in range(group.num_columns):
            chunk = group.column(i)
            name = chunk.path_in_schema.split(".")[0]
            sizes[name] = sizes.get(name, 0) + chunk.total_compressed_size
        return sum(sizes.get(n, 0) for n in columns) / max(1, sum(sizes.values()))

    def place(self, column: str) -> int | None:
        """Where a column that is not nested lies in the file."""
        schema = self.metadata.schema
        return next((i for i in range(len(schema)) if schema.column(i).path == column), None)


def first_byte(chunk: pyarrow.parquet.ColumnChunkMetaData) -> int:
    """Where the pages of a column begin in the file: with its dictionary, if it has one."""
    first = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
    return int(chunk.data_page_offset if first is None else min(first, chunk.data_page_offset))


def _range(chunk: pyarrow.parquet.ColumnChunkMetaData) -> Range | None:
    statistics = chunk.statistics if chunk.is_stats_set else None
    if statistics is None:
        return None
    nulls = not statistics.has_null_count or statistics.null_count > 0
    if statistics.has_min_max:
        return statistics.min, statistics.max, nulls
    only_nulls = statistics.has_null_count and statistics.null_count == chunk.num_values
    return (None, None, True) if only_nulls else None


def find_groups(footer: Footer, wanted: Sequence[Wanted]) -> list[int]:
    """The row groups that can hold one of the keys."""
    chosen = list(range(footer.groups))
    for w in wanted:
        ranges = footer.range(w.column)
        chosen = [i for i in chosen if may_hold(ranges[i], w)]
    return chosen


def may_hold(r: Range | None, w: Wanted) -> bool:
    if r is None:
        return True
    low, high, nulls = r
    if nulls and w.null:
        return True
    if low is None:
        return False
    try:
        return w.has_between(low, high)
    except TypeError:  # an instant with a zone beside one without: the file decides later
        return True


def find(
    footer: Footer, schema: pyarrow.Schema, wanted: Sequence[Wanted], order: Sequence[str] = ()
) -> tuple[pyarrow.Table, float]:
    """The rows whose key columns all hold asked values, and the share of the file that was read for them.

    With several key columns other combinations of the asked values come along. The key columns are read first, of a file
    that is sorted by one of them (`order`) only that: most keys of new rows are in no row group, and then nothing else is.
    """
    groups = find_groups(footer, wanted)
    if not groups:
        return schema.empty_table(), 0.0
    first = next((w for w in wanted if order and w.column == order[0] and w.sortable), None)
    early = [first.column] if first is not None else list(dict.fromkeys(w.column for w in wanted))
    others = [n for n in schema.names if n not in early]
    read = len(groups) * footer.share(early)
    parts = []
    coded = [n for n in others if footer.is_coded(n)]
    with footer.open_file(coded) as file:
        for start in range(0, len(groups), AT_ONCE):
            some = groups[start : start + AT_ONCE]
            footer.require(some, early)
            table = file.read_row_groups(some, columns=early)
            places = None if first is None else places_of(table.column(0), first)
            if places is None:
                mask = match_keys(table, wanted, early)
                places = pyarrow.compute.indices_nonzero(mask).to_numpy().astype(numpy.int64)
            spans = hit(footer, some, places)
            if not spans:
                continue
            found = table.take(pyarrow.array(places))
            if others:
                footer.require([s.group for s in spans], others)
                rest = file.read_row_groups([s.group for s in spans], columns=others)
                rest = rest.take(pyarrow.array(move_places(places, spans)))
                found = pyarrow.table(
                    [*found.columns, *rest.columns], [*found.column_names, *rest.column_names]
                )
                read += len(spans) * footer.share(others)
            late = [w for w in wanted if w.column not in early]
            parts.append((only(found, late) if late else found).select(schema.names).cast(schema))
    return pyarrow.concat_tables(parts) if parts else schema.empty_table(), read / footer.groups


def find_in(
    copy: Copy, file: Callable[[], Footer], schema: pyarrow.Schema, wanted: Sequence[Wanted]
) -> tuple[pyarrow.Table, int] | None:
    """What `find` returns, by way of a file's mapped copy, and how many bytes were read for it; None if it cannot tell."""
    within = [w for w in wanted if w.column in copy.names]
    first = next((w for w in within if w.column == copy.sorted and not w.null), None)
    places = None if first is None else copy.places(first.values)
    if places is None:
        if not within:
            return None
        asked = within
    else:
        asked = [w for w in within if w is not first]
    read = 0
    if asked and (places is None or len(places)):
        columns = {w.column: copy.take(w.column, places) for w in asked}
        chosen = match_keys(pyarrow.table(columns), asked).combine_chunks()
        read += sum(c.nbytes for c in columns.values())
        kept = pyarrow.compute.indices_nonzero(chosen).to_numpy().astype(numpy.int64)
        places = kept if places is None else places[kept]
    assert places is not None
    if not len(places):
        return schema.empty_table(), read
    own = [n for n in schema.names if n in copy.names]
    found = {n: copy.take(n, places) for n in own}
    read += sum(copy.bytes(n, places) for n in own)
    others = [n for n in schema.names if n not in copy.names]
    others += [w.column for w in wanted if w.column not in copy.names and w.column not in others]
    if others:
        footer = file()
        spans = hit(footer, range(footer.groups), places)
        footer.require([s.group for s in spans], others)
        with footer.open_file([n for n in others if footer.is_coded(n)]) as opened:
            rest = opened.read_row_groups([s.group for s in spans], columns=others)
        rest = rest.take(pyarrow.array(move_places(places, spans)))
        found |= dict(zip(rest.column_names, rest.columns, strict=True))
        groups = sum(footer.metadata.row_group(s.group).total_byte_size for s in spans)
        read += int(groups * footer.share(others))
    table = pyarrow.table(found)
    late = [w for w in wanted if w.column not in copy.names]
    return (only(table, late) if late else table).select(schema.names).cast(schema), read


def places_of(column: pyarrow.ChunkedArray, wanted: Wanted) -> Places | None:
    """Where the asked values are in a column that is sorted, by binary search; None if it is not, or has NULLs."""
    if column.null_count:
        return None
    values = numbers(column.combine_chunks())
    keys = numbers(wanted.values.sort()) if wanted.numbers is None else wanted.numbers
    if values is None or keys is None or not rises(values):
        return None
    return expand_ranges(*find_equal(values, keys))


class Span(NamedTuple):
    """A row group, and where its rows begin among those that were read with it."""

    group: int
    begin: int
    rows: int


def hit(footer: Footer, groups: Sequence[int], places: Places) -> list[Span]:
    """Those of the row groups, whose rows stand one after another, in which one of the places lies; these are sorted."""
    rows = [footer.metadata.row_group(g).num_rows for g in groups]
    begins = numpy.cumsum([0, *rows])
    touched = numpy.diff(numpy.searchsorted(places, begins)) > 0
    return [
        Span(group, int(begin), n)
        for group, begin, n, there in zip(groups, begins[:-1], rows, touched, strict=True)
        if there
    ]


def move_places(places: Places, spans: Sequence[Span]) -> Places:
    """Where places are when only the rows of these spans stand one after another."""
    begins = numpy.array([s.begin for s in spans])
    rows = numpy.array([s.rows for s in spans])
    gaps = begins - (numpy.cumsum(rows) - rows)
    return places - gaps[numpy.searchsorted(begins, places, "right") - 1]


def match_keys(
    table: pyarrow.Table, wanted: Sequence[Wanted], columns: Sequence[str] | None = None
) -> pyarrow.ChunkedArray:
    """For each row whether its key columns, or these of them, all hold asked values."""
    mask = None
    for w in wanted if columns is None else [w for w in wanted if w.column in columns]:
        here = pyarrow.compute.is_in(table.column(w.column).cast(w.values.type), w.values)
        mask = here if mask is None else pyarrow.compute.and_(mask, here)
    return mask


def only(table: pyarrow.Table, wanted: Sequence[Wanted]) -> pyarrow.Table:
    """The rows whose key columns all hold asked values."""
    return table.filter(match_keys(table, wanted))


def among(table: pyarrow.Table, keys: pyarrow.Table) -> pyarrow.Table:
    """The rows whose values, in the columns of `keys`, are together one of its rows; none of them is NULL."""
    if not keys.num_columns:
        return table
    numbered = pyarrow.array(numpy.arange(table.num_rows))
    places = table.select(keys.column_names).append_column("place", numbered)
    found = places.join(keys, keys.column_names, join_type="left semi")
    return table.take(found.column("place").sort())
