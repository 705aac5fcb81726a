"""What versions list of a view: its rows, and its changes after a version. Programs outside know the view by these.

    changes_since(core, "spend", 2)       the segments of versions 3, 4, ...
    the view was filled at version 4      None: whoever follows it reads all rows

Deferred changes of a view are not listed until somebody reads it.
"""

from __future__ import annotations

from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import subtract
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_relations import view_rows_store


def read_listed_rows(core: Core, view: str) -> Store:
    """Returns the rows of a view as far as versions list its changes; deferred changes are published when somebody reads the view."""
    store = core.present.view_rows(view)
    group = core.present.deferred.by_view.get(view)
    name = view_rows_store(core.design, view)
    queued = None if group is None else core.snapshot.stores.get(group.queue(name))
    if group is None or group.kind == "lazy" or queued is None:
        return store
    return subtract(core.engine, name, store, queued, row_schema([f.type for f in core.view(view).fields]))


def changes_since(core: Core, view: str, at: int) -> list[Segment] | None:
    """The changes of a view after a version; None if they are not known, so that all rows must be published again."""
    if at > core.version:
        return None
    segments = []
    for version in range(at + 1, core.version + 1):
        entry = core.engine.log.entry(version)
        if view in entry.record.get("filled", ()):
            return None
        if view in entry.changes:
            segments.append(entry.changes[view])
    folder = core.engine.folder
    there = all(folder.disk.exists(folder.path(f)) for s in segments for f in s.files)
    return segments if there else None
