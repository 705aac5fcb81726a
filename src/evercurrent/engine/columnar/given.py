"""Rows that were handed over as Arrow columns, and selections of them.

    whole = GivenRows(types, arrays)             all rows of a batch
    inserted = whole.choose(places)              some of them; nothing is copied
    inserted.vector(0, pools)                    a column, made when somebody asks for it

A column of numbers is converted once for all selections; each then takes its own values. Texts are numbered by the pools of
whoever asks, so a selection numbers its own only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pyarrow

from evercurrent.data.types import Type
from evercurrent.engine.columnar.arrow import from_arrow, vector_of
from evercurrent.engine.columnar.vectors import Ints, Pools, Vector, kind_of


class GivenRows:
    """Rows by columns of stored types. A selection has a `whole`, and the places of its rows there."""

    __slots__ = (
        "_arrays",
        "_table",
        "_vectors",
        "_whole",
        "absent",
        "num_rows",
        "places",
        "types",
        "with_nulls",
    )

    def __init__(self, types: Sequence[Type], arrays: Sequence[pyarrow.Array], size: int) -> None:
        self.types = types
        self.num_rows = size
        self.absent: set[int] = set()  # columns that nobody reads, and that are left out
        self.with_nulls = {i for i, column in enumerate(arrays) if column.null_count}
        self._arrays: dict[int, pyarrow.Array] = dict(enumerate(arrays))
        self._vectors: dict[int, Vector] = {}
        self._table: pyarrow.Table | None = None
        self._whole: GivenRows | None = None
        self.places: Ints = numpy.empty(0, numpy.int64)

    def choose(self, places: Ints) -> GivenRows:
        """The rows at these places."""
        if self._whole is not None:
            return self._whole.choose(self.places[places])
        some = GivenRows(self.types, (), len(places))
        some._whole = self
        some.absent, some.with_nulls = self.absent, self.with_nulls
        some.places = places
        return some

    def find_kept(self) -> GivenRows:
        """What a table keeps of these rows: the batch they were chosen from, if it is hardly more; nothing is copied then."""
        whole = self._whole
        return self if whole is None or whole.absent or 2 * self.num_rows < whole.num_rows else whole

    def know(self, position: int, column: pyarrow.Array, vector: Vector | None) -> None:
        """Takes a column, and its vector if that was made while the column was checked."""
        self._arrays[position] = column
        if vector is not None:
            self._vectors[position] = vector
        if column.null_count:
            self.with_nulls.add(position)

    def leave_out(self, position: int) -> None:
        """Says that nobody reads a column."""
        self.absent.add(position)

    def vector(self, position: int, pools: Pools) -> Vector:
        """A column as a vector."""
        found = self._vectors.get(position)
        if found is not None:
            return found
        t = self.types[position]
        if kind_of(t) == "pool":
            return self._convert(position, pools)
        if self._whole is None:
            found = self._convert(position, pools)
        else:
            found = self._whole.vector(position, pools).take(self.places)
        self._vectors[position] = found
        return found

    def _convert(self, position: int, pools: Pools) -> Vector:
        column = self.array(position)
        if isinstance(column, pyarrow.ChunkedArray):
            return vector_of(self.types[position], column, pools)
        return from_arrow(self.types[position], column, pools)

    def array(self, position: int) -> pyarrow.Array:
        """A column as Arrow has it."""
        found = self._arrays.get(position)
        if found is None:
            if position in self.absent:
                found = pyarrow.nulls(self.num_rows)
            else:
                assert self._whole is not None
                found = self._whole.array(position).take(pyarrow.array(self.places))
            self._arrays[position] = found
        return found

    def has_nulls(self, position: int) -> bool:
        """Whether a column that is not left out holds a NULL."""
        if position not in self.with_nulls:
            return False
        return self._whole is None or bool(self.array(position).null_count)

    def table(self) -> pyarrow.Table:
        """The rows as an Arrow table of the columns c0, c1, ..."""
        if self._table is None and self._whole is not None and not self._arrays:
            self._table = self._whole.table().take(pyarrow.array(self.places))
            self._arrays = {
                i: column.chunk(0) for i, column in enumerate(self._table.columns) if column.num_chunks == 1
            }
        if self._table is None:
            size = range(len(self.types))
            self._table = pyarrow.Table.from_arrays([self.array(i) for i in size], [f"c{i}" for i in size])
        return self._table


def of_table(types: Sequence[Type], table: pyarrow.Table) -> GivenRows:
    """The rows of an Arrow table of stored types."""
    return GivenRows(types, table.columns, table.num_rows)
