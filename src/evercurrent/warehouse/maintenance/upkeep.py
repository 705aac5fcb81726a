"""Compaction and vacuum: a warehouse does not grow with the number of its batches.

    db.compact()       5, the number of merged stores; a new version, in which no row has changed

A store with many recent segments is read more slowly and is larger than its entries need: compaction merges segments (which
and when: `engine.spark.storage.merge_policy`), in a version of its own that changes no row. Vacuum forgets the snapshots of old versions
and removes the files that no remaining version mentions.

Another driver may be in the middle of a batch: it reads the files of the version at which it began, and has written files that
no version mentions yet. So vacuum keeps the versions that were the newest one within the last hours, and files that were
written since then. A batch that takes longer is refused at its commit, if files of it are gone (`Log.commit`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evercurrent.engine.spark.storage.delta_tables import clean
from evercurrent.engine.spark.storage.file_schema import Schema, row_schema
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, aside_store, table_store, view_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_relations import program_schemas
from evercurrent.warehouse.maintenance.publish import definition_of, publish_path
from evercurrent.warehouse.maintenance.publish_places import target_at
from evercurrent.warehouse.maintenance.retry import COMPACT
from evercurrent.warehouse.version import Version


class UpkeepWarning(UserWarning):
    """A version stands, but its segments could not be merged; a later batch merges them."""


def store_schemas(version: Version) -> Iterator[tuple[StoreName, Schema]]:
    """Yields all stores of a version, each with its columns."""
    for key, table in version.catalog.tables.items():
        for store in (table_store(key), aside_store(key)):
            yield store, row_schema([c.type for c in table.columns])
    for name in version.design.recomputed:
        yield view_store(name), row_schema([f.type for f in version.view(name).fields])
    yield from program_schemas(version.program).items()
    yield from version.deferred.schemas().items()


def compact(core: Core, *, every: bool = True) -> int:
    """Compacts the stores that are due, in one version; returns how many."""
    known = dict(store_schemas(core.present))
    chosen: dict[StoreName, Store] = {}
    for name, store in core.snapshot.stores.items():
        if name in known:
            compacted = core.engine.compact_store(name, store, known[name], every=every)
            if compacted is not None:
                chosen[name] = compacted
    if not chosen:
        return 0
    stores = {**core.snapshot.stores, **chosen}
    snapshot: Snapshot = replace(core.snapshot, stores=stores)
    core.engine.sync([s for name in chosen for s in stores[name].segments])
    number = core.engine.log.commit(snapshot, core.version, kind=COMPACT)
    core.present = core.present.with_snapshot(number, snapshot)
    core.engine.folder.tidy(snapshot.files())
    return len(chosen)


def vacuum(core: Core, keep: int, hours: Any) -> int:
    """Keeps the newest `keep` versions and what is not older than `hours`; returns how many bytes were freed."""
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not hours >= 0:
        raise QueryError(
            f"hours must be a number that is not negative, not {hours!r}", hint="db.vacuum(hours=24)"
        )
    log = core.engine.log
    kept = log.list_snapshots()
    since = time.time() - hours * 3600
    stay = [v for v in kept if v > core.version - max(keep, 1) or log.entry(v + 1).at >= since]
    for version in kept:
        if version not in stay:
            log.forget(version)
    mentioned: set[str] = set()
    for version in stay:
        mentioned |= log.snapshot(version).files()
        mentioned |= {f for s in log.entry(version).changes.values() for f in s.files}
    folder = core.engine.folder
    core.engine.reader.forget_others(mentioned)
    freed = folder.remove(f for f in folder.data_files() if f not in mentioned and folder.is_older(f, since))
    folder.clear_empty(since)
    for name in log.stray_snapshots():
        stray = log.place / "snapshots" / name
        marks = folder.disk.marks(stray)
        if marks is not None and marks[1] < since * 1e9:
            freed += folder.disk.delete(stray)
    needed = {log.checkpoints.find_name(log.place / "snapshots" / log.entry(v).snapshot) for v in stay}
    freed += log.checkpoints.remove_others({n for n in needed if n}, since)
    log.archive_entries(min(stay, default=core.version))
    for view in core.catalog.views.values():
        path = publish_path(core, view.name)
        if path is not None and not definition_of(core, view.name).get("merge"):
            clean(target_at(core, path))
    return freed
