"""Published views follow the commits. What a crash has left behind is caught up when the warehouse is next opened.

A published table says which version it is at, and only what lies between that version and ours is added to it. Law: a
published table never goes back. If another driver has taken it further than we are, it is left alone.

Where a view is published is part of its definition: in the warehouse (the default), at a path, or nowhere. A path outside the
warehouse is written only if the program has named it: by `db.publish`, or by a folder in `publish_to` when it opened the warehouse.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evercurrent.catalog.nodes import View, is_part
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_frame
from evercurrent.engine.spark.subtraction import subtract
from evercurrent.errors import QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.deferred_relations import view_rows_store

ATTEMPTS = 3
"""How often a view is published again if another driver publishes it at the same time."""


class PublishWarning(UserWarning):
    """A view is right, but could not be published as a Delta table."""


def definition_of(core: Core, view: str) -> Mapping[str, Any]:
    wanted = ("view", view.lower())
    return next((d for d in core.definitions if (d["kind"], d["name"].lower()) == wanted), {})


def publish_path(core: Core, view: str) -> Path | None:
    """Where a view is published; None if it is not to be, or not confirmed: then there is a warning, once."""
    chosen = definition_of(core, view).get("publish", True)
    if chosen is False:
        return None
    if chosen is True:
        return delta.place(core.engine.folder, view)
    path = Path(str(chosen))
    if is_confirmed(core, path):
        return path
    if view not in core.unconfirmed:
        core.unconfirmed.add(view)
        warnings.warn(
            f"view {view} is not published: its definition names {path}, outside the warehouse, which this program has not "
            f"confirmed; ec.connect(..., publish_to=[{str(path)!r}]) does, or db.publish({view!r}, ...) names another place",
            PublishWarning,
            stacklevel=3,
        )
    return None


OWN = ("_log", "data", "quarantine")
"""Folders of a warehouse that hold what it is made of."""


def is_confirmed(core: Core, path: Path) -> bool:
    """Whether views may be written at a path: somewhere in the warehouse, or in a folder that the program has named."""
    found, root = path.resolve(), core.engine.folder.root.resolve()
    if found.is_relative_to(root):
        inside = found.relative_to(root).parts
        return bool(inside) and inside[0] not in OWN
    return path.is_absolute() and any(found.is_relative_to(folder) for folder in core.publish_to)


def folders_of(publish_to: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    if isinstance(publish_to, str | bytes | os.PathLike) or not isinstance(publish_to, Iterable):
        raise QueryError(
            "publish_to must be a list of folders", hint="ec.connect(..., publish_to=['exports'])"
        )
    return tuple(Path(os.fspath(folder)).resolve() for folder in publish_to)


def publish(core: Core) -> tuple[str, ...]:
    """Bring every published view to the present version; returns what has failed, of which it warns too."""
    problems = []
    for view in core.catalog.views.values():
        path = None if is_part(view) else publish_path(core, view.name)
        for attempt in range(ATTEMPTS if path is not None else 0):
            assert path is not None
            try:
                publish_view(core, view, path)
                break
            except Exception as problem:
                # The version is committed; readers through evercurrent have it. If another driver was quicker, we look
                # again at what it has left to do.
                core.published.pop(view.name, None)
                if attempt + 1 == ATTEMPTS:
                    problems.append(f"view {view.name} could not be published: {problem}")
    for said in problems:
        warnings.warn(said, PublishWarning, stacklevel=3)
    return tuple(problems)


def publish_view(core: Core, view: View, path: Path) -> None:
    known = core.published.get(view.name)
    at = known if known is not None else delta.published_version(path)
    if at is not None and core.version < at <= core.engine.log.latest():
        return  # another driver is ahead of us
    since = changes_since(core, view.name, at) if at is not None else None
    if since == []:
        core.published[view.name] = core.version
        return
    types = [f.type for f in view.fields]
    if since is not None and sum(s.rows for s in since) <= DRIVER_ENTRIES:
        change = ZSet((row, w) for s in since for row, w in core.engine.rows(Store((s,)), types))
        if change and not delta.publish_change(path, view.fields, list(change.items()), at, core.version):
            # Another driver has moved the table since we looked.
            core.published.pop(view.name, None)
            if known is not None:
                publish_view(core, view, path)
            return
        core.published[view.name] = core.version
        return
    store = listed_rows(core, view.name)
    if store.rows <= DRIVER_ENTRIES:
        rows = [row for row, w in core.engine.rows(store, types) for _ in range(w)]
        delta.publish_rows(path, view.fields, rows, core.version)
    else:
        frame = user_frame(core.engine.session, core.engine.frame(store, types), view.fields)
        delta.publish_frame(path, view.fields, frame, core.version)
    core.published[view.name] = core.version


def listed_rows(core: Core, view: str) -> Store:
    """Returns the rows of a view as far as versions list its changes; deferred changes are published when somebody reads the view."""
    store = core.present.view_rows(view)
    group = core.present.deferred.by_view.get(view)
    name = view_rows_store(core.design, view)
    queued = None if group is None else core.snapshot.stores.get(group.queue(name))
    if group is None or group.kind == "lazy" or queued is None:
        return store
    return subtract(core.engine, name, store, queued, row_schema([f.type for f in core.view(view).fields]))


def changes_since(core: Core, view: str, at: int) -> list[Segment] | None:
    """The changes of a view after a version; None if they are not known, so that it is to be published anew."""
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
