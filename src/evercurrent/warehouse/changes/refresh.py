"""Take in what has changed in all sources, as one version.

How far we have looked in each source (its cursor) is part of every version and moves with the commit that takes its changes
in: so no change is lost and none counts twice.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace

from evercurrent.engine.spark.sources.changes import change_of
from evercurrent.engine.spark.sources.nodes import Change
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.errors import QueryError
from evercurrent.statements.options import OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes.apply import take_in_sources
from evercurrent.warehouse.changes.quarantine import ensure, plus_aside
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.sources import follow_columns, sources_of


def refresh(
    core: Core, full: Collection[str], batch: str | None, on_violation: OnViolation = "refuse"
) -> RunRecord | None:
    """One version with all that is new; None if nothing is."""
    begin = time.perf_counter()
    names = list(sources_of(core.present))
    for name in full:
        if name.lower() not in {n.lower() for n in names}:
            raise QueryError(f"there is no source {name!r}", hint=f"there are {', '.join(names) or 'none'}")
    whole = {name.lower() for name in full}
    if on_violation == "quarantine":
        ensure(core)
    notes = follow_columns(core)
    cursors = dict(core.snapshot.sources)
    changes: dict[str, Change] = {}
    for name, source in sources_of(core.present).items():
        core.progress.stage(f"looking at {name}")
        held = core.present.table_rows(name)
        if name.lower() not in whole:
            held = plus_aside(core, name, held)
        changes[name] = change_of(core.engine, source, cursors.get(name, {}), held, name.lower() in whole)
        cursors[name] = dict(changes[name].cursor)
    segments: dict[str, Segment] = {n.lower(): c.segment for n, c in changes.items() if c.segment.rows}
    if cursors == core.snapshot.sources and not segments:
        return None
    taken = time.perf_counter()
    steps = {"sources": taken - begin}
    record = take_in_sources(core, segments, whole, batch, begin, steps, cursors, on_violation)
    return replace(record, notes=(*notes, *(f"{n}: {c.reason}" for n, c in changes.items())))
