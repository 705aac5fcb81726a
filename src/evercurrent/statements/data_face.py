"""The methods of a database that read files and make tables of data.

>>> import evercurrent as ec
>>> orders = ec.connect().create_table("orders", {"id": [1, 2], "total": [9.5, 3.0]}, key="id")
>>> orders.rows(), [str(c.type) for c in orders.schema]
([(1, 9.5), (2, 3.0)], ['BIGINT', 'DOUBLE'])
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.errors import QueryError
from evercurrent.limits import guard_nesting
from evercurrent.rows.arguments import require_text
from evercurrent.rows.results import Result
from evercurrent.statements.handles import Table

if TYPE_CHECKING:
    from evercurrent.statements.target import Target


class DataFace:
    """Methods of a database that take data and files."""

    if TYPE_CHECKING:

        @property
        def _target(self) -> Target: ...

        def table(self, name: str) -> Table: ...

    @guard_nesting()
    def create_table(
        self,
        name: str,
        data: Any,
        *,
        key: str | Sequence[str] = (),
        replace: bool = False,
        if_not_exists: bool = False,
    ) -> Table:
        """Create a table from data, with the data's columns, types and rows; returns the table.

        The data is a pandas or polars frame, an Arrow table, a list of dictionaries, NamedTuples or dataclasses, a mapping from
        columns to lists, a result of `query` or `read_parquet`, or anything else that speaks Arrow. `key` names the columns of
        the primary key. If the rows break it, there is no table.
        """
        from evercurrent.statements.data import create_from

        require_text(name, "the name of a table")
        if replace and if_not_exists:
            raise QueryError("replace and if_not_exists exclude each other")
        keys = (key,) if isinstance(key, str) else tuple(key)
        with self._target.lock:
            create_from(self._target, name, data, keys, replacing=replace, quietly=if_not_exists)
        return self.table(name)

    def read_parquet(self, path: str | os.PathLike[str]) -> Result:
        """The rows of a Parquet file, of all those in a folder, or of those that a pattern (`day=*.parquet`) names."""
        from evercurrent.rows.files import read_file
        from evercurrent.statements.data import rows_in

        return rows_in(read_file(path, "parquet"))

    def read_csv(
        self, path: str | os.PathLike[str], *, header: bool = True, delimiter: str | None = None
    ) -> Result:
        """The rows of CSV files; types are inferred from the values. Without a header, columns are f0, f1 and so on."""
        from evercurrent.rows.files import read_file
        from evercurrent.statements.data import rows_in

        return rows_in(read_file(path, "csv", header=header, delimiter=delimiter))

    def read_json(self, path: str | os.PathLike[str]) -> Result:
        """The rows of JSON files with one object on each line."""
        from evercurrent.rows.files import read_file
        from evercurrent.statements.data import rows_in

        return rows_in(read_file(path, "json"))
