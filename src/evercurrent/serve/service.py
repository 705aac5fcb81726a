"""What all routes share: the database, and a log of changes for each relation that somebody follows.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1), (2)")
>>> service = Service(db, writes=True)
>>> service.page("table", service.relation("table", "T"), offset=1, limit=10)
(1, [(2,)], 2)
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from evercurrent.errors import QueryError, TransactionError
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.export import arrow_table
from evercurrent.serve.change_log import ChangeLog
from evercurrent.serve.following import Following
from evercurrent.serve.metrics import Metrics
from evercurrent.serve.relay import Relay
from evercurrent.serve.studio.inspection import inspection_of

if TYPE_CHECKING:
    import pyarrow

    from evercurrent.data.zset import Row
    from evercurrent.rows.subscriptions import Change
    from evercurrent.serve.database import ServedDatabase, ServedRows

REMEMBERED_BATCHES = 100_000


class Unknown(QueryError):
    """There is no table or view of this name."""


class Service:
    """What the routes share: the database, and a log of changes for each relation that somebody follows."""

    def __init__(self, database: ServedDatabase, *, writes: bool) -> None:
        self.database = database
        self.writes = writes
        self.metrics = Metrics()
        self.inspection = inspection_of(database)
        # Versions of a database in memory begin again with every process; the mark tells them apart.
        self.mark = "" if self.inspection.durable else f"@{secrets.token_hex(4)}"
        self.logs: dict[tuple[str, str], ChangeLog] = {}
        self.relay: Relay | None = None
        self.batches: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()
        look = self.inspection.look
        self.following = None if look is None else Following(look)

    # --- reading -------------------------------------------------------------------------------------------

    def relation(self, kind: str, name: str) -> ServedRows:
        """The table or view of a name, in any case."""
        names = self.database.views if kind == "view" else self.database.tables
        found = next((n for n in names if n.lower() == name.lower()), None)
        if found is None:
            raise Unknown(f"there is no {kind} {name[:100]!r}", hint=f"GET /{kind}s lists them")
        handle = self.database.view(found) if kind == "view" else self.database.table(found)
        return cast("ServedRows", handle)

    def snapshot(self, relation: ServedRows) -> tuple[int, list[Any]]:
        """All rows, and the version that they are of."""
        with self.inspection.hold():
            return self.database.version, relation.rows()

    def page(
        self, kind: str, relation: ServedRows, offset: int, limit: int | None
    ) -> tuple[int, list[Any], int]:
        """Returns the version, at most `limit` rows from `offset` on, and the number of all rows. Reads no more than it must."""
        found = self.internal_page(kind, relation, offset, limit)
        if found is not None:
            version, rows, count = found
            give = row_writer(relation.schema)
            return version, [give(row) for row in rows], count
        version, rows = self.snapshot(relation)
        return version, rows[offset : None if limit is None else offset + limit], len(rows)

    def arrow_page(
        self, kind: str, relation: ServedRows, offset: int, limit: int | None
    ) -> tuple[int, pyarrow.Table]:
        """The same as an Arrow table."""
        found = self.internal_page(kind, relation, offset, limit)
        if found is not None:
            return found[0], arrow_table(relation.schema, found[1])
        with self.inspection.hold():
            version, table = self.database.version, relation.arrow()
        return version, table.slice(offset, limit)

    def internal_page(
        self, kind: str, relation: ServedRows, offset: int, limit: int | None
    ) -> tuple[int, list[Row], int] | None:
        """Version, rows and count; None if the rows have an order or are no rows, or all of them are wanted."""
        declared = self.inspection.catalog.relation(relation.name)
        if limit is None or declared is None or getattr(declared, "language", "sql") == "oql":
            return None
        if getattr(declared, "order", ()) or getattr(declared, "inline", False):
            return None
        with self.inspection.hold():
            rows, count = self.inspection.page(kind, relation.name, offset, limit)
            if count is None:
                count = sum(weight for _, weight in self.inspection.entries(kind, relation.name))
            return self.database.version, rows, count

    def key(self, kind: str, relation: ServedRows) -> tuple[str, ...]:
        """Columns that identify a row: the primary key of a table, or a key that the compiler has found for a view."""
        if kind == "table":
            return tuple(getattr(relation, "primary_key", ()))
        known = self.inspection.design.keys.get(relation.name, ())
        return min(known, key=len, default=())

    def log(self, kind: str, name: str, loop: asyncio.AbstractEventLoop) -> ChangeLog:
        """Returns the log of a relation's changes; opened for the first follower, and kept from then on."""
        relation = self.relation(kind, name)
        with self._lock:
            key = (kind, name.lower())
            found = self.logs.get(key)
            if found is None or found.loop is not loop or not found.subscription.active:
                if found is not None:
                    found.close()
                found = self.logs[key] = ChangeLog(self.inspection, relation.name, relation, loop)
            return found

    def relay_on(self, loop: asyncio.AbstractEventLoop) -> Relay:
        """The process that holds the connections of streams, as a server's thread sees it."""
        if self.relay is None or self.relay.loop is not loop:
            self.relay = Relay(loop, self.mark)
        return self.relay

    def since(self, log: ChangeLog, version: int) -> list[Change] | None:
        """The changes after a version; those that the log has not seen are read from where versions are kept."""
        found = log.since(version)
        if found is None and self.inspection.durable:
            log.reach_back(self.inspection, version)
            found = log.since(version)
        return found

    # --- writing -------------------------------------------------------------------------------------------

    def require_writes(self) -> None:
        if not self.writes:
            raise TransactionError("this server only reads", hint="serve with writes=True")

    def execute(self, sql: str, parameters: Any) -> Any:
        """Runs statements. A transaction ends with the text that begins it: requests of others run in the same threads."""
        try:
            result = self.database.execute(sql, parameters)
        except BaseException:
            self._undo_open_transaction()
            raise
        if self._undo_open_transaction():
            raise TransactionError(
                "the text begins a transaction that it does not end; it was undone",
                hint="send BEGIN; ...; COMMIT as one text, or POST /changes",
            )
        return result

    def _undo_open_transaction(self) -> bool:
        """Whether this thread had a transaction that BEGIN began; it is undone."""
        try:
            self.database.execute("ROLLBACK")
        except TransactionError:
            return False
        return True

    def apply(self, changes: dict[str, Any], batch: str | None) -> dict[str, Any]:
        """Applies change feeds in one transaction. A batch that was applied already changes nothing."""
        self.require_writes()
        if batch is not None and self.inspection.durable:  # it remembers the names of batches itself
            run = self.database.apply(changes, batch=batch)
            return {"version": run.version, "applied": not run.repeated}
        with self._lock:
            if batch is not None and batch in self.batches:
                return {"version": self.batches[batch], "applied": False}
            self.database.apply(changes)
            version = self.database.version
            if batch is not None:
                self.batches[batch] = version
                while len(self.batches) > REMEMBERED_BATCHES:
                    self.batches.popitem(last=False)
            return {"version": version, "applied": True}

    def close(self) -> None:
        if self.following is not None:
            self.following.stop()
        if self.relay is not None:
            self.relay.stop()
        for log in self.logs.values():
            log.close()
