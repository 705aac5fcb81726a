"""What a statement returns: rows for a query, a count for a change, neither for a definition.

db.execute("DELETE FROM orders WHERE id = 1")      <Result of DELETE: 1 row>
"""

from __future__ import annotations

from collections.abc import Iterator

from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.rows.conversion import give_rows
from evercurrent.rows.readable import Rows, signature


class Result(Rows):
    """The outcome of a statement.

    `kind` names the statement; `count` is the number of rows that it returned or changed (a row that was updated counts
    once). The rows are those of a query, as they were when it ran; other statements have none.
    """

    def __init__(
        self, kind: str, count: int = 0, fields: tuple[Member, ...] = (), rows: list[Row] | None = None
    ) -> None:
        self.kind = kind
        self.count = count
        self._fields = fields
        self._rows = rows if rows is not None else []
        self._taken = 0  # how many rows fetchone and fetchmany have returned

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._fields

    def fetchone(self) -> Row | None:
        """The next row that was not fetched yet; None if there is no other."""
        found = self.fetchmany(1)
        return found[0] if found else None

    def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows that were not fetched yet, at most `size`."""
        found = give_rows(self._fields, self._rows[self._taken : self._taken + size])
        self._taken += len(found)
        return found

    def fetchall(self) -> list[Row]:
        """All rows that were not fetched yet."""
        return self.fetchmany(len(self._rows))

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """The columns as drivers of databases describe them: name, type, and at the end whether NULLs are possible."""
        return [(f.name, str(f.type), None, None, None, None, f.nullable) for f in self._fields]

    @property
    def rowcount(self) -> int:
        """`count`, under the name that drivers of databases have for it."""
        return self.count

    def scalar(self) -> object:
        """The only value of the only row; None if there is no row."""
        rows = self.rows()
        if len(self._fields) != 1 or len(rows) > 1:
            raise ValueError(f"not a single value: {len(rows)} rows of {len(self._fields)} columns")
        return rows[0][0] if rows else None

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __str__(self) -> str:
        return super().__str__() if self._fields else repr(self)

    def __repr__(self) -> str:
        if self._fields:
            return f"<Result ({signature(self._fields)}): {count_text(self.count)}>"
        return f"<Result of {self.kind}{': ' + count_text(self.count) if self._changes() else ''}>"

    def _changes(self) -> bool:
        return self.kind in ("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE")
