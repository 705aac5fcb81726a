"""The file of a database: SQLite in WAL mode, with tables of users as tables and what else is kept in tables of its own.

    evercurrent_definitions      tables, views, assertions, classes, names: as JSON
    evercurrent_state            the version, how often definitions have changed, where the log begins
    evercurrent_batches          the names of batches, each with its version
    evercurrent_sources          how far each source has been read
    evercurrent_log              the net change of each table by each version, as far back as it is kept

A file is recognised by SQLite's `application_id` and `user_version`. One that something else has made, or that is damaged, is refused
before anything is read from it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from evercurrent.durable.writer_lock import WriterLock
from evercurrent.errors import ConflictError, StorageError
from evercurrent.statements.target import Definition

APPLICATION = 0x65766372
FORMAT = 1
WAIT = 5.0
"""Seconds for which SQLite waits for another connection, which may be making a backup."""

Durability = Literal["full", "normal", "off"]
DURABILITIES: tuple[Durability, ...] = ("full", "normal", "off")

TABLES = """
CREATE TABLE evercurrent_definitions (kind TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL, PRIMARY KEY (kind, name));
CREATE TABLE evercurrent_state (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
CREATE TABLE evercurrent_batches (name TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE evercurrent_sources (name TEXT PRIMARY KEY NOT NULL, cursor TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE evercurrent_log (version INTEGER NOT NULL, name TEXT NOT NULL, rows INTEGER NOT NULL, changes TEXT NOT NULL);
CREATE INDEX evercurrent_log_by_version ON evercurrent_log (version, name);
INSERT INTO evercurrent_state VALUES ('version', 0), ('commits', 0), ('definitions', 0), ('log_from', 0), ('writer', 0);
"""


class File:
    """One connection to the file. `writes`: whether this process holds the writer's lock."""

    def __init__(self, path: str, durability: Durability, read_only: bool) -> None:
        self.path = os.path.abspath(path)
        self.process = os.getpid()
        self.lock = WriterLock(self.path)
        self.writes = False
        self._connection: sqlite3.Connection | None = None
        try:
            with self.refusals("open"):
                self.writes = not read_only and self.lock.take()
                existed = os.path.exists(self.path) and os.path.getsize(self.path) > 0
                if not existed and not self.writes:
                    raise StorageError(f"there is no database {self.path} yet")
                self._open(existed, durability)
        except BaseException:
            self.close()
            raise

    def _open(self, existed: bool, durability: Durability) -> None:
        self._connection = connection = sqlite3.connect(
            self.path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        if existed and not self._recognise():
            existed = False
        if not self.writes:
            connection.execute("PRAGMA query_only=ON")
            return
        if not existed:
            with self.transaction():
                for statement in TABLES.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={durability.upper()}")
        self.set_state("writer", os.getpid())

    def _recognise(self) -> bool:
        """Refuses a file that is not ours; returns False for an SQLite database in which there is nothing at all."""
        application, version = self._pragma("application_id"), self._pragma("user_version")
        if application != APPLICATION:
            if not application and not version and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
                return False
            raise StorageError(
                f"{self.path} is an SQLite database that was not made by evercurrent",
                hint="give another path; its tables can be copied into a new database",
            )
        if version != FORMAT:
            raise StorageError(
                f"{self.path} has format {version}, and this version of evercurrent reads format {FORMAT}",
                hint="open it with the version of evercurrent that wrote it",
            )
        found = [text for (text,) in self.rows("PRAGMA quick_check(3)")]
        if found != ["ok"]:
            raise StorageError(
                f"{self.path} is damaged: {'; '.join(map(str, found))}", hint="restore it from a backup"
            )
        return True

    def _pragma(self, name: str) -> Any:
        return self.rows(f"PRAGMA {name}")[0][0]

    # --- connection ----------------------------------------------------------------------------------------------

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection; refused once it is closed, and in a child of `fork`."""
        if self._connection is None:
            raise StorageError(f"{self.path} is closed", hint="ec.connect(path) opens it again")
        if self.process != os.getpid():
            raise StorageError(
                f"{self.path} was opened by another process, of which this one is a copy",
                hint="open it again in this process: ec.connect(path)",
            )
        return self._connection

    @contextmanager
    def refusals(self, what: str) -> Iterator[None]:
        """Makes what SQLite raises an error of ours."""
        try:
            yield
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as problem:
            raise StorageError(
                f"{self.path}: SQLite could not {what}: {problem}", hint="nothing was changed"
            ) from problem

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction of SQLite: all of it or nothing."""
        connection = self.connection
        if not self.writes:
            raise self.read_only_error()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            self.roll_back()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything that is read inside is of one version, whatever others write."""
        connection = self.connection
        connection.execute("BEGIN")
        try:
            yield
        finally:
            self.roll_back()

    def roll_back(self) -> None:
        """Ends the transaction that is open, if one is. Idempotent."""
        connection = self._connection
        if connection is not None and connection.in_transaction and self.process == os.getpid():
            connection.execute("ROLLBACK")

    def read_only_error(self) -> ConflictError:
        """Returns the error of a change by a database that only reads."""
        writer = 0
        with suppress(sqlite3.Error, StorageError):
            writer = self.state("writer")
        return ConflictError(
            f"{self.path} was opened for reading, because another database writes it"
            f"{f' (process {writer})' if writer else ''}; nothing was changed",
            hint="close the other one and open this one again",
        )

    def close(self) -> None:
        """Closes the file and gives up the writer's lock. Idempotent."""
        connection, self._connection = self._connection, None
        if self.process != os.getpid():
            _KEPT_OPEN.append((connection, self.lock))
            return
        try:
            if connection is not None:
                with suppress(sqlite3.Error):
                    if self.writes:
                        connection.execute("PRAGMA optimize")
                connection.close()
        finally:
            self.lock.release()

    def backup(self, path: str) -> None:
        """Copies the file as it is now; what lies at the path is replaced once the copy is whole."""
        part = f"{path}.part"
        with self.refusals("make a backup"):
            target = sqlite3.connect(part)
            try:
                self.connection.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")
            finally:
                target.close()
            os.replace(part, path)

    # --- reading -------------------------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, parameters).fetchall()

    def state(self, name: str) -> int:
        """Returns a number that the file keeps; 0 if it does not."""
        found = self.rows("SELECT value FROM evercurrent_state WHERE name = ?", (name,))
        return int(found[0][0]) if found else 0

    def set_state(self, name: str, value: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO evercurrent_state VALUES (?, ?)", (name, value))

    def classes_to_drop(self) -> list[str]:
        """Returns the classes whose objects were deleted, and that were not dropped because the process ended in between."""
        found = self.rows("SELECT value FROM evercurrent_state WHERE name = 'classes_to_drop'")
        return [str(name) for name in json.loads(found[0][0])] if found else []

    def set_classes_to_drop(self, names: Collection[str]) -> None:
        if names:
            self.connection.execute(
                "INSERT OR REPLACE INTO evercurrent_state VALUES ('classes_to_drop', ?)",
                (json.dumps([*names]),),
            )
        else:
            self.connection.execute("DELETE FROM evercurrent_state WHERE name = 'classes_to_drop'")

    def definitions(self) -> dict[tuple[str, str], Definition]:
        """Returns all definitions, by kind and name."""
        found: dict[tuple[str, str], Definition] = {}
        for kind, name, text in self.rows("SELECT kind, name, definition FROM evercurrent_definitions"):
            try:
                value = json.loads(text)
            except ValueError:
                value = None
            if not isinstance(value, dict) or (value.get("kind"), value.get("name")) != (kind, name):
                raise StorageError(f"{self.path}: the definition of {kind} {name} cannot be read")
            found[kind, name] = value
        return found

    def batch(self, name: str) -> int | None:
        """Returns the version of a batch, None if it was not applied."""
        found = self.rows("SELECT version FROM evercurrent_batches WHERE name = ?", (name,))
        return found[0][0] if found else None

    def cursors(self) -> dict[str, Any]:
        """Returns how far each source has been read."""
        return {name: json.loads(text) for name, text in self.rows("SELECT * FROM evercurrent_sources")}


_KEPT_OPEN: list[object] = []
"""Connections of a parent process. SQLite forbids a child of `fork` to close them."""
