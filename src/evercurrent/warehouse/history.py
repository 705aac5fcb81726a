"""What versions have changed, and what they held."""

from __future__ import annotations

from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError, StorageError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_work import apply_queues
from evercurrent.warehouse.definitions.drafts import compile_catalog
from evercurrent.warehouse.definitions.opening import catalog_of
from evercurrent.warehouse.maintenance.catch_up import catch_up_view, own_files
from evercurrent.warehouse.version import Version


def change_segments(core: Core, name: str, since: int) -> list[tuple[int, Segment]]:
    """The changes of a table's store or of a view after a version, each with the version that brought it."""
    catch_up_view(core, name)
    if not 0 <= since <= core.version:
        raise QueryError(f"there is no version {since}", hint=f"versions go from 0 to {core.version}")
    log = core.engine.log
    kept = set(log.kept_versions())
    found = []
    for version in range(since + 1, core.version + 1):
        entry = log.entry(version)
        if entry.kind.startswith(("CREATE", "DROP")):
            continue
        segment = entry.changes.get(name)
        if segment is None:
            continue
        if version not in kept:
            raise StorageError(
                f"the changes of version {version} have been cleaned up",
                hint=f"ask for changes since {min(kept, default=core.version) - 1} or later, or read the whole",
            )
        found.append((version, segment))
    return found


def rows_at(core: Core, view: str, number: int, snapshot: Snapshot) -> Store:
    """Returns the rows that a view had at a version, whether somebody read it then or not."""
    same = snapshot.definitions == core.snapshot.definitions
    if same and not any(group.waits(snapshot) for group in core.present.deferred.groups):
        return core.present.with_snapshot(number, snapshot).view_rows(view)
    compiled = compile_catalog(catalog_of(snapshot, core.functions), Design())
    version = Version(number, compiled, snapshot)
    group = version.deferred.by_view.get(view)
    if group is not None and group.waits(snapshot):
        with own_files(core.engine.folder):
            caught = apply_queues(core.engine, version.catalog, snapshot, group)
            core.engine.folder.made = []  # they may be read for long; vacuum removes them
        version = version.with_snapshot(number, caught.snapshot)
    return version.view_rows(view)
