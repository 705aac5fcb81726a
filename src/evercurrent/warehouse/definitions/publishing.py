"""Where a view is published, as part of its definition.

    db.publish("spend", to="exports/spend")                        a Delta table of its own in exports/spend
    db.publish("spend", to=False)                                  nowhere
    db.publish("spend", "lake/customers", merge=["customer"])      merged into the Delta table that is there already

With `merge`, the columns of a key, see `maintenance.publish_merged`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evercurrent.catalog.nodes import View
from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.engine.spark.storage.delta.merges import require_columns
from evercurrent.engine.spark.storage.delta_tables import Target
from evercurrent.errors import QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.drafts import change, name_of
from evercurrent.warehouse.definitions.oql import redefine_publishing
from evercurrent.warehouse.maintenance.publish import PUBLISHING, definition_of, publish, publish_path
from evercurrent.warehouse.maintenance.publish_merged import require_key
from evercurrent.warehouse.maintenance.publish_places import read_place, resolve, target_at


def set_publishing(
    core: Core, name: str, to: bool | str | os.PathLike[str], merge: Iterable[str] | str = ()
) -> None:
    """Publishes a view elsewhere, or nowhere, from now on; a version of its own."""
    view = core.view(name).name
    target = None if isinstance(to, bool) else target_at(core, read_place(to))
    chosen = to if isinstance(to, bool) else str(read_place(to))
    old, before = publish_path(core, view), definition_of(core, view)
    if target is not None:  # the program's own word
        core.publish_to = (*core.publish_to, resolve(target.path))
        core.unconfirmed.discard(view)
    about = {"publish": chosen} if not merge else describe_merge(core, core.view(name), target, merge, before)
    if {k: v for k, v in before.items() if k in PUBLISHING} == about or (
        before.get("publish", True) == chosen and not before.get("merge") and not merge
    ):
        publish(core)  # it may not have been confirmed before
        return
    if target is not None and not merge and delta.is_foreign(target):
        raise QueryError(
            f"view {view} cannot be published at {chosen}: something else lies there",
            hint="name a folder that is empty or not there yet; merge=[...] merges the view into a Delta table, by a key",
        )
    new = {**{k: v for k, v in before.items() if k not in PUBLISHING}, **about}
    if not redefine_publishing(core, core.view(name), new):
        definitions = tuple(new if d is before else d for d in core.snapshot.definitions)
        snapshot = replace(core.snapshot, definitions=definitions)
        number = core.engine.log.commit(snapshot, core.version, kind="PUBLISH")
        core.present = core.present.with_snapshot(number, snapshot)
    core.published.pop(view, None)
    if old == delta.place(core.engine.folder, view):
        delta.withdraw(core.engine.folder, view)
    publish(core)


def publish_nowhere(core: Core, name: str) -> None:
    """Says of a view that is being defined that it is published nowhere, in the version that defines it."""
    view = core.view(name).name
    new = {k: v for k, v in definition_of(core, view).items() if k not in PUBLISHING} | {"publish": False}
    change(core, core.catalog, "CREATE VIEW", edited={name_of(new): new})


def describe_merge(
    core: Core, view: View, target: Target | None, merge: Iterable[str] | str, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns what the definition says of merging. What is merged has a name of its own in the log of the table."""
    if target is None:
        raise QueryError(
            "merge is for a table that is there already",
            hint="db.publish(view, 'path/of/table', merge=['id'])",
        )
    chosen = str(target.path)
    if not target.disk.names(target.path / "_delta_log") or not target.exists():
        raise QueryError(
            f"view {view.name} cannot be merged into {chosen}: there is no Delta table",
            hint="create the table first; without merge, the view is published as a table of its own",
        )
    key = list(require_key(core, view, [merge] if isinstance(merge, str) else list(merge)))
    require_columns(target.table(), chosen, view.name, view.fields)
    same = before.get("publish") == chosen and before.get("merge") == key
    identity = before["merge_id"] if same else f"evercurrent {view.name} {uuid.uuid4().hex}"
    return {"publish": chosen, "merge": key, "merge_id": identity}
