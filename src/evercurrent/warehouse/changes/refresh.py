"""Takes in what has changed in all sources, as one version.

How far each source was read (its cursor) is part of every version, and the commit that takes the changes in stores the new
cursor with them: so no change is lost and none counts twice. The rows of a source by reference are those at the cursor: the same
commit replaces what the table refers to.

    orders: delta, cursor at version 7; the table is at 9       one version with the changes of 8 and 9, cursor at 9
    nothing is new                                              no version
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace

from evercurrent.engine.spark.sources.changes import change_of
from evercurrent.engine.spark.sources.nodes import Change, Source
from evercurrent.engine.spark.sources.origins import source_of
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.errors import QueryError
from evercurrent.statements.options import OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes.apply import take_in_sources
from evercurrent.warehouse.changes.quarantine import ensure, plus_aside
from evercurrent.warehouse.changes.references import refill
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.sources import follow_columns, keep_copy, sources_of


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
        copy_for_quarantine(core)
    notes = follow_columns(core)
    cursors = dict(core.snapshot.sources)
    changes: dict[str, Change] = {}
    for name, source in sources_of(core.present).items():
        core.progress.stage(f"looking at {name}")
        changes[name] = look_at(core, source, name.lower() in whole)
        cursors[name] = dict(changes[name].cursor)
    told = {n.lower(): c for n, c in changes.items() if not c.lost}
    segments: dict[str, Segment] = {n: c.segment for n, c in told.items() if c.segment.rows}
    if cursors == core.snapshot.sources and not segments and len(told) == len(changes):
        return None
    references = references_of(core, told)
    taken = time.perf_counter()
    steps = {"sources": taken - begin}
    reached = {n: c if n.lower() in told else core.snapshot.sources.get(n, {}) for n, c in cursors.items()}
    lost = {n: c.whole for n, c in changes.items() if c.lost and c.whole is not None}
    record = None
    if segments or reached != core.snapshot.sources or not lost:
        named = None if lost else batch
        record = take_in_sources(
            core, segments, whole, named, begin, steps, reached, on_violation, references
        )
    if lost:
        again = {n.lower(): s for n, s in lost.items()}
        record = refill(core, again, cursors, batch, begin)
    assert record is not None
    return replace(record, notes=(*notes, *(f"{n}: {reason(c)}" for n, c in changes.items())))


def reason(change: Change) -> str:
    if not change.lost:
        return change.reason
    return f"{change.reason}; its past is lost: what depends on it was filled again"


def look_at(core: Core, source: Source, full: bool) -> Change:
    """What has changed in a source since it was last looked at."""
    held = core.present.table_rows(source.name)
    cursor = core.snapshot.sources.get(source.name, {})
    if source.kept == "reference":
        for segment in held.segments:
            for origin in segment.origins:
                _, cursor = source_of(origin)
    elif not full:
        held = plus_aside(core, source.name, held)
    return change_of(core.engine, source, cursor, held, full)


def references_of(core: Core, changes: dict[str, Change]) -> dict[str, Segment]:
    """All rows of the sources that are not stored here, as they are now, by lower-cased names."""
    kept = {s.name.lower() for s in sources_of(core.present).values() if s.kept == "reference"}
    return {name: c.whole for name, c in changes.items() if name in kept and c.whole is not None}


def copy_for_quarantine(core: Core) -> None:
    """Keeps copies of sources from now on: which rows are set aside is a matter of the rows that are there."""
    for source in sources_of(core.present).values():
        if source.kept == "reference":
            keep_copy(core, source, "quarantine")
