"""One server of PostgreSQL: its catalog, and what logical replication needs of it.

    server = Server("postgresql://localhost/shop")
    with server.snapshot("evercurrent_1a2b_1") as (snapshot, lsn): ...      a slot, and the rows as they were where it begins

Connections are opened when they are needed, and again after one was lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from evercurrent.data.types import Type
from evercurrent.errors import QueryError, StorageError
from evercurrent.postgres.column_types import Convert, converter, type_of

SETTINGS = (
    "SET timezone = 'UTC'",
    "SET datestyle = 'ISO'",
    "SET intervalstyle = 'iso_8601'",
    "SET bytea_output = 'hex'",
    "SET extra_float_digits = 1",
)
WAIT = 10


@dataclass(frozen=True)
class ServerColumn:
    """A column of a table, as the server's catalog has it."""

    name: str
    oid: int
    modifier: int
    nullable: bool

    @property
    def type(self) -> Type:
        return type_of(self.oid, self.modifier)


@dataclass(frozen=True)
class ServerTable:
    """A table of a server. `key` is its primary key; `identity` are the columns that changes name old rows by, None: all."""

    oid: int
    schema: str
    name: str
    columns: tuple[ServerColumn, ...]
    key: tuple[str, ...]
    identity: tuple[str, ...] | None

    @property
    def text(self) -> str:
        return f"{self.schema}.{self.name}"


