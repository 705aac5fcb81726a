"""Sources of a dbt project that are sources of the database: declared from `meta`, and refreshed once in a run.

    sources:
      - name: lake
        tables:
          - name: orders
            meta: {evercurrent: {format: delta, path: lake/orders, key: [id]}}

The entries of `evercurrent` are the arguments of `db.source`. A source without them is a table or view that is there already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt.adapters.evercurrent.relation import name_in_database


def declare(db: Any, sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Declares the sources that the database does not have yet; returns their names."""
    there = {name.lower() for name in db.tables}
    made = []
    for node in sources:
        arguments = _arguments(node)
        name = name_in_database(node.get("schema"), node.get("identifier") or node.get("name"))
        if arguments is None or name.lower() in there:
            continue
        db.source(name, **arguments)
        made.append(name)
    return made


def _arguments(node: Mapping[str, Any]) -> dict[str, Any] | None:
    config = node.get("config") or {}
    for meta in (node.get("meta"), config.get("meta")):
        if meta and "evercurrent" in meta:
            return dict(meta["evercurrent"])
    return None
