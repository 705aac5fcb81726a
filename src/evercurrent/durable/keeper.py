"""Keeps a session in its file: what `session.keeping` asks for.

    the net change of each table, the log, the name of a batch, cursors of sources, the version      one transaction of SQLite

Law. The number of commits in the file grows by one with each transaction that is written. So whoever was interrupted while a
transaction was written can tell whether it was: the number says so.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.zset import ZSet
from evercurrent.definitions.listing import definitions_of
from evercurrent.durable.file import File
from evercurrent.durable.log import UNKNOWN, Log
from evercurrent.durable.stored_table import CHUNK, StoredTable
from evercurrent.errors import ConflictError, StorageError, UnsupportedError
from evercurrent.rows.results import Result
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Change
from evercurrent.session.python_views import HIDDEN
from evercurrent.session.session import Session
from evercurrent.session.transactions import Transaction
from evercurrent.statements.target import Definition
from evercurrent.term.handed_over import HandedOver, functions_in


class FileKeeper:
    """The file of one session."""

    def __init__(self, session: Session, file: File, known: HandedOver) -> None:
        self.session, self.file, self.known = session, file, known
        self.log = Log(file)
        self.tables: dict[str, StoredTable] = {}  # as the file has them
        self.definitions: dict[tuple[str, str], Definition] = {}
        self.commits = file.state("commits")
        self.defined = file.state("definitions")
        self.replaying = False  # whether what is committed comes from the file itself
        self._writing: Transaction | None = None  # the last one that was written, or begun to be
        self._expected = -1  # the number of commits once it is written
        self._defined_before = self.defined  # before the definitions that are being written
        # The tables and definitions that are being written, until they are those of the session.
        self._pending: tuple[dict[str, StoredTable], dict[tuple[str, str], Definition]] | None = None
        self._seen = file.rows("PRAGMA data_version")

    # --- transactions --------------------------------------------------------------------------------------------

    def write(self, transaction: Transaction, deltas: Mapping[str, ZSet]) -> None:
        if self.replaying or (
            transaction.number is None and transaction.batch is None and not transaction.cursors
        ):
            return
        self._require_writer()
        number = self.session.number if transaction.number is None else transaction.number
        with self.file.refusals("write the transaction"):
            try:
                with self.file.transaction() as connection:
                    self._writing, self._expected = transaction, self.commits + 1
                    self._require_unchanged()
                    for name, delta in deltas.items():
                        self.tables[name].change(connection, delta.weights)
                    self._write_beside(connection, number, transaction, deltas)
            except BaseException as problem:
                self._forget_unwritten()
                if not isinstance(problem, sqlite3.Error) or not self.has_written(transaction):
                    raise
        self.commits = self._expected

    def _write_beside(
        self,
        connection: sqlite3.Connection,
        number: int,
        transaction: Transaction,
        deltas: Mapping[str, ZSet],
    ) -> None:
        if deltas:
            self.log.append(number, self.tables, deltas)
        if transaction.batch is not None:
            connection.execute("INSERT INTO evercurrent_batches VALUES (?, ?)", (transaction.batch, number))
        for name, cursor in transaction.cursors.items():
            connection.execute(
                "INSERT OR REPLACE INTO evercurrent_sources VALUES (?, ?)", (name, json.dumps(cursor))
            )
        if self.session.space is not None:
            self.file.set_state("identities", self.session.space.identities)
        if transaction.classes_to_drop:
            self.file.set_classes_to_drop(transaction.classes_to_drop)
        connection.execute(
            "UPDATE evercurrent_state SET value = CASE name WHEN 'version' THEN ? ELSE ? END "
            "WHERE name IN ('version', 'commits')",
            (number, self.commits + 1),
        )

    def has_written(self, transaction: Transaction) -> bool:
        self.file.roll_back()
        if self._writing is not transaction:
            return False
        with self.file.refusals("be read"):
            self.commits = self.file.state("commits")
        return self.commits == self._expected

    def _require_writer(self) -> None:
        if not self.file.writes:
            raise self.file.read_only_error()

    def _require_unchanged(self) -> None:
        """Refuses to write over what another program has written, which nobody here has read."""
        if self.file.rows("PRAGMA data_version") != self._seen:
            raise ConflictError(
                f"{self.file.path} was changed by another program while it was open; nothing was changed",
                hint="close the database and open it again",
            )

    def _forget_unwritten(self) -> None:
        """Forgets what was noted of a transaction of SQLite that was taken back."""
        for table in self.tables.values():
            table.indexed = False
        self.log.held = UNKNOWN

    def batch(self, name: str) -> int | None:
        with self.file.refusals("be read"):
            return self.file.batch(name)

    def changes(self, node: Table | View, since: int) -> Result:
        from evercurrent.durable.history import changes_result

        return changes_result(self, node, since)

    def past(self, name: str, since: int) -> list[Change]:
        from evercurrent.durable.history import past_changes

        return past_changes(self, name, since)

    # --- definitions ---------------------------------------------------------------------------------------------

    def begin(self, catalog: Catalog, stores: Mapping[str, Store], emptied: Collection[str]) -> None:
        wanted = self._list_definitions(catalog)
        tables = self._tables_of(catalog, emptied)
        changed = [key for key, t in tables.items() if t is not self.tables.get(key)]
        gone = [key for key in self.tables if key not in tables]
        if wanted == self.definitions and not changed and not gone:
            return
        self._require_writer()
        with self.file.refusals("write the definitions"):
            connection = self.file.connection
            self._defined_before = self.defined
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._require_unchanged()
                for key in gone:
                    self.tables[key].drop(connection)
                    connection.execute("DELETE FROM evercurrent_sources WHERE name = ?", (key,))
                for key in changed:
                    tables[key].drop(connection)
                    tables[key].create(connection)
                    fill(connection, tables[key], stores[key])
                for key in (*gone, *changed):
                    self.log.forget(key, self.session.number)
                self._write_definitions(connection, wanted)
                self._pending = tables, wanted
            except BaseException:
                self.roll_back()
                raise

    def _write_definitions(
        self, connection: sqlite3.Connection, wanted: dict[tuple[str, str], Definition]
    ) -> None:
        for kind, name in self.definitions.keys() - wanted.keys():
            connection.execute(
                "DELETE FROM evercurrent_definitions WHERE kind = ? AND name = ?", (kind, name)
            )
        for (kind, name), definition in wanted.items():
            if self.definitions.get((kind, name)) != definition:
                connection.execute(
                    "INSERT OR REPLACE INTO evercurrent_definitions VALUES (?, ?, ?)",
                    (kind, name, json.dumps(definition, ensure_ascii=False)),
                )
        self.file.set_classes_to_drop(())
        self.file.set_state("definitions", self.defined + 1)

    def _list_definitions(self, catalog: Catalog) -> dict[tuple[str, str], Definition]:
        """Returns the definitions of a catalog; views without a name live as long as their holders, and are left out."""
        for view in catalog.views.values():
            if view.language == "python" and not view.name.startswith(HIDDEN):
                self.known.add(*functions_in(view.query))
        return {
            (d["kind"], d["name"]): json.loads(json.dumps(d))
            for d in definitions_of(catalog, self.known)
            if not d["name"].startswith(HIDDEN)
        }

    def _tables_of(self, catalog: Catalog, emptied: Collection[str]) -> dict[str, StoredTable]:
        result = {}
        for key, table in catalog.tables.items():
            require_kept(table)
            known = self.tables.get(key)
            same = known is not None and key not in emptied and known.has_shape_of(table)
            result[key] = known if same and known is not None else StoredTable(table)
        return result

    def commit(self) -> None:
        if self._pending is None:
            return
        with self.file.refusals("write the definitions"):
            self.file.connection.execute("COMMIT")

    def has_defined(self) -> bool:
        self.roll_back()
        return self._pending is not None

    def finish(self) -> None:
        if self._pending is not None:
            self.tables, self.definitions = self._pending
            self.defined = self._defined_before + 1
            self._pending = None

    def roll_back(self) -> None:
        self.file.roll_back()
        self._forget_unwritten()
        if self._pending is not None:
            with self.file.refusals("be read"):
                if self.file.state("definitions") == self._defined_before:
                    self._pending = None


def fill(connection: sqlite3.Connection, table: StoredTable, store: Store) -> None:
    """Writes all rows of a table that the file did not have."""
    rows = store.contents().weights
    items = list(rows.items())
    for start in range(0, len(items), CHUNK):
        table.change(connection, dict(items[start : start + CHUNK]))


def require_kept(table: Table) -> None:
    """Refuses a table whose rows cannot be read again when the file is opened."""
    if not table.stored:
        raise UnsupportedError(
            f"{table.name}: a table that is not stored cannot be kept in a file",
            hint="store it, or use a database without a file",
        )
    if not table.columns:
        raise StorageError(f"{table.name}: a table without columns cannot be kept in a file")
