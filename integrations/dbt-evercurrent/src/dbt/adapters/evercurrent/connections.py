"""Connections of dbt to a database: one database, a cursor for each statement.

Every statement is a transaction of its own, unless its text says BEGIN and COMMIT: definitions cannot be part of a transaction
with changes, and dbt mixes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any, NoReturn

import dbt_common.exceptions
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, Credentials
from dbt.adapters.evercurrent.databases import database, release
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.sql import SQLConnectionManager

from evercurrent import EvercurrentError, TransactionError


@dataclass
class EvercurrentCredentials(Credentials):
    """A target of a profile: `path` is the file of a database, `warehouse` the folder of one on Spark."""

    database: str = "evercurrent"
    schema: str = "main"
    path: str | None = None
    warehouse: str | None = None
    spark: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.path is None) == (self.warehouse is None):
            raise dbt_common.exceptions.DbtRuntimeError(
                "a profile of type evercurrent names either a path (the file of a database) or a warehouse (a folder, on Spark)"
            )
        if "." in self.schema:
            raise dbt_common.exceptions.DbtRuntimeError(
                f"the schema {self.schema} has a dot, which parts a schema from a name; choose one without"
            )

    @property
    def type(self) -> str:
        return "evercurrent"

    @property
    def unique_field(self) -> str:
        return str(self.warehouse or self.path)

    def _connection_keys(self) -> tuple[str, ...]:
        return ("path", "warehouse", "database", "schema")


_statements = RLock()
"""Held while one text runs, so that a transaction between its BEGIN and COMMIT contains nothing else."""


class Cursor:
    """What dbt expects of a cursor: execute, description, fetchall, fetchmany, rowcount."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._result: Any = None

    def execute(self, sql: str, bindings: Any = None) -> Cursor:
        with _statements:
            db = self._handle.db
            try:
                self._result = db.execute(sql, list(bindings) if bindings else None)
            except BaseException:
                if re.search(r"\bbegin\s*;", sql, re.IGNORECASE):
                    with suppress(TransactionError):  # it failed before BEGIN, or after COMMIT
                        db.execute("ROLLBACK")
                raise
        return self

    @property
    def kind(self) -> str:
        return "" if self._result is None else self._result.kind

    @property
    def description(self) -> list[tuple[Any, ...]] | None:
        return None if self._result is None or not self._result.schema else self._result.description

    @property
    def rowcount(self) -> int:
        return 0 if self._result is None else self._result.rowcount

    def fetchall(self) -> list[tuple[Any, ...]]:
        return [tuple(map(_plain, row)) for row in self._result.fetchall()]

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        return [tuple(map(_plain, row)) for row in self._result.fetchmany(size)]

    def fetchone(self) -> tuple[Any, ...] | None:
        found = self.fetchmany(1)
        return found[0] if found else None

    def close(self) -> None:
        self._result = None


def _plain(value: Any) -> Any:
    """Returns a time in UTC without its zone, as dbt compares and prints times."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=None)
    return value


class Handle:
    """A connection's way to the database, which may be closed and opened again between two statements."""

    def __init__(self, credentials: EvercurrentCredentials) -> None:
        self._credentials = credentials

    @property
    def db(self) -> Any:
        c = self._credentials
        return database(c.path, c.warehouse, c.spark)

    def cursor(self) -> Cursor:
        return Cursor(self)

    def close(self) -> None:
        """Nothing to do: the database is closed at the end of the invocation."""

    def rollback(self) -> None:
        """Nothing to do: a statement that failed has changed nothing."""


class EvercurrentConnectionManager(SQLConnectionManager):
    TYPE = "evercurrent"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        handle = Handle(connection.credentials)  # type: ignore[arg-type]
        try:
            _ = handle.db
        except (EvercurrentError, ImportError) as problem:
            connection.state = ConnectionState.FAIL
            raise FailedToConnectError(str(problem)) from problem
        connection.handle = handle
        connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except EvercurrentError as problem:
            raise dbt_common.exceptions.DbtDatabaseError(str(problem)) from problem

    def cleanup_all(self) -> None:
        super().cleanup_all()
        credentials = self.profile.credentials
        release(credentials.path, credentials.warehouse)

    @classmethod
    def get_response(cls, cursor: Cursor) -> AdapterResponse:
        kind, count = cursor.kind or "OK", cursor.rowcount
        return AdapterResponse(_message=f"{kind} {count}" if count else kind, code=kind, rows_affected=count)

    def cancel(self, connection: Connection) -> NoReturn:
        raise dbt_common.exceptions.NotImplementedError("a statement cannot be cancelled")

    @classmethod
    def data_type_code_to_name(cls, type_code: int | str) -> str:
        return str(type_code)

    # Each statement commits by itself.

    def begin(self) -> Connection:
        return self.get_thread_connection()

    def commit(self) -> Connection:
        return self.get_thread_connection()
