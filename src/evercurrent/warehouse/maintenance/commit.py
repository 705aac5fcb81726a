"""The one way in which a batch becomes a version.

    changes that satisfy all constraints (`changes`)
      -> views            every view and assertion is updated, in segments that no version mentions yet (`update`)
      -> assertions       one that returns a row refuses the batch: ConstraintError
      -> subscribers      those who are called before the commit may refuse it
      -> the commit       one entry of the log decides: ConflictError if another driver was faster
      -> follow-up        published views, compaction, subscribers after the commit

Whatever raises before the commit leaves nothing behind but files that no version mentions. Whatever fails after it is a
warning: the version stands, and a later batch repeats what is missing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from evercurrent.design.compile import ASSERTION
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.errors import ConflictError, EvaluationError
from evercurrent.rows.subscriptions import Change
from evercurrent.statements.run_record import RunRecord, ViewRun
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance import upkeep
from evercurrent.warehouse.maintenance.assertions import require_assertions
from evercurrent.warehouse.maintenance.blame import blame_batch
from evercurrent.warehouse.maintenance.called_functions import require_functions
from evercurrent.warehouse.maintenance.catch_up import mark_subscribed, new_segments, update_subscribed
from evercurrent.warehouse.maintenance.effect import Effect
from evercurrent.warehouse.maintenance.notifications import find_subscribed_changes
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.maintenance.retry import repeat_over_upkeep
from evercurrent.warehouse.maintenance.update import update_views
from evercurrent.warehouse.run_log import log_run


@dataclass(frozen=True)
class Batch:
    """Changes of tables that satisfy all constraints, on their way into a version.

    `inputs` are their segments, by lower-cased names of tables; `beside` are segments for stores that no program reads;
    `quarantined` counts the changes that were set aside; `steps` are the seconds that were spent so far; `references` are
    all rows of tables that are not stored here, as they are then.
    """

    inputs: Mapping[str, Segment]
    name: str | None
    begin: float
    steps: Mapping[str, float]
    sources: Mapping[str, Any] | None = None
    beside: Mapping[StoreName, Segment] = field(default_factory=dict)
    quarantined: Mapping[str, int] = field(default_factory=dict)
    references: Mapping[str, Segment] = field(default_factory=dict)


@dataclass(frozen=True)
class Prepared:
    """A version that is ready to be committed."""

    snapshot: Snapshot
    runs: tuple[ViewRun, ...]
    listed: Mapping[str, Segment]  # the changes of tables and views, as the log lists them
    notices: dict[str, Change]  # what subscribers are notified of


def commit(core: Core, batch: Batch) -> RunRecord:
    """Makes a batch a version and does what follows on a commit."""
    return follow_up(core, commit_version(core, batch))


@repeat_over_upkeep
def commit_version(core: Core, batch: Batch) -> RunRecord:
    """Makes a batch a version: all of it or nothing."""
    engine, version = core.engine, core.present
    validated_bytes = engine.reader.read_bytes - engine.reader.marked
    changed = (key for key, s in batch.inputs.items() if s.rows)
    require_functions(version.catalog, core.functions, changed)
    try:
        effect, runs = update_views(engine, version, batch.inputs, batch.references)
    except EvaluationError as error:
        raise blame_batch(engine, version, error, batch.inputs) from error
    effect.added |= batch.beside
    require_assertions(engine, version.compiled, effect.deltas)
    prepared = prepare(core, batch, effect, runs)
    with core.previewing(prepared.snapshot):
        core.subscribers.before(prepared.notices)
    record = describe(core, batch, effect, prepared.runs, validated_bytes)
    return write_version(core, batch, prepared, record)


def prepare(core: Core, batch: Batch, effect: Effect, runs: tuple[ViewRun, ...]) -> Prepared:
    """Builds the snapshot of the version, in which deferred views with subscribers are up to date."""
    snapshot = effect.snapshot(core.snapshot)
    if batch.sources is not None:
        snapshot = replace(snapshot, sources=batch.sources)
    snapshot, subscribed = update_subscribed(core, snapshot)
    runs = tuple(mark_subscribed(r, subscribed) for r in runs)
    views = {name: s for name, s in effect.views.items() if not name.startswith(ASSERTION)} | subscribed
    tables: dict[str, Segment] = {table_store(k): s for k, s in batch.inputs.items() if s.rows}
    listed: dict[str, Segment] = {**views, **tables}
    return Prepared(snapshot, runs, listed, find_subscribed_changes(core, listed, core.version + 1))


def write_version(core: Core, batch: Batch, prepared: Prepared, record: RunRecord) -> RunRecord:
    """Makes the files durable and commits the version, by one entry of the log."""
    engine, snapshot = core.engine, prepared.snapshot
    engine.progress.stage("committing")
    moment = time.perf_counter()
    engine.sync(list(new_segments(core.snapshot, snapshot)))
    number = engine.log.commit(
        snapshot,
        core.version,
        kind="batch",
        batch=batch.name,
        changes=prepared.listed,
        record=record.to_json(),
    )
    core.present = core.present.with_snapshot(number, snapshot)
    core.unnotified.append(prepared.notices)
    engine.folder.tidy(snapshot.files() | {f for s in prepared.listed.values() for f in s.files})
    now = time.perf_counter()
    steps = {**record.steps, "commit": now - moment}
    return replace(record, version=number, seconds=now - batch.begin, steps=steps)


def describe(
    core: Core, batch: Batch, effect: Effect, runs: tuple[ViewRun, ...], validated_bytes: int
) -> RunRecord:
    """Returns the record of a run; validation has read `validated_bytes`."""
    names = {"driver": "the driver", "tasks": "tasks", "spark": "Spark", "sql": "Spark's SQL"}
    tables, reports = core.present.catalog.tables, effect.reports
    return RunRecord(
        core.version + 1,
        batch.name,
        False,
        {tables[k].name: s.rows for k, s in batch.inputs.items() if s.rows},
        runs,
        validated_bytes + sum(r.read_bytes for r in reports.values()),
        max(core.progress.jobs, sum(r.jobs for r in reports.values())),
        time.perf_counter() - batch.begin,
        {**batch.steps, "program": sum(r.seconds for r in reports.values())},
        tuple(f"{what} by {names[r.strategy]}: {r.reason}" for what, r in reports.items()),
        {tables[key].name: n for key, n in batch.quarantined.items()},
    )


def follow_up(core: Core, record: RunRecord) -> RunRecord:
    """Publishes views, merges segments and notifies subscribers. What fails is a warning in the record."""
    begin = time.perf_counter()
    core.progress.stage("publishing")
    problems = list(publish(core) or ())
    seconds = time.perf_counter() - begin
    steps = {**record.steps, "publish": seconds}
    try:
        upkeep.compact(core, every=False)
    except ConflictError:
        pass  # another driver has committed meanwhile: compaction can wait
    except Exception as problem:
        problems.append(f"segments could not be merged: {problem}")
        warnings.warn(problems[-1], upkeep.UpkeepWarning, stacklevel=3)
    problems += core.notify_subscribers()
    seconds += record.seconds
    jobs = max(record.jobs, core.progress.jobs)
    record = replace(record, seconds=seconds, steps=steps, jobs=jobs, warnings=(*record.warnings, *problems))
    log_run(str(core.engine.folder.root), record)
    return record


@contextmanager
def tidying(core: Core) -> Iterator[None]:
    """Removes the files of a run that fails."""
    try:
        yield
    except BaseException:
        core.engine.folder.tidy(core.snapshot.files())
        raise
