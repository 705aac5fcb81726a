"""Where a view is published, as part of its definition: `db.publish("spend", to="exports/spend")`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.errors import QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.oql import redefine_publishing
from evercurrent.warehouse.maintenance.publish import definition_of, publish, publish_path


def set_publishing(core: Core, name: str, to: bool | str | os.PathLike[str]) -> None:
    """Publishes a view elsewhere, or nowhere, from now on; a version of its own."""
    view = core.view(name).name
    chosen: bool | str = to if isinstance(to, bool) else os.path.abspath(os.fspath(to))
    old = publish_path(core, view)
    if isinstance(chosen, str):  # the program's own word
        core.publish_to = (*core.publish_to, Path(chosen).resolve())
        core.unconfirmed.discard(view)
    new = {**definition_of(core, view), "publish": chosen}
    if definition_of(core, view).get("publish", True) == chosen:
        publish(core)  # it may not have been confirmed before
        return
    if isinstance(chosen, str) and delta.is_foreign(Path(chosen)):
        raise QueryError(
            f"view {view} cannot be published at {chosen}: something else lies there",
            hint="name a folder that is empty or not there yet",
        )
    if not redefine_publishing(core, core.view(name), new):
        definitions = tuple(new if d is definition_of(core, view) else d for d in core.snapshot.definitions)
        snapshot = replace(core.snapshot, definitions=definitions)
        number = core.engine.log.commit(snapshot, core.version, kind="PUBLISH")
        core.present = core.present.with_snapshot(number, snapshot)
    core.published.pop(view, None)
    if old == delta.place(core.engine.folder, view):
        delta.withdraw(core.engine.folder, view)
    publish(core)
