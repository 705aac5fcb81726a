"""Reading deferred views: lazy and hybrid views are brought to the present version, once for however many batches.

    view_rows(core, "spend")     applies the queues of the view's group, and returns its rows

The result is a version of its own, which changes no table: the queues are empty in it, and it lists the deltas of the views.
A reader who cannot commit it sees the same rows without: a subscriber before the commit, a driver that another one has
overtaken, a reader of an earlier version. A batch updates deferred views with subscribers as part of itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from evercurrent.data.types import Type
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConflictError, EvaluationError
from evercurrent.oql_views.changes import relations_of_view
from evercurrent.statements.run_record import RunRecord, ViewRun
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_work import CaughtUp, apply_queues
from evercurrent.warehouse.deferred.groups import Group, Kind
from evercurrent.warehouse.maintenance.notifications import find_subscribed_changes
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.maintenance.retry import CATCH_UP
from evercurrent.warehouse.version import Version


def view_rows(core: Core, view: str) -> Store:
    """Returns the rows of a view, by its exact name, at the present version."""
    snapshot = catch_up_view(core, view)
    return core.present.with_snapshot(core.version, snapshot).view_rows(view)


def relation_rows(core: Core, name: str) -> tuple[Store, list[Type]]:
    """Returns the rows and types of a table or view, by name, at the present version."""
    view = core.present.catalog.view(name)
    if view is not None:
        return view_rows(core, view.name), [f.type for f in view.fields]
    return core.present.table_rows(name), core.present.table_types(name)


def catch_up_view(core: Core, view: str) -> Snapshot:
    """Returns the snapshot in which a view, by its exact name, is up to date."""
    group = core.present.deferred.by_view.get(view)
    return core.snapshot if group is None else catch_up(core, group)


def catch_up(core: Core, group: Group) -> Snapshot:
    """Returns the present snapshot with the queues of a group applied; commits it if possible."""
    with core.lock:
        if not group.waits(core.snapshot):
            return core.snapshot
        alone = core.committing or core.engine.log.latest() != core.version
        known = core.uncommitted.get(group.mark)
        if alone and known is not None and known[0] is core.snapshot:
            return known[1]
        folder = core.engine.folder
        with own_files(folder):
            begin = time.perf_counter()
            caught = apply_queues(core.engine, core.present.catalog, core.snapshot, group)
            if not alone:
                try:
                    return commit_catch_up(core, group, caught, begin)
                except ConflictError:
                    pass  # another driver was faster, perhaps with the same
            core.uncommitted[group.mark] = core.snapshot, caught.snapshot
            folder.made = []  # they may be read for long; vacuum removes them
            return caught.snapshot


@contextmanager
def own_files(folder: Folder) -> Iterator[None]:
    """Removes the files that are made inside and still listed in the end; files of the reader are not touched."""
    others, folder.made = folder.made, []
    try:
        yield
    finally:
        folder.tidy(set())
        folder.made = others


def commit_catch_up(core: Core, group: Group, caught: CaughtUp, begin: float) -> Snapshot:
    """Commits what a reader has computed."""
    core.engine.sync(list(new_segments(core.snapshot, caught.snapshot)))
    notices = find_subscribed_changes(core, caught.views, core.version + 1)
    record = describe(core.present, group, caught, begin)
    number = core.engine.log.commit(
        caught.snapshot, core.version, kind=CATCH_UP, changes=caught.views, record=record.to_json()
    )
    core.present = core.present.with_snapshot(number, caught.snapshot)
    core.unnotified.append(notices)
    listed = {f for segment in caught.views.values() for f in segment.files}
    core.engine.folder.tidy(caught.snapshot.files() | listed)
    publish(core)
    return core.snapshot


def new_segments(before: Snapshot, after: Snapshot) -> Iterable[Segment]:
    """Yields the segments that only the later snapshot mentions."""
    known = before.files()
    return (s for x in after.stores.values() for s in x.segments if not known.issuperset(s.files))


def describe(version: Version, group: Group, caught: CaughtUp, begin: float) -> RunRecord:
    """Returns the record of a catch-up."""
    queued, net = group.rows(version.snapshot), sum(caught.taken.values())
    net_text = f", {net} after netting" if group.kind == "lazy" else ""
    runs = tuple(
        ViewRun(view, "delta", "read", "deferred changes are applied", net, changed.rows)
        for view in group.views
        if (changed := caught.views.get(view, EMPTY)).rows
    )
    report = caught.report
    return RunRecord(
        version.number + 1,
        rows_in=caught.taken,
        views=runs,
        bytes_read=0 if report is None else report.read_bytes,
        jobs=0 if report is None else report.jobs,
        seconds=time.perf_counter() - begin,
        notes=(f"{group.kind} views: {queued} rows were deferred{net_text}",),
    )


# --- batches and definitions -------------------------------------------------------------------------------


def update_subscribed(core: Core, snapshot: Snapshot) -> tuple[Snapshot, dict[str, Segment]]:
    """Updates the deferred views with subscribers, in a snapshot that is about to be committed; returns it and their deltas."""
    changes: dict[str, Segment] = {}
    catalog = core.present.catalog
    subscribed = {r for name in core.subscribers.watched for r in relations_of_view(catalog, name)}
    for group in core.present.deferred.groups:
        if subscribed.intersection(group.views) and group.waits(snapshot):
            caught = apply_queues(core.engine, catalog, snapshot, group)
            snapshot, changes = caught.snapshot, {**changes, **caught.views}
    return snapshot, changes


def mark_subscribed(run: ViewRun, changes: Mapping[str, Segment]) -> ViewRun:
    """Returns what the record says of a view that would have been deferred without its subscriber."""
    if run.view not in changes:
        return run
    rows = changes[run.view].rows
    return replace(
        run, strategy="delta", code="watched", reason="somebody subscribes to it", rows_changed=rows
    )


def version_to_build_on(
    core: Core, kind: Kind, after: Iterable[Group]
) -> tuple[Version, dict[StoreName, Store]]:
    """Returns what a new catalog can take over, and the queues that go on waiting in it; `after` are its groups.

    A group that is the same there waits on; otherwise it is caught up first. Where it cannot be, the tables alone are taken
    over: so a view whose values cannot be computed (they overflow, say) can be dropped.
    """
    others = list(after)
    same = [group for group in core.present.deferred.groups if group in others]
    try:
        for group in core.present.deferred.groups:
            if group.kind == kind and group not in same:
                catch_up(core, group)
    except EvaluationError:
        return core.present.tables_only(), {}
    marks = tuple(group.mark for group in same if group.kind == kind)
    queues = {n: s for n, s in core.snapshot.stores.items() if marks and n.startswith(marks)}
    return (core.present if kind == "hybrid" else core.present.lazy_part()), queues
