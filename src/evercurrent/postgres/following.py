"""Takes in what has changed in all sources since the last time, as one transaction.

    peek at the slots      up to one position of each server's log, so that its tables fit together
      -> transaction       rows and cursors, all or nothing
      -> advance           the server may forget what is committed here

Law. A cursor moves in the transaction that takes the changes in. Whoever is killed before that peeks at the same changes again; whoever is
killed after it sees by the cursor that they are in already. So each counts once.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.errors import StorageError
from evercurrent.postgres import pgoutput
from evercurrent.postgres.pgoutput import UNCHANGED
from evercurrent.postgres.server import ServerTable
from evercurrent.postgres.sources import Cursor, RowMaker, Source, Sources, publication_of
from evercurrent.rows.pending import Pending
from evercurrent.session.session import Session
from evercurrent.session.transactions import Block, Transaction
from evercurrent.statements.run_record import RunRecord

Changes = list[pgoutput.Message]


class OtherColumns(Exception):
    """The server's table has had other columns in the middle of the log."""


def refresh(sources: Sources, full: Collection[str], batch: str | None) -> RunRecord:
    """Takes in all that is new; `full` are sources that are compared as a whole."""
    session, begin = sources.session, time.perf_counter()
    sources.forget_dropped()
    sources.require_declared()
    before = session.number
    notes: list[str] = []
    tables: dict[str, ServerTable] = {}
    for source in sources.declared.values():
        with source.server.errors("looking at the table"):
            tables[source.key] = source.server.table(source.table)
            lost = not source.server.has_slot(session.cursors[source.key].get("slot", ""))
        whole = source.key in full
        if sources.follow_columns(source, tables[source.key]):
            notes.append(f"{source.name}: it has other columns now, and was read as a whole")
            whole = True
        elif lost:
            notes.append(f"{source.name}: its slot was gone, and it was read as a whole")
        if whole or lost:
            sources.load(source, tables[source.key])
    rows_in: dict[str, int] = {}
    try:
        rows_in = follow(sources, tables, batch)
    except OtherColumns as found:
        source = sources.declared[str(found)]
        with source.server.errors("looking at the table"):
            table = source.server.table(source.table)
        sources.follow_columns(source, table)
        sources.load(source, table)
        notes.append(f"{source.name}: it has other columns now, and was read as a whole")
        if batch is None:
            rows_in = follow(sources, {**tables, source.key: table}, None)
    return RunRecord(
        session.number,
        batch,
        rows_in=rows_in,
        seconds=time.perf_counter() - begin,
        notes=tuple(notes) if session.number > before else (),
    )


def follow(sources: Sources, tables: dict[str, ServerTable], batch: str | None) -> dict[str, int]:
    """Takes in the changes of the slots; returns how many rows of each table have changed."""
    session = sources.session
    reached: dict[str, int] = {}
    waiting: dict[str, tuple[Source, Changes, Cursor]] = {}
    upto: dict[str, int] = {}
    for source in sources.declared.values():
        server, cursor = source.server, session.cursors[source.key]
        with server.errors("reading changes"):
            if server.address not in upto:
                upto[server.address] = server.find_flushed()
            found = server.peek(cursor["slot"], publication_of(cursor), upto[server.address])
        changes, last = after(found, cursor["lsn"])
        reached[source.key] = max(upto[server.address], last, cursor["lsn"])
        if changes:
            waiting[source.key] = source, changes, {**cursor, "lsn": reached[source.key]}
    rows_in: dict[str, int] = {}
    if waiting or batch is not None:
        with Block(session, alone=True, batch=batch) as transaction:
            for key, (_, _, cursor) in waiting.items():
                transaction.cursors[key] = cursor
            for key, (source, changes, _) in waiting.items():
                rows_in[source.name] = apply(session, transaction, source, tables[key], changes)
    for source in sources.declared.values():
        with source.server.errors("advancing a slot"):
            source.server.advance(session.cursors[source.key]["slot"], reached[source.key])
    return rows_in


