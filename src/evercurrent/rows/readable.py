"""What tables, views and results of queries have in common: rows to be read, counted, shown and exported.

>>> import evercurrent as ec
>>> result = ec.connect().query("SELECT 1 AS id, 'a' AS name")
>>> result.columns, result.rows(), result.to_dicts()
(['id', 'name'], [(1, 'a')], [{'id': 1, 'name': 'a'}])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.rows.conversion import Fields, give_rows
from evercurrent.rows.familiar_names import ROWS, finder

if TYPE_CHECKING:
    import polars
    import pyarrow
    from pandas import DataFrame as PandasFrame


class Rows(ABC):
    """Rows with named, typed columns."""

    if not TYPE_CHECKING:
        __getattr__ = finder(ROWS, "this")

    @property
    @abstractmethod
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""

    @abstractmethod
    def _internal(self, pending: bool = False) -> Iterator[Row]:
        """The rows in internal representation, in the order in which they are read."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.schema]

    def rows(self, *, pending: bool = False) -> list[Row]:
        """All rows, as tuples.

        Inside a transaction these are the committed ones; with `pending` those that it would leave behind.
        """
        return give_rows(self.schema, self._internal(pending))

    def head(self, count: int = 10) -> list[Row]:
        """The first rows."""
        return give_rows(self.schema, islice(self._internal(), count))

    def to_dicts(self, *, pending: bool = False) -> list[dict[str, Any]]:
        """All rows, as dictionaries from column to value."""
        names = self.columns
        return [dict(zip(names, row, strict=True)) for row in self.rows(pending=pending)]

    def arrow(self, *, pending: bool = False) -> pyarrow.Table:
        """All rows as an Arrow table."""
        from evercurrent.rows.export import arrow_table

        return arrow_table(self.schema, self._internal(pending))

    def pandas(self, *, pending: bool = False) -> PandasFrame:
        """All rows as a pandas frame. Integer and boolean columns with NULLs have pandas' nullable types."""
        from evercurrent.rows.export import pandas_frame

        return pandas_frame(self.schema, self._internal(pending))

    def to_arrow(self, *, pending: bool = False) -> pyarrow.Table:
        """All rows as an Arrow table: `arrow()` under the name that other libraries have for it."""
        return self.arrow(pending=pending)

    def fetch_arrow_table(self) -> pyarrow.Table:
        """All rows as an Arrow table, under the name that DuckDB has for it."""
        return self.arrow()

    def to_pandas(self, *, pending: bool = False) -> PandasFrame:
        """All rows as a pandas frame: `pandas()` under the name that other libraries have for it."""
        return self.pandas(pending=pending)

    def df(self) -> PandasFrame:
        """All rows as a pandas frame, under the name that DuckDB has for it."""
        return self.pandas()

    def to_polars(self, *, pending: bool = False) -> polars.DataFrame:
        """All rows as a polars frame."""
        from evercurrent.rows.export import polars_frame

        return polars_frame(self.schema, self._internal(pending))

    def pl(self) -> polars.DataFrame:
        """All rows as a polars frame, under the name that DuckDB has for it."""
        return self.to_polars()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for whatever reads Arrow: `pyarrow.table(view)`, `polars.DataFrame(view)`, a query of DuckDB."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def fetchall(self) -> list[Row]:
        """All rows, under the name that drivers of databases have for it."""
        return self.rows()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def _title(self) -> str:
        return ""

    def __str__(self) -> str:
        from evercurrent.display import table_text

        return table_text(self._title(), self.schema, self.head(20), len(self))

    def _repr_html_(self) -> str:
        from evercurrent.display import table_html

        return table_html(self._title(), self.schema, self.head(20), len(self))


def signature(fields: Fields) -> str:
    """Columns with their types, for one line."""
    return ", ".join(f"{f.name} {f.type}" for f in fields)
