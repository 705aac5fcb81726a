"""Why a view on a warehouse has a row: its base rows, read from the stores by the driver.

    db.view("spend").why((7, "12.50"))       spend [7, 12.50] comes from orders (1, 7, 9.50), (2, 7, 3.00)

Rows with the row's own values, and with the keys of joins, are looked up, without Spark; a table for which nothing narrower is
known is read whole, if the driver can hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from evercurrent.catalog.nodes import View
from evercurrent.data.zset import Row
from evercurrent.design.why import (
    NOTHING,
    Contents,
    Why,
    explain_row,
    filter_needed,
    is_valued,
    objects_of,
    read_row,
)
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.errors import UnsupportedError
from evercurrent.oql_views.why import why_value
from evercurrent.statements.oql import stitcher_of
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import relation_rows
from evercurrent.warehouse.statements import WarehouseTarget

MOST = 5_000_000
"""The most rows of one relation that the driver reads to explain one row."""


def why(target: WarehouseTarget, view: View, row: Any = NOTHING) -> Why:
    """The base rows that a row of a view comes from, at the present version; of a view in OQL, an element or all."""
    core = target.core
    with core.lock:
        if is_valued(view):
            found = why_value(view, row, core.catalog, contents(core, view), stitcher_of(target))
        else:
            inner = read_row(view.name, view.fields, row)
            found = explain_row(view, inner, core.catalog, contents(core, view))
        return replace(found, objects=objects_of(found, core.catalog, target.object_of))


def contents(core: Core, view: View) -> Contents:
    """The stored rows, those with needed values."""

    def read(name: str, needs: Mapping[int, Set[Any]]) -> Iterable[tuple[Row, int]]:
        store, types = relation_rows(core, name)
        sets = {at: {v for v in values if v is not None} for at, values in needs.items()}
        for at in sorted(sets, key=lambda i: len(sets[i])):
            if len(sets[at]) <= SMALL_ROWS:
                found = core.engine.find(store, types, (at,), {(v,) for v in sets[at]}, all_of=True)
                return filter_needed(found, {i: s for i, s in sets.items() if i != at})
        if store.rows > MOST:
            raise UnsupportedError(
                f"{name} has {store.rows:,} rows, and the row of {view.name} does not say which of them matter",
                hint="a view that keeps the keys of what it is made from can be explained",
            )
        return filter_needed(core.engine.rows(store, types), sets)

    return read