def after(found: list[bytes], lsn: int) -> tuple[Changes, int]:
    """Returns the messages of the transactions after a position, and the end of the last transaction."""
    changes: Changes = []
    current: Changes = []
    last = 0
    for data in found:
        message = pgoutput.decode(data)
        match message:
            case pgoutput.Begin():
                current = []
            case pgoutput.Commit(end):
                # What relations look like is said once, maybe in a transaction that is in already.
                changes += current if end > lsn else [m for m in current if isinstance(m, pgoutput.Relation)]
                last = max(last, end)
            case None:
                pass
            case _:
                current.append(message)
    return (changes if any(not isinstance(m, pgoutput.Relation) for m in changes) else []), last


# --- one source ------------------------------------------------------------------------------------------------------


def apply(
    session: Session, transaction: Transaction, source: Source, table: ServerTable, changes: Changes
) -> int:
    """Applies the changes of a source to its table; returns how many there were."""
    follower: Follower | None = None
    count = 0
    for message in changes:
        if isinstance(message, pgoutput.Relation):
            follower = Follower(session, transaction.on(source.key), source, table, message)
            continue
        if follower is None:
            raise StorageError(f"{source.name}: PostgreSQL has sent a change before it has said of what")
        count += follower.take(message)
    return count


class Follower:
    """Applies the messages of one relation, as it looked at a time."""

    def __init__(
        self,
        session: Session,
        pending: Pending,
        source: Source,
        table: ServerTable,
        relation: pgoutput.Relation,
    ) -> None:
        names = [c.name for c in relation.columns]
        if set(names) != {c.name for c in table.columns}:
            raise OtherColumns(source.key)
        self.pending, self.source, self.table = pending, source, table
        self.make = RowMaker(session, source, table, names)
        at = {name: i for i, name in enumerate(names)}
        self.identity = [at[n] for n in table.identity or ()]
        columns = [c.name for c in session.table(source.name).columns]
        self.places = [columns.index(n) for n in table.identity or ()]
        self.index = pending.store.index_at(frozenset(self.places)) if self.places else None

    def take(self, message: pgoutput.Message) -> int:
        """Applies one message; returns how many rows it changes."""
        match message:
            case pgoutput.Insert(_, new):
                self.pending.change([(self._row(new), 1)])
            case pgoutput.Delete(_, old, whole):
                self.pending.change([(self._find(old, whole), -1)])
            case pgoutput.Update(_, old, whole, new):
                held = self._find(new if old is None else old, whole and old is not None)
                self.pending.change([(held, -1), (self._row(new, held), 1)])
            case pgoutput.Truncate():
                rows = list(self.pending)
                self.pending.change([(row, -1) for row in rows])
                return len(rows)
            case _:
                return 0
        return 1

    def _row(self, values: pgoutput.Values, held: Row | None = None) -> Row:
        """Returns the row of these values; those that were not sent are as in the row that is held."""
        texts: list[Any] = [None if v is UNCHANGED else v for v in values]
        row = self.make.rows([self.make.values(texts)])[0]
        if held is None or not any(v is UNCHANGED for v in values):
            return row
        kept = [values[at] is UNCHANGED for at, _ in self.make.parts]
        return tuple(old if stays else new for stays, old, new in zip(kept, held, row, strict=True))

    def _find(self, values: pgoutput.Values, whole: bool) -> Row:
        """Returns the row that is meant: by all its values, or by its replica identity."""
        if whole or self.index is None:
            return self._row(values)
        wanted: list[Any] = [None] * len(values)
        for at in self.identity:
            wanted[at] = values[at]
        key = self.index.key_of(self.make.rows([self.make.values(wanted)])[0])
        found = self.pending.find(self.index, key)
        if not found:
            raise StorageError(
                f"{self.source.name}: PostgreSQL has changed a row {key!r} that is not here",
                hint=f"db.refresh(full=[{self.source.name!r}]) reads the table as a whole",
            )
        return found[0]
