"""Streams into tables: every micro-batch is one version.

Several streams may feed one warehouse; their batches take turns. If another driver has committed in between, the batch is
repeated on top of what that one has done: the log decides which batches count, so nothing is lost and nothing doubled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from evercurrent.engine.spark.intake.streams import Streams, start
from evercurrent.engine.spark.storage.files import slug
from evercurrent.errors import ConflictError, QueryError
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.core import Core

ATTEMPTS = 10
"""How often a batch is repeated if other drivers are faster each time."""

Apply = Callable[[str, Any, str], RunRecord]
"""Applies a micro-batch: the table, its rows, and the name of the batch."""


def stream(
    core: Core,
    table: str | Mapping[str, Any],
    frame: Any,
    name: str | None,
    checkpoint: Any,
    once: bool,
    apply: Apply,
    reload: Callable[[], object],
) -> Any:
    """Start a query for one table, or one for each of several."""
    if not isinstance(table, Mapping):
        return stream_table(core, table, frame, name, checkpoint, once, apply, reload)
    if frame is not None:
        raise QueryError("name one table and its frame, or give a mapping from tables to frames")
    for t in table:
        core.table(t)
    queries: dict[str, Any] = {}
    try:
        for t, f in table.items():
            called = None if name is None else f"{name}_{t}"
            place = None if checkpoint is None else os.path.join(os.fspath(checkpoint), slug(t))
            queries[t] = stream_table(core, t, f, called, place, once, apply, reload)
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
) -> Any:
    """Starts a query for one table."""
    own = core.table(table).name
    called = name or f"evercurrent_{own}"
    place = os.fspath(checkpoint) if checkpoint else core.engine.folder.path(f"streams/{slug(called)}")

    def apply_or_repeat(rows: Any, batch: str) -> RunRecord:
        for _ in range(ATTEMPTS):
            try:
                return apply(own, rows, batch)
            except ConflictError:
                reload()
        return apply(own, rows, batch)

    return start(frame, called, place, apply_or_repeat, once)
