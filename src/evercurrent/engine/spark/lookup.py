"""Reading of a file only what can hold certain keys.

A Parquet file says for each of its row groups the smallest and the largest value of every column. A row group can hold one
of the asked keys only if, in every key column, one of the asked values lies between the two: with the values sorted, that
is one binary search. In a file that is sorted by the key (see `layout`) 1,000 keys out of 60 million rows touch at most
1,000 groups of 8,192 rows, however large the file is.

Footers are read once and kept: files never change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

AT_ONCE = 256
"""So many row groups are read before what is not asked for is dropped again."""


@dataclass(frozen=True)
class Wanted:
    """The values that are asked for in one column, as Arrow has them."""

    column: str
    values: pyarrow.Array
    keys: list[Any]
    null: bool

    @staticmethod
    def of(column: str, plain: Sequence[Any], type_: pyarrow.DataType) -> Wanted:
        known = [v for v in plain if v is not None]
        return Wanted(column, pyarrow.array(plain, type_), sorted(known), len(known) < len(plain))

    @staticmethod
    def among(column: str, found: pyarrow.ChunkedArray) -> Wanted:
        """The values of a column."""
        values = found.unique()
        known = values.drop_null()
        return Wanted(column, values, sorted(known.to_pylist()), len(known) < len(values))


Range = tuple[Any, Any, bool]
"""The smallest value, the largest, and whether there may be a NULL; the values are None if only NULLs are there."""


@dataclass
class Footer:
    """What a file says about itself."""

    path: str
    metadata: pyarrow.parquet.FileMetaData
    ranges: dict[str, list[Range | None]] = field(default_factory=dict)
    few: dict[str, bool] = field(default_factory=dict)

    @staticmethod
    def read(path: str) -> Footer:
        return Footer(path, pyarrow.parquet.read_metadata(path))

    @property
    def groups(self) -> int:
        return int(self.metadata.num_row_groups)

    def range(self, column: str) -> list[Range | None]:
        """The range of a column in each row group; None where the file does not say."""
        found = self.ranges.get(column)
        if found is None:
            at = self.place(column)
            assert at is not None
            found = [_range(self.metadata.row_group(i).column(at)) for i in range(self.groups)]
            self.ranges[column] = found
        return found

    def coded(self, column: str) -> bool:
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

    def place(self, column: str) -> int | None:
        """Where a column that is not nested lies in the file."""
        schema = self.metadata.schema
        return next((i for i in range(len(schema)) if schema.column(i).path == column), None)


def _range(chunk: pyarrow.parquet.ColumnChunkMetaData) -> Range | None:
    statistics = chunk.statistics if chunk.is_stats_set else None
    if statistics is None:
        return None
    nulls = not statistics.has_null_count or statistics.null_count > 0
    if statistics.has_min_max:
        return statistics.min, statistics.max, nulls
    only_nulls = statistics.has_null_count and statistics.null_count == chunk.num_values
    return (None, None, True) if only_nulls else None


def holding(footer: Footer, wanted: Sequence[Wanted]) -> list[int]:
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
        at = bisect_left(w.keys, low)
        return at < len(w.keys) and bool(w.keys[at] <= high)
    except TypeError:  # an instant with a zone beside one without: the file decides later
        return True


def find(footer: Footer, schema: pyarrow.Schema, wanted: Sequence[Wanted]) -> tuple[pyarrow.Table, float]:
    """The rows whose key columns all hold asked values, and the share of the file that was read for them.

    With several key columns other combinations of the asked values come along. The key columns are read first: most keys
    of new rows are in no row group, and then nothing else is.
    """
    groups = holding(footer, wanted)
    if not groups:
        return schema.empty_table(), 0.0
    keys = list(dict.fromkeys(w.column for w in wanted))
    others = [n for n in schema.names if n not in keys]
    read = len(groups) * len(keys)
    parts = []
    coded = [n for n in others if footer.coded(n)]
    with pyarrow.parquet.ParquetFile(footer.path, metadata=footer.metadata, read_dictionary=coded) as file:
        for start in range(0, len(groups), AT_ONCE):
            some = groups[start : start + AT_ONCE]
            table = file.read_row_groups(some, columns=keys)
            mask = matching(table, wanted)
            spans = hit(footer, some, mask)
            if not spans:
                continue
            if len(spans) < len(some):
                table = pyarrow.concat_tables([table.slice(s.begin, s.rows) for s in spans])
                mask = pyarrow.chunked_array([c for s in spans for c in mask.slice(s.begin, s.rows).chunks])
            if others:
                rest = file.read_row_groups([s.group for s in spans], columns=others)
                table = pyarrow.table(
                    [*table.columns, *rest.columns], [*table.column_names, *rest.column_names]
                )
                read += len(spans) * len(others)
            parts.append(table.filter(mask).select(schema.names).cast(schema))
    share = read / (footer.groups * len(schema.names))
    return pyarrow.concat_tables(parts) if parts else schema.empty_table(), share


class Span(NamedTuple):
    """A row group, and where its rows begin among those that were read with it."""

    group: int
    begin: int
    rows: int


def hit(footer: Footer, groups: Sequence[int], mask: pyarrow.ChunkedArray) -> list[Span]:
    """Those of the row groups in which the mask, over the rows of them all, is true somewhere."""
    places = pyarrow.compute.indices_nonzero(mask).to_pylist()
    found: list[Span] = []
    begin = at = 0
    for group in groups:
        rows = footer.metadata.row_group(group).num_rows
        after = bisect_left(places, begin + rows, at)
        if after > at:
            found.append(Span(group, begin, rows))
        begin, at = begin + rows, after
    return found


def matching(table: pyarrow.Table, wanted: Sequence[Wanted]) -> pyarrow.ChunkedArray:
    """For each row whether its key columns all hold asked values."""
    mask = None
    for w in wanted:
        here = pyarrow.compute.is_in(table.column(w.column).cast(w.values.type), w.values)
        mask = here if mask is None else pyarrow.compute.and_(mask, here)
    return mask


def only(table: pyarrow.Table, wanted: Sequence[Wanted]) -> pyarrow.Table:
    """The rows whose key columns all hold asked values."""
    return table.filter(matching(table, wanted))


def among(table: pyarrow.Table, keys: pyarrow.Table) -> pyarrow.Table:
    """The rows whose values, in the columns of `keys`, are together one of its rows; none of them is NULL."""
    if not keys.num_columns:
        return table
    places = table.select(keys.column_names).append_column("place", pyarrow.array(range(table.num_rows)))
    found = places.join(keys, keys.column_names, join_type="left semi")
    return table.take(found.column("place").sort())
