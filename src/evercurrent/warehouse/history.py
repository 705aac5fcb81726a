"""What versions have changed, and what they held.

    db.view("spend").changes(since=2)        customer 7, total 12.50, _change_type insert, _commit_version 3
    a version that `compact` has removed     StorageError: the changes of version 3 have been cleaned up

Versions that only create, alter or drop something are passed over.
"""

from __future__ import annotations

from typing import Any

from evercurrent.definitions.reading import catalog_of
from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, table_of
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_schema
from evercurrent.errors import QueryError, StorageError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_work import apply_queues
from evercurrent.warehouse.definitions.drafts import compile_catalog
from evercurrent.warehouse.maintenance.catch_up import catch_up_view, own_files
from evercurrent.warehouse.run_table import RUNS, plain_rows
from evercurrent.warehouse.version import Version


def change_segments(core: Core, name: str, since: int) -> list[tuple[int, Segment]]:
    """The changes of a table's store or of a view after a version, each with the version that brought it."""
    catch_up_view(core, name)
    if not 0 <= since <= core.version:
        raise QueryError(f"there is no version {since}", hint=f"versions go from 0 to {core.version}")
    log = core.engine.log
    kept = set(log.list_snapshots())
    found = []
    for version in range(since + 1, core.version + 1):
        entry = log.entry(version)
        if (table_of(StoreName(name)) or name.lower()) in map(str.lower, entry.record.get("altered", ())):
            raise StorageError(
                f"{table_of(StoreName(name)) or name} has had other columns before version {version}",
                hint=f"ask for changes since {version} or later, or read the whole",
            )
        if entry.kind.startswith(("ALTER", "CREATE", "DROP")):
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


def require_same_columns(core: Core, name: str, number: int, snapshot: Snapshot) -> None:
    """Refuses to read a version in which a table or view had other columns than it has now."""
    if snapshot.definitions == core.snapshot.definitions:
        return
    then = catalog_of(snapshot.definitions, core.functions).relation(name)
    now = core.catalog.relation(name)
    if then is None or now is None or then.fields != now.fields:
        raise QueryError(f"at version {number} there was no {name} with the columns that it has now")


def past_rows(core: Core, view: str, number: int) -> Store:
    """Returns the rows that a view had at a version, under the definition that it had then."""
    return rows_at(core, view, number, core.engine.log.snapshot(number))


def rows_at(core: Core, view: str, number: int, snapshot: Snapshot) -> Store:
    """Returns the rows that a view had at a version, whether somebody read it then or not."""
    same = snapshot.definitions == core.snapshot.definitions
    if same and not any(group.waits(snapshot) for group in core.present.deferred.groups):
        return core.present.with_snapshot(number, snapshot).view_rows(view)
    compiled = compile_catalog(catalog_of(snapshot.definitions, core.functions), Design())
    version = Version(number, compiled, snapshot)
    group = version.deferred.by_view.get(view)
    if group is not None and group.waits(snapshot):
        with own_files(core.engine.folder):
            caught = apply_queues(core.engine, version.catalog, snapshot, group)
            core.engine.folder.made = []  # they may be read for long; vacuum removes them
        version = version.with_snapshot(number, caught.snapshot)
    return version.view_rows(view)


def runs_frame(core: Core, last: Any) -> Any:
    """The run records of the last versions, or of all, as a frame of the user's session."""
    if last is not None and (isinstance(last, bool) or not isinstance(last, int) or last < 0):
        raise QueryError(f"last must be a number of versions, not {last!r}", hint="db.runs(last=100)")
    with core.lock, core.progress.run():
        log, first = core.engine.log, 1 if last is None else max(1, core.version - last + 1)
        rows = list(plain_rows(log.entry(v) for v in log.versions() if v >= first))
        return core.engine.home.createDataFrame(rows, user_schema(RUNS.fields))
