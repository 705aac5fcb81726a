"""Views that are merged into tables of others: `db.publish("spend", "lake/customers", merge=["customer"])`.

    view    (7, 13.50), (8, 3.00)
    before  (7, NULL, Bonn), (99, NULL, York)
    after   (7, 13.50, Bonn), (8, 3.00, NULL), (99, NULL, York)

A table says which version of the view it has, and the changes between that version and ours are merged into it; the first time
all rows are. If the changes in between are not listed (the view was rebuilt), the rows of the two versions are compared; if the
old version is no longer kept either, rows that have left the view since cannot be found, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evercurrent.algebra.keys import keys
from evercurrent.algebra.nodes import columns
from evercurrent.catalog.nodes import View
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.storage.delta.merges import find_merged_version, merge_rows, require_columns
from evercurrent.engine.spark.storage.delta_tables import Target, table_of
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.changes_listed import changes_since, read_listed_rows


def require_key(core: Core, view: View, merge: Sequence[str]) -> tuple[str, ...]:
    """Returns the columns by which a view is merged, as it names them; they must identify its rows."""
    names = {f.name.lower(): f.name for f in view.fields}
    unknown = [m for m in merge if str(m).lower() not in names]
    if unknown or not merge:
        raise QueryError(
            f"view {view.name} has no column {unknown[0]!r}"
            if unknown
            else "merge needs the columns of a key",
            hint=f"its columns are {', '.join(names.values())}",
        )
    chosen = tuple(names[m.lower()] for m in merge)
    stages = core.design.stages.get(view.name)
    known = [] if stages is None else list(keys(stages.plan, core.catalog))
    shown = set() if stages is None else {c.name for c in columns(stages.plan)}
    lowered = {c.lower() for c in chosen}
    if not any({k.lower() for k in key} <= lowered for key in known if key <= shown):
        found = [", ".join(sorted(key)) for key in known if key <= shown]
        raise QueryError(
            f"the columns {', '.join(chosen)} do not tell the rows of view {view.name} apart",
            hint=f"its keys are ({'), ('.join(found)})"
            if found
            else "it has no key: group by one, or keep that of a table",
        )
    return chosen


def merge_view(core: Core, view: View, target: Target, definition: Mapping[str, Any]) -> str | None:
    """Brings a table to the present version of a view; returns what cannot be told, if anything."""
    table = target.table()
    application = str(definition["merge_id"])
    at = find_merged_version(table, application)
    if at is not None and (core.version == at or core.version < at <= core.engine.log.latest()):
        core.published[view.name] = core.version
        return None
    require_columns(table, str(target.path), view.name, view.fields)
    change, problem = change_of(core, view, at)
    if change or at is None:
        key = [i for i, f in enumerate(view.fields) if f.name in definition["merge"]]
        come = {tuple(row[i] for i in key) for row, w in change if w > 0}
        gone = [row for row, w in change if w < 0 and tuple(row[i] for i in key) not in come]
        rows: list[Row] = [row for row, w in change if w > 0]
        merge_rows(
            table,
            application,
            view.fields,
            definition["merge"],
            table_of(view.fields, [*rows, *gone]),
            ["upsert"] * len(rows) + ["delete"] * len(gone),
            core.version,
        )
    core.published[view.name] = core.version
    return problem


def change_of(core: Core, view: View, at: int | None) -> tuple[list[tuple[Row, int]], str | None]:
    """Returns the net change of a view since a version, and what is not known of it."""
    types = [f.type for f in view.fields]
    now = read_listed_rows(core, view.name)
    if at is None:
        return core.engine.rows(now, types), None
    since = changes_since(core, view.name, at)
    if since is not None:
        return list(ZSet(e for s in since for e in core.engine.rows(Store((s,)), types)).items()), None
    present = ZSet(core.engine.rows(now, types))
    try:
        old = ZSet(core.engine.rows(core.past_rows(view.name, at), types))
    except (EvercurrentError, KeyError, OSError):
        return list(present.items()), (
            f"version {at} of view {view.name} is no longer kept: rows that have left the view since are still in the table"
        )
    return list((present - old).items()), None
