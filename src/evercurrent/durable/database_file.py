"""The file of a database in process: opened, closed, copied.

file = DatabaseFile(session, "shop.db", "full", False, None, ())      the session is what the file says
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from evercurrent.callables import require_callable
from evercurrent.durable.file import DURABILITIES, Durability, File
from evercurrent.durable.opening import open_file
from evercurrent.durable.reloading import reload
from evercurrent.errors import QueryError, TransactionError
from evercurrent.progress import Progress
from evercurrent.rows.arguments import require_choice
from evercurrent.session.session import Session
from evercurrent.term.handed_over import HandedOver


class DatabaseFile:
    """One open file."""

    def __init__(
        self,
        session: Session,
        path: str | os.PathLike[str],
        durability: Durability,
        read_only: bool,
        progress: Any,
        functions: Iterable[Any] | Mapping[str, Any],
    ) -> None:
        require_choice(durability, DURABILITIES, "durability")
        if progress is not None and not isinstance(progress, bool):
            require_callable(progress, "progress", "give a function of the name of a stage, or True or False")
        self.session = session
        self.functions = HandedOver(functions)
        self.file = File(path_text(path), durability, read_only)
        try:
            self.shown = Progress(progress)
            with self.shown.run():
                self.keeper = open_file(session, self.file, self.functions, self.shown.stage)
        except BaseException:
            self.file.close()
            raise

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def read_only(self) -> bool:
        return not self.file.writes

    def close(self) -> None:
        """Closes the file. Idempotent."""
        self.file.close()

    def reload(self) -> int:
        """Goes to the newest version of the file; returns its number."""
        with self.session.lock:
            if self.session.open_transaction() is not None:
                raise TransactionError("reload() cannot be part of a transaction")
            if self.read_only:
                with self.shown.run():
                    self.keeper = reload(self.keeper, self.shown.stage)
            return self.session.number

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies the file to another path."""
        target = os.path.abspath(path_text(path))
        if target == self.path:
            raise QueryError(f"{target} is the database itself", hint="give another path for the copy")
        with self.session.lock:
            self.file.backup(target)


def path_text(path: object) -> str:
    """Returns the path as a text."""
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)
        if isinstance(text, str) and text:
            return text
    raise QueryError(f"{path!r} is no path of a file", hint='ec.connect("shop.db")')
