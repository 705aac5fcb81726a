"""Updates published views after each commit. What a crash has left behind is completed when the warehouse is next opened.

A published table says which version it is at, and only what lies between that version and ours is added to it. Law: a
published table never goes back. If another driver has taken it further than we are, it is left alone.

    table at version 3, warehouse at 5       the changes of 4 and 5 are applied
    table at version 6, warehouse at 5       nothing is done

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
from evercurrent.design.row_keys import row_key
from evercurrent.engine.spark.engine import fits_driver
from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.engine.spark.storage.disk import DISK
from evercurrent.engine.spark.storage.places import Place
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_frame
from evercurrent.errors import QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.changes_listed import changes_since, read_listed_rows
from evercurrent.warehouse.maintenance.publish_merged import merge_view

ATTEMPTS = 3
"""How often a view is published again if another driver publishes it at the same time."""


PUBLISHING = ("publish", "merge", "merge_id")
"""What a definition says of publishing; it stays when the view is defined again."""


class PublishWarning(UserWarning):
    """A view is right, but could not be published as a Delta table."""


def definition_of(core: Core, view: str) -> Mapping[str, Any]:
    wanted = ("view", view.lower())
    return next((d for d in core.definitions if (d["kind"], d["name"].lower()) == wanted), {})


def publish_path(core: Core, view: str) -> Place | None:
    """Where a view is published; None if it is not to be, or not confirmed: then there is a warning, once."""
    chosen = definition_of(core, view).get("publish", True)
    if chosen is False:
        return None
    if chosen is True:
        if not core.engine.folder.disk.publishes:
            return None
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
    found, root = path.resolve(), core.engine.folder.root
    if isinstance(root, Path) and found.is_relative_to(root.resolve()):
        inside = found.relative_to(root.resolve()).parts
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
                untold = publish_view(core, view, path)
                problems += [untold] if untold else []
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


def target_at(core: Core, path: Place) -> delta.Target:
    """Returns a place with the disk that it is on: that of the warehouse, or the local one."""
    return delta.Target(path, DISK if isinstance(path, Path) else core.engine.folder.disk)


def publish_view(core: Core, view: View, path: Place) -> str | None:
    """Brings the table of a view to the present version; returns a warning about it, if there is one."""
    definition = definition_of(core, view.name)
    known = core.published.get(view.name)
    if definition.get("merge"):
        return None if known == core.version else merge_view(core, view, str(path), definition)
    write_view(core, view, target_at(core, path), known)
    return None


def write_view(core: Core, view: View, target: delta.Target, known: int | None) -> None:
    """Brings a table of our own to the present version."""
    at = known if known is not None else delta.find_published_version(target)
    if at is not None and core.version < at <= core.engine.log.latest():
        return  # another driver is ahead of us
    since = changes_since(core, view.name, at) if at is not None else None
    if since == []:
        core.published[view.name] = core.version
        return
    types = [f.type for f in view.fields]
    if since is not None and fits_driver(Store(tuple(since))):
        change = ZSet((row, w) for s in since for row, w in core.engine.rows(Store((s,)), types))
        done: delta.Published = "done"
        if change:
            key = row_key(core.catalog, core.design, view.name)
            done = delta.publish_change(target, view.fields, list(change.items()), at, core.version, key)
        if done == "moved":
            # Another driver has changed the table since it was read here.
            core.published.pop(view.name, None)
            if known is not None:
                write_view(core, view, target, None)
            return
        if done == "done":
            core.published[view.name] = core.version
            return
    store = read_listed_rows(core, view.name)
    if fits_driver(store):
        rows = [row for row, w in core.engine.rows(store, types) for _ in range(w)]
        delta.publish_rows(target, view.fields, rows, core.version)
    else:
        frame = user_frame(core.engine.session, core.engine.frame(store, types), view.fields)
        delta.publish_frame(target, view.fields, frame, core.version)
    core.published[view.name] = core.version
