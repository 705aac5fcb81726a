"""Which columns tell the rows of a table or view apart: by them, an old row and the new one of a change are paired.

orders (id PRIMARY KEY, ...)                    id
SELECT customer, sum(total) ... GROUP BY ...    customer, also where it can be NULL
"""

from __future__ import annotations

from evercurrent.algebra.keys import keys
from evercurrent.algebra.nodes import columns
from evercurrent.catalog.catalog import Catalog
from evercurrent.design.compile import Design


def row_key(catalog: Catalog, design: Design, name: str) -> tuple[int, ...]:
    """Returns where the columns of the smallest key stand; nothing if there is none, or at most one row."""
    table = catalog.table(name)
    if table is not None:
        places = {c.name: i for i, c in enumerate(table.columns)}
        return () if table.primary_key is None else tuple(places[c] for c in table.primary_key.columns)
    stages = design.stages.get(name)
    if stages is None:
        return ()
    places = {c.name: i for i, c in enumerate(columns(stages.plan))}
    found: list[list[int]] = [
        sorted(places[c] for c in key) for key in keys(stages.plan, catalog) if key <= places.keys()
    ]
    return tuple(min((len(key), key) for key in found)[1]) if found else ()
