"""One table of the file: how it is named, made, read and changed, in SQL.

    orders (id BIGINT PRIMARY KEY, total DECIMAL(12,2))      CREATE TABLE "orders" ("id" INTEGER PRIMARY KEY NOT NULL, "total" TEXT)

A table with a primary key has one row for each row, found by its key. In any other table a row that is there twice is there twice in the
file; the first deletion makes an index over the columns, so that it finds its row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from evercurrent.catalog.nodes import Table
from evercurrent.data.types import Array, Collection, Map, Struct
from evercurrent.data.zset import Row
from evercurrent.durable.cells import BadCell, affinity, row_dumper, rows_loader
from evercurrent.errors import StorageError

OWN = "evercurrent_"
"""Begins the names of what the file holds beside the tables of users."""
CHUNK = 50_000


def quote_name(name: str) -> str:
    """A name in SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def table_name(name: str) -> str:
    """Returns the name in the file: that of the table, unless SQLite cannot have it or the file itself uses such names."""
    return _spell_column(name, "table", name.lower().startswith(("sqlite_", OWN)))


def column_name(name: str) -> str:
    """Returns the name of a column in the file. `_rowid_` stays the name of SQLite's own column."""
    lowered = name.lower()
    return _spell_column(name, "column", lowered == "_rowid_" or lowered.startswith(f"{OWN}column_"))


def _spell_column(name: str, kind: str, taken: bool) -> str:
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        encoded, taken = name.encode("utf-8", "surrogatepass"), True
    return f"{OWN}{kind}_{encoded.hex()}" if taken or "\0" in name or not name else name


class StoredTable:
    """The table of a declaration, in the file."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.key = table.name.lower()
        types = [c.type for c in table.columns]
        self.dump, self._load = row_dumper(types), rows_loader(types)
        self.columns = [quote_name(column_name(c.name)) for c in table.columns]
        self.name = quote_name(table_name(table.name))
        primary = table.primary_key
        at = [] if primary is None else [self._position(c) for c in primary.columns]
        self.key_of = itemgetter(*at) if at else None
        self.wide = len(at) > 1
        marks = ", ".join("?" * len(self.columns))
        self._insert = f"INSERT INTO {self.name} VALUES ({marks})"
        self._replace = f"INSERT OR REPLACE INTO {self.name} VALUES ({marks})"
        found = " AND ".join(f"{self.columns[i]} = ?" for i in at)
        self._delete = f"DELETE FROM {self.name} WHERE {found}"
        same = " AND ".join(f"{c} IS ?" for c in self.columns)
        self._delete_some = (
            f"DELETE FROM {self.name} WHERE _rowid_ IN (SELECT _rowid_ FROM {self.name} WHERE {same} LIMIT ?)"
        )
        self.indexed = False

    def _position(self, column: str) -> int:
        return next(i for i, c in enumerate(self.table.columns) if c.name.lower() == column.lower())

    def has_shape_of(self, table: Table) -> bool:
        """Returns whether another declaration has the same table in the file."""
        mine, theirs = self.table, table
        keys = [None if t.primary_key is None else t.primary_key.columns for t in (mine, theirs)]
        columns = [[(c.name, c.type, c.nullable) for c in t.columns] for t in (mine, theirs)]
        return mine.name == theirs.name and keys[0] == keys[1] and columns[0] == columns[1]

    # --- the table ---------------------------------------------------------------------------------------------

    def create(self, connection: sqlite3.Connection) -> None:
        """Makes the table, empty."""
        parts = []
        primary = self.table.primary_key
        alone = primary is not None and len(primary.columns) == 1
        rowid = False
        for c, name in zip(self.table.columns, self.columns, strict=True):
            kind = affinity(c.type)
            own = ""
            if alone and primary is not None and c.name.lower() == primary.columns[0].lower():
                own, rowid = " PRIMARY KEY", kind == "INTEGER"
            parts.append(f"{name} {kind}{own}{'' if c.nullable else ' NOT NULL'}")
        if primary is not None and not alone:
            parts.append(
                f"PRIMARY KEY ({', '.join(self.columns[self._position(c)] for c in primary.columns)})"
            )
        end = "" if primary is None or rowid else " WITHOUT ROWID"
        connection.execute(f"CREATE TABLE {self.name} ({', '.join(parts)}){end}")

    def drop(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"DROP TABLE IF EXISTS {self.name}")

    def rows(self, connection: sqlite3.Connection) -> Iterator[list[Row]]:
        """Yields all rows, many at a time; refuses a cell that is no value of its column."""
        cursor = connection.execute(f"SELECT {', '.join(self.columns)} FROM {self.name}")
        cursor.arraysize = CHUNK
        while cells := cursor.fetchmany():
            yield self.load(cells)

    def load(self, cells: Iterable[Iterable[object]]) -> list[Row]:
        """Returns the rows of these cells."""
        try:
            return self._load(cells)  # type: ignore[arg-type]
        except BadCell as problem:
            column = self.table.columns[problem.position]
            raise StorageError(
                f"{self.table.name}.{column.name}: the file holds {str(problem.value)[:60]!r}, which is no {column.type}",
                hint="the file was changed by another program; restore it from a backup",
            ) from None

    # --- changes -----------------------------------------------------------------------------------------------

    def change(self, connection: sqlite3.Connection, weights: Mapping[Row, int]) -> None:
        """Makes the net change of a transaction; refuses one that deletes what the file does not hold."""
        dump = self.dump
        come = [row for row, weight in weights.items() if weight > 0]
        gone = [row for row, weight in weights.items() if weight < 0]
        if self.key_of is None:
            self._delete_rows(connection, [(*dump(row), -weights[row]) for row in gone])
            cells = (dump(row) for row in come for _ in range(weights[row]))
            connection.executemany(self._insert, cells)
            return
        key_of = self.key_of
        dumped = list(map(dump, come))
        if not gone:
            connection.executemany(self._insert, dumped)
            return
        stays = set(map(key_of, come))
        keys = [key_of(dump(row)) for row in gone if key_of(row) not in stays]
        if keys:
            done = connection.executemany(self._delete, keys if self.wide else [(k,) for k in keys]).rowcount
            if done != len(keys):
                raise self._unknown(len(keys) - done)
        connection.executemany(self._replace, dumped)

    def _delete_rows(self, connection: sqlite3.Connection, rows: list[tuple[object, ...]]) -> None:
        if not rows:
            return
        if not self.indexed:
            self._index(connection)
        for row in rows:
            done = connection.execute(self._delete_some, row).rowcount
            if done != row[-1]:
                raise self._unknown(1)

    def _index(self, connection: sqlite3.Connection) -> None:
        """Makes the index by which rows without a key are found, unless it is there."""
        simple = [
            name
            for c, name in zip(self.table.columns, self.columns, strict=True)
            if not isinstance(c.type, Array | Map | Struct | Collection)
        ]
        name = quote_name(f"{OWN}rows_of_{table_name(self.table.name)}")
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS {name} ON {self.name} ({', '.join(simple or self.columns)})"
        )
        self.indexed = True

    def _unknown(self, count: int) -> StorageError:
        return StorageError(
            f"{self.table.name}: the file does not hold {count} of the rows that are to be deleted",
            hint="another program has changed the file; close the database and open it again",
        )
