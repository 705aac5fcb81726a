"""Change feeds on their way into a version: refused as a whole, or parted by `quarantine`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pyarrow

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.engine.spark.intake.arrow_feeds import read_feed_rows
from evercurrent.engine.spark.intake.frames import is_frame, take_in
from evercurrent.engine.spark.intake.screening import screen
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName, aside_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.readers import changes_of, frame_columns
from evercurrent.statements.options import ON_VIOLATION, OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes import bulk, columns
from evercurrent.warehouse.changes.assertion_trials import UNITS
from evercurrent.warehouse.changes.quarantine import (
    TABLE,
    Leaving,
    Misfit,
    Settled,
    ensure,
    entries,
    kept_aside,
    let_go,
    release,
    settle,
)
from evercurrent.warehouse.changes.transactions import Transaction
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.handles import locate_all

if TYPE_CHECKING:
    from evercurrent.warehouse.database import Warehouse

COLUMN_ROWS = 4_000_000
"""Arrow tables of at most so many rows are taken in by the driver, by columns."""


def require_known(on_violation: str) -> None:
    require_choice(on_violation, ON_VIOLATION, "on_violation")


# --- small feeds -------------------------------------------------------------------------------------------


def apply_rows(db: Warehouse, changes: Mapping[str, Any], batch: str | None, begin: float) -> RunRecord:
    """All or nothing: by columns where that can be, else row by row."""
    segments = columns.segments(db._core, changes)
    if segments is not None:
        if not segments and batch is None:
            return RunRecord(db.version, batch)
        judged = {"constraints": time.perf_counter() - begin}
        return db._after(db._core.commit(segments, batch, begin, judged))
    with db.transaction(batch=batch) as transaction:
        for key, feed in changes.items():
            come, gone = read_feed(db, transaction, key, feed)
            transaction.change(key, [(row, 1) for row in come] + [(row, -1) for row in gone])
    return transaction.record or RunRecord(db.version, batch)


def read_feed(db: Warehouse, transaction: Transaction, key: str, feed: Any) -> tuple[list[Row], list[Row]]:
    """The rows that come, and the stored rows that are meant to go."""
    whole = read_feed_rows(db._core.catalog.tables[key].fields, feed)
    if whole is not None:
        return whole
    come, gone = changes_of(db._core.readers[key], feed)
    return come, locate_all(db, transaction, key, gone)


def apply_rows_parted(db: Warehouse, changes: Mapping[str, Any], batch: str | None) -> RunRecord:
    """What may stand is applied, the rest set aside."""
    core = db._core
    begin = time.perf_counter()
    ensure(core)
    transaction = Transaction(core, batch)
    misfits: list[Misfit] = []
    deltas: dict[str, ZSet] = {}
    for key, feed in changes.items():
        delta = deltas.setdefault(key, ZSet())

        def take(feed: Any, key: str = key, delta: ZSet = delta) -> None:
            come, gone = read_feed(db, transaction, key, feed)
            for row in come:
                delta.add(row, 1)
            for row in gone:
                delta.add(row, -1)

        misfits += taken_in(key, feed, take)
    settled = settle(core, {k: d for k, d in deltas.items() if d}, transaction.partial)
    settled.misfits = misfits
    return commit_parted(core, settled, batch, begin, {"constraints": time.perf_counter() - begin})


def taken_in(key: str, feed: Any, take: Callable[[Any], None]) -> list[Misfit]:
    """Take in a feed: all at once, or, if that fails, one change after another. Gives those that fail."""
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


def commit_parted(
    core: Core,
    settled: Settled,
    batch: str | None,
    begin: float,
    steps: dict[str, float],
    sources: Mapping[str, Any] | None = None,
    leaving: Iterable[Leaving] = (),
) -> RunRecord:
    """Commit a parted batch: what is applied and what is set aside, as one version. `leaving`: what goes from there."""
    quarantine = entries(core, settled, batch)
    beside = kept_aside(core, settled.asides)
    for gone, rows in leaving:
        quarantine = quarantine + gone
        for table, delta in rows.items():
            beside[table] = beside.get(table, ZSet()) + delta
    deltas = {**settled.deltas, TABLE: quarantine}
    inputs = {**settled.segments, **written(core, deltas, table_store)}
    if not inputs and not beside and sources is None:
        return RunRecord(core.version, batch)
    aside = {aside_store(key): s for key, s in written(core, beside, aside_store).items()}
    return core.commit(inputs, batch, begin, steps, sources, beside=aside, quarantined=settled.counts())


def written(core: Core, deltas: Mapping[str, ZSet], store: Callable[[str], StoreName]) -> dict[str, Segment]:
    return {
        key: core.engine.write_rows(store(key), core.table_types(key), list(delta.items()))
        for key, delta in deltas.items()
        if delta
    }


# --- large feeds -------------------------------------------------------------------------------------------


def apply_frames(db: Warehouse, changes: Mapping[str, Any], batch: str | None, begin: float) -> RunRecord:
    """Taken in by the executors, judged by Spark; all or nothing. By columns where the driver can hold them."""
    core = db._core
    tables = [feed for feed in changes.values() if isinstance(feed, pyarrow.Table)]
    if len(tables) == len(changes) and sum(t.num_rows for t in tables) <= COLUMN_ROWS:
        ready = columns.segments(core, changes)
        if ready is not None:
            return core.commit(ready, batch, begin, {"constraints": time.perf_counter() - begin})
    segments: dict[str, Segment] = {}
    for key, feed in changes.items():
        table = core.catalog.tables[key]
        core.progress.stage(f"taking in {table.name}")
        frame = feed if is_frame(feed) else core.engine.session.createDataFrame(feed)
        segments[key] = take_in(core.engine, table_store(key), table.name, table.fields, frame, True)
    taken = time.perf_counter()
    bulk.validate(core, {k: s for k, s in segments.items() if s.rows})
    steps = {"intake": taken - begin, "constraints": time.perf_counter() - taken}
    return core.commit(segments, batch, begin, steps)


def apply_frames_parted(
    db: Warehouse, changes: Mapping[str, Any], batch: str | None, begin: float
) -> RunRecord:
    """Taken in by the executors, judged by Spark; what may stand is applied, the rest set aside."""
    core = db._core
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
    settled = segments_parted(core, segments)
    settled.misfits = misfits
    steps = {"intake": taken - begin, "constraints": time.perf_counter() - taken}
    with refusing_assertions(core):
        return commit_parted(core, settled, batch, begin, steps)


def segments_parted(core: Core, segments: Mapping[str, Segment]) -> Settled:
    left, asides = bulk.split_by_constraints(core, {k: s for k, s in segments.items() if s.rows})
    return Settled(segments=left, asides=asides)


@contextmanager
def refusing_assertions(core: Core) -> Iterator[None]:
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
) -> RunRecord:
    """Commit changes of sources. `whole` are those that were compared with all that is held of them."""
    moment = time.perf_counter()
    small = sum(s.rows for s in segments.values()) <= SMALL_ROWS
    simple = on_violation == "refuse" and not any(
        aside_store(key) in core.snapshot.stores for key in segments
    )
    if simple and small and columns.are_satisfied(core, segments):
        steps = {**steps, "constraints": time.perf_counter() - moment}
        return core.commit(segments, batch, begin, steps, sources)
    deltas: dict[str, ZSet] = {}
    if small:
        deltas = {
            key: ZSet(core.engine.rows(Store((s,)), core.table_types(key))) for key, s in segments.items()
        }
    if simple:
        core.examine(deltas, core.partial()) if small else bulk.validate(core, segments)
        steps = {**steps, "constraints": time.perf_counter() - moment}
        return core.commit(segments, batch, begin, steps, sources)
    settled = settle(core, deltas, core.partial()) if small else segments_parted(core, segments)
    released = release(core, whole)
    found = let_go(core, settled)
    if on_violation == "refuse" and settled.asides:
        core.examine(deltas, core.partial()) if small else bulk.validate(core, segments)
    steps = {**steps, "constraints": time.perf_counter() - moment}
    with nullcontext() if small else refusing_assertions(core):
        return commit_parted(core, settled, batch, begin, steps, sources, [released, found])
