"""Sources: tables of PostgreSQL that a database in process holds a copy of.

    sources.declare("orders", "postgresql://localhost/shop", "public.orders")        a table orders with the server's rows

What is kept of a source is a cursor: its table, its slot, and the position in the server's log up to which its changes are in the
database. The cursor is updated in the same transaction as the rows, so a change counts once, whoever is killed in between. The address,
which may hold a password, is not stored: a program that opens the database declares its sources again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table, TableColumn, Unique
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import QueryError, StorageError
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.postgres.server import Server, ServerTable
from evercurrent.session.definition import create_table
from evercurrent.session.target import SessionTarget
from evercurrent.session.transactions import Block
from evercurrent.statements.execute import execute

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Cursor = dict[str, Any]
CHUNK = 10_000


@dataclass(frozen=True)
class Source:
    """A source whose server this program can reach. `name` is that of the table in the database."""

    name: str
    server: Server
    table: str

    @property
    def key(self) -> str:
        return self.name.lower()


class Sources:
    """The sources of one database."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.declared: dict[str, Source] = {}
        self._servers: dict[str, Server] = {}
        self._last: dict[str, Cursor] = {}  # the cursors of sources that may have been dropped since

    # --- declaring -----------------------------------------------------------------------------------------------

    def declare(self, name: str, address: str, table: str, key: Iterable[str] = ()) -> None:
        """Makes a source known, and loads it unless the database holds it already."""
        self.forget_dropped()
        server = self._servers.setdefault(address, Server(address))
        with server.errors("looking at the table"):
            server.require_logical()
            found, identifier = server.table(table), server.identifier()
        source = Source(name, server, found.text)
        cursor = self._find_cursor(source, identifier)
        if cursor is None:
            cursor = {"server": identifier, "table": found.text, "id": secrets.token_hex(6), "number": 0}
            if self.session.catalog.relation(name) is not None:
                raise QueryError(
                    f"there is already a table or view {name}", hint="give the source another name"
                )
            made = declare_table(name, found, tuple(key))
            with Block(self.session, alone=True) as transaction:
                transaction.cursors[source.key] = cursor
            create_table(self.session, made, replacing=False, quietly=False)
        self.declared[source.key] = source
        self._last[source.key] = cursor
        if "slot" not in cursor:
            self.load(source, found)
        else:
            with server.errors("looking for old slots"):
                server.drop_other_slots(prefix_of(cursor), cursor["slot"])

    def _find_cursor(self, source: Source, identifier: str) -> Cursor | None:
        cursor: Cursor | None = self.session.cursors.get(source.key)
        if cursor is None or self.session.catalog.table(source.name) is None:
            return None
        if (cursor["server"], cursor["table"]) != (identifier, source.table):
            raise QueryError(
                f"the source {source.name} is the table {cursor['table']} of another database or another table",
                hint=f"DROP TABLE {source.name} first, or give the new source another name",
            )
        return cursor

    def require_declared(self) -> None:
        """Refuses to refresh while the address of a source is not known."""
        for key in self.session.cursors:
            table = self.session.catalog.table(key)
            if table is not None and key not in self.declared:
                raise QueryError(
                    f"the source {table.name} was not declared in this program, so its server is not known",
                    hint=f"db.source({table.name!r}, postgres=..., table={self.session.cursors[key]['table']!r})",
                )

    # --- loading -------------------------------------------------------------------------------------------------

    def load(self, source: Source, found: ServerTable) -> None:
        """Makes the database hold the rows that the server holds now, and follows their changes from there."""
        session, server = self.session, source.server
        cursor = dict(session.cursors[source.key])
        cursor["number"] += 1
        cursor["slot"] = f"{prefix_of(cursor)}{cursor['number']}"
        with server.errors("reading the table"):
            server.drop_slot(cursor["slot"])
            server.publish(publication_of(cursor), found)
        with server.snapshot(cursor["slot"]) as (snapshot, lsn):
            cursor["lsn"] = lsn
            with server.errors("reading the table"):
                rows = self._read(source, found, snapshot)
            with Block(session, alone=True) as transaction:
                transaction.cursors[source.key] = cursor
                change = rows - session.table_rows(source.name)
                transaction.change(source.key, sorted(change.items(), key=lambda item: item[1]))
        with server.errors("dropping old slots"):
            server.drop_other_slots(prefix_of(cursor), cursor["slot"])

    def _read(self, source: Source, found: ServerTable, snapshot: str) -> ZSet:
        take = RowMaker(self.session, source, found, [c.name for c in found.columns])
        result, chunk = ZSet(), []
        for texts in source.server.copy(found, snapshot):
            chunk.append(take.values([None if t is None else t.encode() for t in texts]))
            if len(chunk) == CHUNK:
                _add(result, take.rows(chunk))
                chunk = []
        _add(result, take.rows(chunk))
        return result

    # --- columns -------------------------------------------------------------------------------------------------

    def follow_columns(self, source: Source, found: ServerTable) -> bool:
        """Gives the table the columns that the server's table has now; returns whether they were others."""
        held = {c.name: c for c in self.session.table(source.name).columns}
        theirs = {c.name: c for c in found.columns}
        for name, column in theirs.items():
            if name in held and held[name].type != column.type:
                raise QueryError(
                    f"{source.name}.{name} is {held[name].type}, and has become {column.type} in PostgreSQL",
                    hint=f"DROP TABLE {source.name}, and declare the source again",
                )
        table, target = quote_name(source.name), SessionTarget(self.session)
        gone = [n for n in held if n not in theirs]
        new = [c for n, c in theirs.items() if n not in held]
        for column in new:
            execute(target, f"ALTER TABLE {table} ADD COLUMN {quote_name(column.name)} {column.type}")
        for name in gone:
            execute(target, f"ALTER TABLE {table} DROP COLUMN {quote_name(name)}")
        return bool(gone or new)

    # --- the end -------------------------------------------------------------------------------------------------

    def forget_dropped(self) -> None:
        """Drops the slots of sources whose tables were dropped: a slot keeps the server from discarding its log."""
        for key, source in list(self.declared.items()):
            if self.session.catalog.table(source.name) is None:
                self._withdraw(source)
                del self.declared[key]

    def _withdraw(self, source: Source) -> None:
        cursor = self._last[source.key]
        with source.server.errors("dropping a slot"):
            source.server.drop_other_slots(prefix_of(cursor), "")
            source.server.connection.execute(
                f'DROP PUBLICATION IF EXISTS "{publication_of(cursor)}"'.encode()
            )

    def close(self) -> None:
        """Closes all connections. A database without a file forgets its cursors, so it drops its slots."""
        for source in self.declared.values():
            if self.session.keeper is None:
                try:
                    self._withdraw(source)
                except StorageError:
                    continue  # the server is not there; nothing more can be done
        for server in self._servers.values():
            server.close()


