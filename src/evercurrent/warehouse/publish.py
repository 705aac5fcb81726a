"""Published views follow the commits. What a crash has left behind is caught up when the warehouse is next opened."""

from __future__ import annotations

import warnings

from evercurrent.catalog.nodes import View
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark import publish as delta
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.reading import user_frame
from evercurrent.warehouse.core import Core


class PublishWarning(UserWarning):
    """A view is right, but could not be published as a Delta table."""


def publish(core: Core) -> None:
    """Bring every published view to the present version."""
    for view in core.catalog.views.values():
        try:
            publish_view(core, view)
        except Exception as problem:
            # The version is committed; readers through evercurrent have it.
            warnings.warn(f"view {view.name} could not be published: {problem}", PublishWarning, stacklevel=3)


def publish_view(core: Core, view: View) -> None:
    folder, log = core.engine.folder, core.engine.log
    known = core.published.get(view.name)
    at = known if known is not None else delta.published_version(folder, view.name)
    types = [f.type for f in view.fields]
    segments = []
    whole = at is None or at > core.version
    for version in range(core.version, 0 if at is None or whole else at, -1):
        entry = log.entry(version)
        if view.name in entry.record.get("filled", ()):
            whole = True
        if whole:
            break
        if view.name in entry.changes:
            segments.append(entry.changes[view.name])
    if not whole and not segments:
        core.published[view.name] = core.version
        return
    store = core.view_segments(view.name)
    missing = any(not (folder.root / f).exists() for s in segments for f in s.files)
    if not whole and not missing and sum(s.rows for s in segments) <= DRIVER_ENTRIES:
        change = ZSet((row, w) for s in segments for row, w in core.engine.rows(Store((s,)), types))
        if change:
            delta.publish_change(folder, view.name, view.fields, list(change.items()), core.version)
    elif store.rows <= DRIVER_ENTRIES:
        rows = [row for row, w in core.engine.rows(store, types) for _ in range(w)]
        delta.publish_rows(folder, view.name, view.fields, rows, core.version)
    else:
        frame = user_frame(core.engine.session, core.engine.frame(store, types), view.fields)
        delta.publish_frame(folder, view.name, view.fields, frame, core.version)
    core.published[view.name] = core.version
