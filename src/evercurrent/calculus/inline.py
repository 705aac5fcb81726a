"""Views that are not kept: their query is written out wherever they are read.

    bag{ (n: v.n) | v <- older }  =  bag{ (n: v.n) | v <- bag{ (n: e.name) | e <- emp, e.age > 39 } }

A view whose value is kept in parts is one: what SQL sees of it is a query over the parts.
"""

from __future__ import annotations

from typing import cast

from evercurrent.calculus.nodes import Query, Relation
from evercurrent.calculus.walk import relations_of, rewrite
from evercurrent.catalog.catalog import Catalog


def inline_views(query: Query, catalog: Catalog) -> Query:
    """The query over views that are kept, and tables."""
    found = {
        name: cast(Query, view.query)
        for name in relations_of(query)
        if (view := catalog.view(name)) is not None and view.inline
    }
    if not found:
        return query
    return rewrite(query, lambda q: found.get(q.name, q) if isinstance(q, Relation) else q)
