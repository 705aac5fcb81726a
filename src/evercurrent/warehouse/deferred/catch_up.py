"""Reading what has waited: lazy and hybrid views are brought to the present version, once for however many batches.

What comes of it is a version of its own, which changes no table: the queues are empty in it, and the changes of the views are
listed there. Who cannot commit it sees the same rows without: a subscriber before the commit, a driver that another one has
overtaken, whoever reads an earlier version. A batch in which somebody watches such a view works it off as part of itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConflictError, EvaluationError
from evercurrent.oql_views.changes import relations_of_view
from evercurrent.statements.run_record import RunRecord, ViewRun
from evercurrent.warehouse.deferred.deferred_relations import Waiting, bare, later
from evercurrent.warehouse.deferred.deferred_work import Caught, caught_up
from evercurrent.warehouse.deferred.groups import Group, Kind
from evercurrent.warehouse.maintenance.notifications import changes_of
from evercurrent.warehouse.maintenance.retry import CATCH_UP

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


def current(core: Core, view: str) -> Snapshot:
    """The snapshot in which a view, by its exact name, is what its query says."""
    group = core.waiting.by_view.get(view)
    return core.snapshot if group is None else settled(core, group)


def ground(core: Core, kind: Kind, after: Iterable[Group]) -> tuple[Core, dict[StoreName, Store]]:
    """What a new catalog can take over, and what goes on waiting in it; `after` are its groups.

    A group that is the same there waits on; otherwise it is worked off first. Where it cannot be, the tables alone are taken
    over: so a view whose values cannot be found (they overflow, say) can be dropped.
    """
    others = list(after)
    same = [group for group in core.waiting.groups if group in others]
    try:
        for group in core.waiting.groups:
            if group.kind == kind and group not in same:
                settled(core, group)
    except EvaluationError:
        return bare(core), {}
    marks = tuple(group.mark for group in same if group.kind == kind)
    waits = {n: s for n, s in core.snapshot.stores.items() if marks and n.startswith(marks)}
    return (core if kind == "hybrid" else later(core, core.snapshot)), waits


def settled(core: Core, group: Group) -> Snapshot:
    """The present snapshot, without anything of this group that waits; committed, if it can be."""
    with core.lock:
        if not group.waits(core.snapshot):
            return core.snapshot
        alone = core.committing or core.engine.log.latest() != core.version
        known = core.aside.get(group.mark)
        if alone and known is not None and known[0] is core.snapshot:
            return known[1]
        folder = core.engine.folder
        others, folder.made = folder.made, []  # files of who reads: not ours to tidy
        try:
            begin = time.perf_counter()
            caught = caught_up(core, core.snapshot, group)
            if not alone:
                try:
                    return commit(core, group, caught, begin)
                except ConflictError:
                    pass  # another driver was quicker, perhaps by the same
            core.aside[group.mark] = core.snapshot, caught.snapshot
            folder.made = []  # they may be read for long; vacuum removes them
            return caught.snapshot
        finally:
            folder.tidy(set())
            folder.made = others


def rows_at(core: Core, view: str, version: int, snapshot: Snapshot) -> Store:
    """The rows that a view had at a version, whether somebody read it then or not."""
    same = snapshot.definitions == core.snapshot.definitions
    if same and not any(group.waits(snapshot) for group in core.waiting.groups):
        return core.view_segments(view, snapshot)
    from evercurrent.warehouse.core import Core as Apart
    from evercurrent.warehouse.definitions.drafts import compiled
    from evercurrent.warehouse.definitions.statements import catalog_of

    made = Apart(core.engine)
    made.functions = core.functions
    made.progress = core.progress
    made.version, made.snapshot, made.committing = version, snapshot, True
    made.catalog, made.design = compiled(catalog_of(snapshot, core.functions), Design())
    made.waiting = Waiting(made.catalog, made.design)
    return made.view_segments(view)


def commit(core: Core, group: Group, caught: Caught, begin: float) -> Snapshot:
    from evercurrent.warehouse.maintenance.publish import publish

    core.engine.sync(list(new_segments(core.snapshot, caught.snapshot)))
    told = changes_of(core, caught.views, core.version + 1)
    record = recorded(core, group, caught, begin)
    core.version = core.engine.log.commit(
        caught.snapshot, core.version, kind=CATCH_UP, changes=caught.views, record=record.to_json()
    )
    core.snapshot = caught.snapshot
    core.untold.append(told)
    listed = {f for segment in caught.views.values() for f in segment.files}
    core.engine.folder.tidy(caught.snapshot.files() | listed)
    publish(core)
    return core.snapshot


def new_segments(before: Snapshot, after: Snapshot) -> Iterable[Segment]:
    known = before.files()
    return (s for x in after.stores.values() for s in x.segments if not known.issuperset(s.files))


def recorded(core: Core, group: Group, caught: Caught, begin: float) -> RunRecord:
    waited, left = group.rows(core.snapshot), sum(caught.taken.values())
    left_over = f", {left} were left of them" if group.kind == "lazy" else ""
    runs = tuple(
        ViewRun(view, "delta", "read", "what has waited is worked off", left, changed.rows)
        for view in group.views
        if (changed := caught.views.get(view, EMPTY)).rows
    )
    report = caught.report
    return RunRecord(
        core.version + 1,
        rows_in=caught.taken,
        views=runs,
        bytes_read=0 if report is None else report.read_bytes,
        jobs=0 if report is None else report.jobs,
        seconds=time.perf_counter() - begin,
        notes=(f"{group.kind} views: {waited} rows have waited{left_over}",),
    )


def with_watched(core: Core, snapshot: Snapshot) -> tuple[Snapshot, dict[str, Segment]]:
    """A snapshot that is about to be committed with what somebody watches brought up to date; the changes of that."""
    changes: dict[str, Segment] = {}
    watched = {r for name in core.subscribers.watched for r in relations_of_view(core.catalog, name)}
    for group in core.waiting.groups:
        if watched.intersection(group.views) and group.waits(snapshot):
            caught = caught_up(core, snapshot, group)
            snapshot, changes = caught.snapshot, {**changes, **caught.views}
    return snapshot, changes


def moved_for_watchers(run: ViewRun, changes: Mapping[str, Segment]) -> ViewRun:
    """What a record says of a view that would have waited."""
    if run.view not in changes:
        return run
    rows = changes[run.view].rows
    return replace(
        run, strategy="delta", code="watched", reason="somebody subscribes to it", rows_changed=rows
    )