class Server:
    """One database of one server."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._connection: psycopg.Connection[Any] | None = None

    # --- connection ----------------------------------------------------------------------------------------------

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The connection for everything but slots."""
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
            for setting in SETTINGS:
                self._connection.execute(setting)
        return self._connection

    def _connect(self, **options: Any) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(self.address, autocommit=True, connect_timeout=WAIT, **options)
        except psycopg.ProgrammingError as problem:
            raise QueryError(
                f"this is no address of a PostgreSQL database: {_describe_problem(problem)}"
            ) from problem
        except psycopg.OperationalError as problem:
            raise StorageError(f"PostgreSQL cannot be reached: {_describe_problem(problem)}") from problem

    def close(self) -> None:
        """Closes the connection. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Makes what PostgreSQL raises an error of ours; a lost connection is opened again by the next call."""
        try:
            yield
        except psycopg.OperationalError as problem:
            self.close()
            raise StorageError(
                f"PostgreSQL was lost while {what}: {_describe_problem(problem)}",
                hint="nothing was changed; call it again",
            ) from problem
        except psycopg.Error as problem:
            raise StorageError(f"PostgreSQL has refused {what}: {_describe_problem(problem)}") from problem

    def rows(self, text: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.connection.execute(text.encode(), parameters or None).fetchall()
        return found

    def slot_rows(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Asks a slot; waits while the server still answers a program that was killed."""
        end = time.monotonic() + WAIT
        while True:
            try:
                return self.rows(text, parameters)
            except psycopg.errors.ObjectInUse:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def converter(self, column: ServerColumn, what: str) -> Convert:
        return converter(self.connection, column.oid, what)

    # --- catalog -------------------------------------------------------------------------------------------------

    def identifier(self) -> str:
        """Returns what tells this server and database from all others."""
        (found,) = self.rows(
            "SELECT system_identifier::text || '/' || current_database() FROM pg_control_system()"
        )
        return str(found[0])

    def require_logical(self) -> None:
        """Refuses a server that keeps no log of logical changes."""
        (level,) = self.rows("SELECT current_setting('wal_level')")[0]
        if level != "logical":
            raise StorageError(
                f"PostgreSQL keeps no log of logical changes: wal_level is {level}",
                hint="set wal_level = logical in postgresql.conf, and restart the server",
            )

    def table(self, name: str) -> ServerTable:
        """Returns a table by its name, `schema.table` or `table`, as SQL would find it."""
        (found,) = self.rows("SELECT to_regclass(%s)::oid", (name,))[0]
        if found is None:
            raise QueryError(f"PostgreSQL has no table {name!r}", hint="table='schema.table'")
        schema, relation, kind, identity = self.rows(
            "SELECT n.nspname, c.relname, c.relkind::text, c.relreplident::text FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s",
            (found,),
        )[0]
        if kind not in ("r", "p"):
            raise QueryError(f"{name} is no table of PostgreSQL, and only tables have changes to follow")
        columns = tuple(
            ServerColumn(n, oid, modifier, not required)
            for n, oid, modifier, required in self.rows(
                "SELECT attname, CASE typtype WHEN 'd' THEN typbasetype ELSE atttypid END::bigint, "
                "CASE typtype WHEN 'd' THEN typtypmod ELSE atttypmod END, attnotnull "
                "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE attrelid = %s AND attnum > 0 "
                "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
                (found,),
            )
        )
        key = self._index_columns(found, "indisprimary")
        named: tuple[str, ...] | None = None
        if identity == "d":
            named = key
        elif identity == "i":
            named = self._index_columns(found, "indisreplident")
        if identity != "f" and not named:
            raise QueryError(
                f"{name}: PostgreSQL would not say which rows of it are updated and deleted, for it has "
                f"{'no primary key' if identity == 'd' else 'no replica identity'}",
                hint=f"ALTER TABLE {schema}.{relation} REPLICA IDENTITY FULL, or give it a primary key",
            )
        return ServerTable(found, schema, relation, columns, key, named)

    def _index_columns(self, table: int, which: str) -> tuple[str, ...]:
        found = self.rows(
            "SELECT a.attname FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (number, place) "
            f"JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number WHERE i.indrelid = %s AND i.{which} "
            "AND k.place <= i.indnkeyatts ORDER BY k.place",
            (table,),
        )
        return tuple(n for (n,) in found)

    # --- slots ---------------------------------------------------------------------------------------------------

    def publish(self, name: str, table: ServerTable) -> None:
        """Makes the publication of a table, unless it is there."""
        if not self.rows("SELECT 1 FROM pg_publication WHERE pubname = %s", (name,)):
            self.connection.execute(
                sql.SQL("CREATE PUBLICATION {} FOR TABLE {} WITH (publish_via_partition_root = true)").format(
                    sql.Identifier(name), sql.Identifier(table.schema, table.name)
                )
            )

    @contextmanager
    def snapshot(self, slot: str) -> Iterator[tuple[str, int]]:
        """Makes a slot, and holds the snapshot of the rows where its changes begin; drops the slot if the block fails."""
        with self.errors("a slot was made"):
            maker = self._connect(replication="database")
        try:
            with self.errors("a slot was made"):
                made = maker.execute(
                    sql.SQL("CREATE_REPLICATION_SLOT {} LOGICAL pgoutput EXPORT_SNAPSHOT").format(
                        sql.Identifier(slot)
                    )
                ).fetchone()
            assert made is not None
            try:
                yield made[2], lsn_of(made[1])
            except BaseException:
                with suppress(Exception):
                    self.drop_slot(slot)
                raise
        finally:
            with suppress(psycopg.Error):
                maker.close()

    def copy(self, table: ServerTable, snapshot: str) -> Iterator[tuple[str | None, ...]]:
        """Yields the rows of a table as a snapshot has them, as text."""
        with self._connect() as connection:
            for setting in SETTINGS:
                connection.execute(setting)
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
                names = sql.SQL(", ").join(sql.Identifier(c.name) for c in table.columns)
                query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
                    names, sql.Identifier(table.schema, table.name)
                )
                with connection.cursor().copy(query) as copy:
                    yield from copy.rows()

    def has_slot(self, slot: str) -> bool:
        """Returns whether a slot is there, and all that it needs of the log."""
        return bool(
            self.rows(
                "SELECT 1 FROM pg_replication_slots WHERE slot_name = %s AND wal_status IS DISTINCT FROM 'lost'",
                (slot,),
            )
        )

    def drop_slot(self, slot: str) -> None:
        """Drops a slot, if it is there."""
        self.rows(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s",
            (slot,),
        )

    def drop_other_slots(self, prefix: str, slot: str) -> None:
        """Drops the slots of a source that an earlier attempt has left."""
        self.rows(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE starts_with(slot_name, %s) AND slot_name <> %s AND NOT active",
            (prefix, slot),
        )

    def find_flushed(self) -> int:
        """Returns how far the log of the server is safely written."""
        return lsn_of(self.rows("SELECT pg_current_wal_flush_lsn()::text")[0][0])

    def peek(self, slot: str, publication: str, upto: int) -> list[bytes]:
        """Returns the messages of a slot up to a position, which stay in the slot."""
        return [
            data
            for (data,) in self.slot_rows(
                "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s::pg_lsn, NULL, 'proto_version', '1', "
                "'publication_names', %s)",
                (slot, lsn_text(upto), f'"{publication}"'),
            )
        ]

    def advance(self, slot: str, lsn: int) -> None:
        """Tells the server that everything up to a position is in our file."""
        self.slot_rows(
            "SELECT pg_replication_slot_advance(slot_name, %s::pg_lsn) FROM pg_replication_slots "
            "WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn",
            (lsn_text(lsn), slot, lsn_text(lsn)),
        )


def lsn_of(text: str) -> int:
    """Returns the number of a position in the log.

    >>> lsn_of("1/16B3748") == (1 << 32) + 0x16B3748
    True
    """
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def lsn_text(lsn: int) -> str:
    """Returns a position as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def _describe_problem(problem: Exception) -> str:
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
