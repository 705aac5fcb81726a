"""Updates published views after each commit. What a crash has left behind is completed when the warehouse is next opened.

A published table says which version it is at, and only what lies between that version and ours is added to it. Law: a
published table never goes back. If another driver has taken it further than we are, it is left alone.

    table at version 3, warehouse at 5       the changes of 4 and 5 are applied
    table at version 6, warehouse at 5       nothing is done

Where a view is published is part of its definition: in the warehouse (the default), at a path, or nowhere. A path outside the
warehouse is written only if the program has named it: by `db.publish`, or by a folder in `publish_to` when it opened the warehouse.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from evercurrent.catalog.nodes import View, is_part
from evercurrent.data.zset import ZSet
from evercurrent.design.row_keys import row_key
from evercurrent.engine.spark.engine import fits_driver
from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.engine.spark.storage.places import Place
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.user_frames import user_frame
from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.changes_listed import changes_since, read_listed_rows
from evercurrent.warehouse.maintenance.publish_merged import merge_view
from evercurrent.warehouse.maintenance.publish_places import is_confirmed, read_place, target_at

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
    try:
        path = read_place(str(chosen))
    except EvercurrentError as problem:
        warn_once(core, view, f"view {view} is not published: {problem.message}")
        return None
    if is_confirmed(core, path):
        return path
    warn_once(
        core,
        view,
        f"view {view} is not published: its definition names {path}, outside the warehouse, which this program has not "
        f"confirmed; ec.connect(..., publish_to=[{str(path)!r}]) does, or db.publish({view!r}, ...) names another place",
    )
    return None


def warn_once(core: Core, view: str, text: str) -> None:
    """Warns that a view is not published, the first time."""
    if view not in core.unconfirmed:
        core.unconfirmed.add(view)
        warnings.warn(text, PublishWarning, stacklevel=4)


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


def publish_view(core: Core, view: View, path: Place) -> str | None:
    """Brings the table of a view to the present version; returns a warning about it, if there is one."""
    definition = definition_of(core, view.name)
    known = core.published.get(view.name)
    if definition.get("merge"):
        return None if known == core.version else merge_view(core, view, target_at(core, path), definition)
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
