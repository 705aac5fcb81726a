"""Streams into tables: every micro-batch is one version.

Several streams may feed one warehouse; their batches take turns. If another driver has committed in between, the batch is
repeated on top of that commit: the log decides which batches count, so nothing is lost and nothing is applied twice.

    query = db.stream("orders", frame, once=True); query.awaitTermination()
    db.history()[-1].batch                                  'stream evercurrent_orders d3c90e0b-c0d3-40ee-9aac-64ffa3b182c8 0'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from evercurrent.catalog.rules import positions
from evercurrent.engine.spark.intake.messages.decoding import decode_messages, insertions
from evercurrent.engine.spark.intake.messages.options import Messages, read_options
from evercurrent.engine.spark.intake.streams import Streams, start
from evercurrent.engine.spark.storage.files import slug
from evercurrent.errors import ConflictError, QueryError
from evercurrent.statements.options import OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes.apply import apply as apply_feeds
from evercurrent.warehouse.changes.upserts import apply_upserts, require_primary_key
from evercurrent.warehouse.core import Core

ATTEMPTS = 10
"""How often a batch is repeated if other drivers are faster each time."""

Apply = Callable[[str, Any, str], RunRecord]
"""Applies a micro-batch: the table, its rows, and the name of the batch."""


def message_options(format: Any, options: Mapping[str, Any] | None) -> Messages | None:
    """Returns how messages are read; None where rows are not messages."""
    if format is None:
        if options:
            raise QueryError("options are for messages, and the stream has no format", hint="format='json'")
        return None
    return read_options(format, options)


def apply_messages(
    core: Core, name: str, frame: Any, messages: Messages, batch: str, on_violation: OnViolation
) -> RunRecord:
    """Applies a micro-batch of messages as one version, unless it was applied already."""
    done = core.engine.log.batch(batch)
    if done is not None:
        return RunRecord(done, batch, repeated=True)
    table = core.table(name)
    key = positions(table, table.primary_key.columns) if table.primary_key else ()
    rows = decode_messages(frame, table.fields, key, messages)
    if messages.upsert:
        return apply_upserts(core, table.name, rows, batch, on_violation)
    return apply_feeds(core, {table.name: insertions(rows, table.fields)}, batch, on_violation)


def require_messages(core: Core, table: str, frame: Any, messages: Messages) -> None:
    """Refuses, before the stream starts, a table or a frame that messages of this format cannot be read into."""
    if messages.upsert:
        require_primary_key(core.table(table))
    decode_messages(frame, core.table(table).fields, (), messages)


def stream(
    core: Core,
    table: str | Mapping[str, Any],
    frame: Any,
    name: str | None,
    checkpoint: Any,
    once: bool,
    apply: Apply,
    reload: Callable[[], object],
    messages: Messages | None = None,
) -> Any:
    """Start a query for one table, or one for each of several."""
    if not isinstance(table, Mapping):
        return stream_table(core, table, frame, name, checkpoint, once, apply, reload, messages)
    if frame is not None:
        raise QueryError("name one table and its frame, or give a mapping from tables to frames")
    for t in table:
        core.table(t)
    queries: dict[str, Any] = {}
    try:
        for t, f in table.items():
            called = None if name is None else f"{name}_{t}"
            place = None if checkpoint is None else os.path.join(os.fspath(checkpoint), slug(t))
            queries[t] = stream_table(core, t, f, called, place, once, apply, reload, messages)
    except BaseException:
        Streams(queries).stop()
        raise
    return Streams(queries)


def stream_table(
    core: Core,
    table: str,
    frame: Any,
    name: str | None,
    checkpoint: Any,
    once: bool,
    apply: Apply,
    reload: Callable[[], object],
    messages: Messages | None = None,
) -> Any:
    """Starts a query for one table."""
    own = core.table(table).name
    called = name or f"evercurrent_{own}"
    if messages is not None:
        require_messages(core, own, frame, messages)
    disk = core.engine.folder.disk
    if not checkpoint and disk.remote and not disk.by_spark:
        raise QueryError(
            f"the stream into {own} needs a checkpoint: Spark writes it, and the warehouse is in an object store",
            hint=f"db.stream({own!r}, frame, checkpoint=...), a folder that the session reaches",
        )
    place = os.fspath(checkpoint) if checkpoint else core.engine.folder.path(f"streams/{slug(called)}")

    def apply_or_repeat(rows: Any, batch: str) -> RunRecord:
        for _ in range(ATTEMPTS):
            try:
                return apply(own, rows, batch)
            except ConflictError:
                reload()
        return apply(own, rows, batch)

    return start(frame, called, place, apply_or_repeat, once, messages is None)
