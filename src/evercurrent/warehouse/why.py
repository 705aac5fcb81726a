"""Why a view on a warehouse has a row: its base rows, read from the stores by the driver.

What the row's own values and the keys of joins determine is looked up, without Spark; a table of which nothing narrower is known
is read whole, if the driver can hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from evercurrent.catalog.nodes import View
from evercurrent.data.zset import Row
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.errors import UnsupportedError
from evercurrent.session.why import Why, explain_row, needed, read_row
from evercurrent.warehouse.core import Core

MOST = 5_000_000
"""So many rows of one relation the driver reads to explain one row."""


def why(core: Core, view: View, row: Any) -> Why:
    """The base rows that a row of a view comes from, at the present version."""

    def contents(name: str, needs: Mapping[int, Set[Any]]) -> Iterable[tuple[Row, int]]:
        store, types = core.named_segments(name)
        sets = {at: {v for v in values if v is not None} for at, values in needs.items()}
        for at in sorted(sets, key=lambda i: len(sets[i])):
            if len(sets[at]) <= SMALL_ROWS:
                found = core.engine.find(store, types, (at,), {(v,) for v in sets[at]})
                return needed(found, {i: s for i, s in sets.items() if i != at})
        if store.rows > MOST:
            raise UnsupportedError(
                f"{name} has {store.rows:,} rows, and the row of {view.name} does not say which of them matter",
                hint="a view that keeps the keys of what it is made from can be explained",
            )
        return needed(core.engine.rows(store, types), sets)

    with core.lock:
        return explain_row(view, read_row(view.name, view.fields, row), core.catalog, contents)
