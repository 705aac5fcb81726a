"""Why a row is there, one step at a time: the rows of what its view reads, which may be views again.

    spend (7, 12.50)                    comes from
      big_orders (1, 7, 9.50)           which comes from
        orders (1, 7, 9.50, paid)
      big_orders (2, 7, 3.00)           not opened yet

The page asks for a step when somebody opens a row. An element of a view in OQL is explained by its base rows at once.
"""

from __future__ import annotations

from typing import Any

from evercurrent.catalog.nodes import View, is_part
from evercurrent.design.why import Why, explain_row, is_valued, read_row
from evercurrent.errors import UnsupportedError
from evercurrent.serve.encoding import json_value
from evercurrent.serve.studio.inspection import Inspection

MOST_ROWS = 200
"""The most rows of one relation that are shown."""


def derive(inspection: Inspection, handle: Any, view: View, row: Any) -> dict[str, Any]:
    """One step of the derivation of a row, as JSON."""
    given = tuple(row) if isinstance(row, list) else row
    if is_valued(view):
        return show_why(inspection, handle.why(given), whole=True)
    with inspection.hold():
        inner = read_row(view.name, view.fields, given)
        try:
            found = explain_row(view, inner, inspection.catalog, inspection.contents(view.name), direct=True)
        except UnsupportedError:  # a view that has no plan of its own: down to the tables
            return show_why(inspection, handle.why(given), whole=True)
    return show_why(inspection, found, whole=False)


def show_why(inspection: Inspection, found: Why, *, whole: bool) -> dict[str, Any]:
    catalog = inspection.catalog
    relations = []
    for name, rows in found.counted.items():
        view = catalog.view(name)
        relations.append(
            {
                "name": name,
                "kind": "table" if view is None else "part" if is_part(view) else "view",
                "columns": [f.name for f in found.fields[name]],
                "rows": [[json_value(v) for v in row] for row, _ in rows[:MOST_ROWS]],
                "times": [count for _, count in rows[:MOST_ROWS]],
                "count": len(rows),
            }
        )
    return {"relations": relations, "absent": list(found.absent), "whole": whole}
