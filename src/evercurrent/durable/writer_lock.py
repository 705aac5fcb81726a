"""The writer's lock of a file: one process, and one database in it, may write at a time.

    lock = WriterLock("shop.db"); lock.take()      True, until `release`, or until the process ends in whatever way

The lock is that of SQLite on an empty database beside the file, `shop.db-lock`. So it holds wherever SQLite's own locks hold, a child of
`fork` does not inherit it, and a process that is killed gives it up.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress


class WriterLock:
    """The lock of one file."""

    def __init__(self, path: str) -> None:
        self.path = f"{path}-lock"
        self._connection: sqlite3.Connection | None = None

    def take(self) -> bool:
        """Takes the lock, unless another has it. Raises `sqlite3.Error` where there can be no lock."""
        while True:
            connection = sqlite3.connect(
                self.path, timeout=0.0, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode=MEMORY")  # nothing of it is to be recovered
                before = _identity(self.path)
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as problem:
                connection.close()
                if problem.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return False
                raise
            if before is not None and before == _identity(self.path):
                self._connection = connection
                return True
            connection.close()  # its last holder has just removed the file: a lock on it would hold nobody off

    def release(self) -> None:
        """Gives the lock up. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(OSError):
                os.remove(self.path)
            connection.close()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