def _add(result: ZSet, rows: list[Row]) -> None:
    for row in rows:
        result.add(row, 1)


def prefix_of(cursor: Cursor) -> str:
    """Begins the names of all slots of a source."""
    return f"evercurrent_{cursor['id']}_"


def publication_of(cursor: Cursor) -> str:
    return f"evercurrent_{cursor['id']}"


def declare_table(name: str, found: ServerTable, key: tuple[str, ...]) -> Table:
    """Returns the table that holds the copy: its primary key is the server's, or the one that is given."""
    names = {c.name.lower(): c.name for c in found.columns}
    for k in key:
        if k.lower() not in names:
            raise QueryError(f"{found.text} has no column {k!r}", hint=f"it has {', '.join(names.values())}")
    primary = tuple(names[k.lower()] for k in key) or found.key or found.identity or ()
    columns = tuple(TableColumn(c.name, c.type, c.name not in primary) for c in found.columns)
    unique: tuple[Unique, ...] = ()
    if found.identity and set(found.identity) != set(primary):
        unique = (Unique(f"{name}_identity", found.identity),)
    return Table(name, columns, Unique(f"{name}_pk", primary) if primary else None, unique)


class RowMaker:
    """Makes rows of a table from the text of values, which come in the order of `names`."""

    def __init__(self, session: Session, source: Source, found: ServerTable, names: list[str]) -> None:
        self.reader = session.readers[source.key]
        columns = {c.name: c for c in found.columns}
        at = {name: i for i, name in enumerate(names)}
        self.parts = [
            (at[c.name], source.server.converter(columns[c.name], f"{source.name}.{c.name}"))
            for c in session.table(source.name).columns
        ]

    def values(self, texts: list[Any]) -> tuple[Any, ...]:
        """Returns the values in the order of the table, as a user would insert them."""
        return tuple([None if (t := texts[i]) is None else load(t) for i, load in self.parts])

    def rows(self, values: list[tuple[Any, ...]]) -> list[Row]:
        return self.reader.many(values)
