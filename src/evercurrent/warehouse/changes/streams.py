"""Streams into tables: every micro-batch is one version.

Several streams may feed one warehouse; their batches take turns. If another driver has committed in between, the batch is
repeated on top of what that one has done: the log decides which batches count, so nothing is lost and nothing doubled.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.engine.spark.intake.streams import Streams, start
from evercurrent.engine.spark.storage.files import slug
from evercurrent.errors import ConflictError, QueryError

if TYPE_CHECKING:
    from evercurrent.statements.run_record import RunRecord
    from evercurrent.warehouse.database import Warehouse

TURNS = 10
"""So often a batch is repeated if other drivers are quicker each time."""


def stream(
    db: Warehouse,
    table: str | Mapping[str, Any],
    frame: Any,
    name: str | None,
    checkpoint: Any,
    once: bool,
    **options: Any,
) -> Any:
    """Start a query for one table, or one for each of several."""
    if not isinstance(table, Mapping):
        return one(db, table, frame, name, checkpoint, once, options)
    if frame is not None:
        raise QueryError("name one table and its frame, or give a mapping from tables to frames")
    for t in table:
        db._core.table(t)
    queries: dict[str, Any] = {}
    try:
        for t, f in table.items():
            called = None if name is None else f"{name}_{t}"
            place = None if checkpoint is None else os.path.join(os.fspath(checkpoint), slug(t))
            queries[t] = one(db, t, f, called, place, once, options)
    except BaseException:
        Streams(queries).stop()
        raise
    return Streams(queries)


def one(
    db: Warehouse,
    table: str,
    frame: Any,
    name: str | None,
    checkpoint: Any,
    once: bool,
    options: Mapping[str, Any],
) -> Any:
    own = db._core.table(table).name
    called = name or f"evercurrent_{own}"
    place = os.fspath(checkpoint) if checkpoint else db._core.engine.folder.path(f"streams/{slug(called)}")

    def apply(batch: Any, key: str) -> RunRecord:
        for _ in range(TURNS):
            try:
                return db.apply({own: batch}, batch=key, **options)
            except ConflictError:
                db.reload()
        return db.apply({own: batch}, batch=key, **options)

    return start(frame, called, place, apply, once)
