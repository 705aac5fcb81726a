"""Change feeds on their way into a version: taken in, validated, and committed or refused as a whole, or with a quarantine.

apply(core, {"orders": frame}, "monday", "refuse")     one version
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import pyarrow

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.engine import SMALL_BYTES, SMALL_ROWS
from evercurrent.engine.spark.intake.arrow_feeds import read_feed_rows
from evercurrent.engine.spark.intake.frames import hold_or_stage, is_frame, take_in
from evercurrent.engine.spark.intake.screening import screen
from evercurrent.engine.spark.intake.task_intake import Checks
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import HELD_BYTES
from evercurrent.engine.spark.storage.store_names import aside_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.readers import changes_of, frame_columns
from evercurrent.statements.options import ON_VIOLATION, OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes import bulk, columns
from evercurrent.warehouse.changes.assertion_trials import UNITS
from evercurrent.warehouse.changes.constraints import validate_rows, write_segments
from evercurrent.warehouse.changes.quarantine import (
    TABLE,
    Leaving,
    Misfit,
    SplitBatch,
    collect_set_aside,
    ensure,
    entries,
    let_go,
    release,
    split_batch,
)
from evercurrent.warehouse.changes.references import has_children, validate_key
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.commit import Batch, commit, tidying
from evercurrent.warehouse.touched_rows import TouchedRows
from evercurrent.warehouse.transaction import Transaction

COLUMN_ROWS = 4_000_000
"""Arrow tables of at most this number of rows are taken in by the driver, by columns."""


def require_known(on_violation: str) -> None:
    require_choice(on_violation, ON_VIOLATION, "on_violation")


def apply(core: Core, changes: Mapping[str, Any], batch: str | None, on_violation: OnViolation) -> RunRecord:
    """Applies change feeds, by names of tables, in one version."""
    begin = time.perf_counter()
    core.engine.reader.mark()
    large: dict[str, Any] = {}
    small: dict[str, Any] = {}
    keys = {core.table(name).name.lower(): feed for name, feed in changes.items()}
    for key in keys:
        core.present.require_own(key)
    with tidying(core):
        for key, feed in keys.items():
            read = hold_or_stage(core.engine, table_store(key), feed) if is_frame(feed) else feed
            (large if is_frame(read) or is_large(read) else small)[key] = read
        if on_violation == "quarantine":
            if large:
                return apply_frames_quarantining(core, {**small, **large}, batch, begin)
            return apply_rows_quarantining(core, small, batch)
        if large:
            return apply_frames(core, {**small, **large}, batch, begin)
        return apply_rows(core, small, batch, begin)


def is_large(feed: Any) -> bool:
    """Whether a feed that is not yet taken in is more than the driver should read one by one."""
    try:
        return len(feed) > SMALL_ROWS or getattr(feed, "nbytes", 0) > HELD_BYTES
    except TypeError:
        return False


def find_touched_rows(core: Core) -> TouchedRows:
    return TouchedRows(core.engine, core.present.catalog, core.snapshot.stores)


# --- small feeds -------------------------------------------------------------------------------------------


def apply_rows(core: Core, changes: Mapping[str, Any], batch: str | None, begin: float) -> RunRecord:
    """All or nothing: by columns where that can be, else row by row."""
    segments = columns.segments(core.engine, core.present, changes)
    if segments is not None:
        if not segments and batch is None:
            return RunRecord(core.version, batch)
        steps = {"constraints": time.perf_counter() - begin}
        return commit(core, Batch(segments, batch, begin, steps))
    with Block(core, batch) as transaction:
        for key, feed in changes.items():
            inserted, deleted = read_feed(transaction, key, feed)
            transaction.change(key, [(row, 1) for row in inserted] + [(row, -1) for row in deleted])
    return transaction.record or RunRecord(core.version, batch)


def read_feed(transaction: Transaction, key: str, feed: Any) -> tuple[list[Row], list[Row]]:
    """Returns the rows to insert, and the stored rows to delete."""
    version = transaction.version
    whole = read_feed_rows(version.catalog.tables[key].fields, feed)
    if whole is not None:
        return whole
    inserted, deleted = changes_of(version.compiled.readers[key], feed)
    return inserted, transaction.locate_rows(key, deleted)


def apply_rows_quarantining(core: Core, changes: Mapping[str, Any], batch: str | None) -> RunRecord:
    """Applies the changes that satisfy the constraints, and quarantines the others."""
    begin = time.perf_counter()
    ensure(core)
    transaction = Transaction(core.engine, core.present, core.current_hold(), batch)
    misfits: list[Misfit] = []
    deltas: dict[str, ZSet] = {}
    for key, feed in changes.items():
        delta = deltas.setdefault(key, ZSet())

        def take(feed: Any, key: str = key, delta: ZSet = delta) -> None:
            inserted, deleted = read_feed(transaction, key, feed)
            for row in inserted:
                delta.add(row, 1)
            for row in deleted:
                delta.add(row, -1)

        misfits += take_feed(key, feed, take)
    split = split_batch(core, {k: d for k, d in deltas.items() if d}, transaction.partial)
    split.misfits = misfits
    return commit_quarantining(core, split, batch, begin, {"constraints": time.perf_counter() - begin})


def take_feed(key: str, feed: Any, take: Callable[[Any], None]) -> list[Misfit]:
    """Takes in a feed: all at once, or, if that fails, one change after another. Returns those that fail."""
    columns = frame_columns(feed)
    if columns is None:
        feed = [feed] if isinstance(feed, Mapping) else list(feed)
    elif CHANGE_TYPE not in columns:
        take(feed)  # raises: nothing can be said of any row
    try:
        take(feed)
        return []
    except (QueryError, ConstraintError):
        pass
    if columns is not None:
        names = list(columns)
        feed = [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    misfits = []
    for change in feed:
        try:
            take([change])
        except (QueryError, ConstraintError) as problem:
            if not isinstance(change, Mapping) or CHANGE_TYPE not in change:
                raise
            given = {k: v for k, v in change.items() if k != CHANGE_TYPE}
            shown = json.dumps(given, default=str, ensure_ascii=False)
            constraint = (problem.constraint if isinstance(problem, ConstraintError) else "") or "type"
            misfits.append(Misfit(key, str(change[CHANGE_TYPE]), shown, problem.message, constraint))
    return misfits


def commit_quarantining(
    core: Core,
    split: SplitBatch,
    batch: str | None,
    begin: float,
    steps: dict[str, float],
    sources: Mapping[str, Any] | None = None,
    leaving: Iterable[Leaving] = (),
    references: Mapping[str, Segment] | None = None,
) -> RunRecord:
    """Commits a batch of which a part is quarantined, as one version. `leaving`: what leaves the quarantine."""
    quarantine = entries(core, split, batch)
    beside = collect_set_aside(core, split.asides)
    for gone, rows in leaving:
        quarantine = quarantine + gone
        for table, delta in rows.items():
            beside[table] = beside.get(table, ZSet()) + delta
    deltas = {**split.deltas, TABLE: quarantine}
    inputs = {**split.segments, **write_segments(core, {k: d for k, d in deltas.items() if d})}
    if not inputs and not beside and sources is None:
        return RunRecord(core.version, batch)
    aside = write_segments(core, {k: d for k, d in beside.items() if d}, aside_store)
    stores = {aside_store(key): s for key, s in aside.items()}
    counts = split.counts()
    return commit(core, Batch(inputs, batch, begin, steps, sources, stores, counts, references or {}))


# --- large feeds -------------------------------------------------------------------------------------------


def apply_frames(core: Core, changes: Mapping[str, Any], batch: str | None, begin: float) -> RunRecord:
    """Takes in large feeds by jobs of Spark and validates them by Spark; all or nothing. By columns where the driver can hold them."""
    tables = [feed for feed in changes.values() if isinstance(feed, pyarrow.Table)]
    if len(tables) == len(changes) and sum(t.num_rows for t in tables) <= COLUMN_ROWS:
        ready = columns.segments(core.engine, core.present, changes)
        if ready is not None:
            steps = {"constraints": time.perf_counter() - begin}
            return commit(core, Batch(ready, batch, begin, steps))
    segments: dict[str, Segment] = {}
    checks = Checks(core.catalog.tables, core.table_segments, frozenset(changes))
    for key, feed in changes.items():
        table = core.catalog.tables[key]
        core.progress.stage(f"taking in {table.name}")
        frame = feed if is_frame(feed) else core.engine.session.createDataFrame(feed)
        segments[key] = take_in(core.engine, table_store(key), table.name, table.fields, frame, True, checks)
    taken = time.perf_counter()
    bulk.validate(core.engine, core.present, {k: s for k, s in segments.items() if s.rows}, checks.satisfied)
    steps = {"intake": taken - begin, "constraints": time.perf_counter() - taken}
    return commit(core, Batch(segments, batch, begin, steps))


def apply_frames_quarantining(
    core: Core, changes: Mapping[str, Any], batch: str | None, begin: float
) -> RunRecord:
    """Takes in large feeds by jobs of Spark; applies the changes that satisfy the constraints, and quarantines the others."""
    ensure(core)
    segments: dict[str, Segment] = {}
    misfits: list[Misfit] = []
    for key, feed in changes.items():
        table, store = core.catalog.tables[key], table_store(key)
        core.progress.stage(f"taking in {table.name}")
        frame = feed if is_frame(feed) else core.engine.session.createDataFrame(feed)
        frame, bad = screen(core.engine, store, table.name, table.fields, frame)
        misfits += [Misfit(key, change, row, reason) for change, row, reason in bad]
        segments[key] = take_in(core.engine, store, table.name, table.fields, frame, True)
    taken = time.perf_counter()
    split = split_segments(core, segments)
    split.misfits = misfits
    steps = {"intake": taken - begin, "constraints": time.perf_counter() - taken}
    with refuse_assertions(core):
        return commit_quarantining(core, split, batch, begin, steps)


def split_segments(core: Core, segments: Mapping[str, Segment]) -> SplitBatch:
    left, asides = bulk.split_by_constraints(
        core.engine, core.present, {k: s for k, s in segments.items() if s.rows}
    )
    return SplitBatch(segments=left, asides=asides)


@contextmanager
def refuse_assertions(core: Core) -> Iterator[None]:
    """In a large batch it is not looked for which changes break an assertion."""
    try:
        yield
    except ConstraintError as problem:
        if problem.constraint.lower() in core.catalog.assertions:
            problem.hint = f"the batch is refused as a whole: which changes are to blame is looked for among at most {UNITS:,}"
        raise


# --- sources -----------------------------------------------------------------------------------------------


def take_in_sources(
    core: Core,
    segments: Mapping[str, Segment],
    whole: Collection[str],
    batch: str | None,
    begin: float,
    steps: dict[str, float],
    sources: Mapping[str, Any],
    on_violation: OnViolation,
    references: Mapping[str, Segment],
) -> RunRecord:
    """Commit changes of sources. `whole` are those that were compared with all that is held of them.

    `references` are all rows of those that are not stored here. Of these, keys are checked on what passes by.
    """
    moment = time.perf_counter()
    for key in references.keys() & segments.keys():
        validate_key(core, key, segments[key])
    checked = {k: s for k, s in segments.items() if k not in references or has_children(core, k)}
    rows, size = sum(s.rows for s in checked.values()), sum(s.bytes for s in checked.values())
    small = rows <= SMALL_ROWS and size <= SMALL_BYTES
    simple = on_violation == "refuse" and not any(
        aside_store(key) in core.snapshot.stores for key in segments
    )
    if simple and small and columns.are_satisfied(core.engine, core.present, checked):
        steps = {**steps, "constraints": time.perf_counter() - moment}
        return commit(core, Batch(segments, batch, begin, steps, sources, references=references))
    deltas: dict[str, ZSet] = {}
    if small:
        deltas = {
            key: ZSet(core.engine.rows(Store((s,)), core.table_types(key))) for key, s in checked.items()
        }
    if simple:
        validate_rows(core, deltas, find_touched_rows(core)) if small else bulk.validate(
            core.engine, core.present, checked
        )
        steps = {**steps, "constraints": time.perf_counter() - moment}
        return commit(core, Batch(segments, batch, begin, steps, sources, references=references))
    split = split_batch(core, deltas, find_touched_rows(core)) if small else split_segments(core, checked)
    released = release(core, whole)
    found = let_go(core, split)
    if on_violation == "refuse" and split.asides:
        validate_rows(core, deltas, find_touched_rows(core)) if small else bulk.validate(
            core.engine, core.present, checked
        )
    split.segments |= {k: s for k, s in segments.items() if k not in checked}
    steps = {**steps, "constraints": time.perf_counter() - moment}
    with nullcontext() if small else refuse_assertions(core):
        return commit_quarantining(core, split, batch, begin, steps, sources, [released, found], references)
