"""Views that were defined in OQL, as collections or values that other queries use.

    define older as select e.name from e in Employees where e.age > 40

    select x from x in older      bag{ (value: x.value) | x <- older }

A view is read, not written out: its rows are stored.
"""

from __future__ import annotations

from evercurrent.frontend.oql.context import Context
from evercurrent.frontend.oql.layout import Layout, read_whole
from evercurrent.frontend.oql.values import Expr


def find_defined_view(context: Context, name: str) -> Expr | None:
    view = context.catalog.view(name)
    if view is None or view.name != name or not isinstance(view.shape, Layout):
        return None
    return read_whole(context, view.shape)
