"""Rows as a reader sees them: of tables, of views, and of queries with the changes of an open transaction.

answer_pending(core, query, deltas, touched)      the rows of a query as they would be after the transaction
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import views_under
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.evaluation import reference
from evercurrent.errors import ConstraintError, UnsupportedError
from evercurrent.warehouse.changes.constraints import validate_rows
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import view_rows as stored_rows
from evercurrent.warehouse.queries import Entries, answer
from evercurrent.warehouse.touched_rows import TouchedRows


def answer_pending(core: Core, query: Query, deltas: Mapping[str, ZSet], touched: TouchedRows) -> Entries:
    """Returns the rows of a query over the tables as a transaction has them; views are found from these tables."""
    if not deltas:
        return answer(core, query)
    try:
        validate_rows(core, deltas, touched)
    except ConstraintError:
        # Plans may rely on constraints that do not hold yet; the reference evaluator relies on nothing.
        def rows(name: str) -> ZSet:
            return table_rows(core, name) + deltas.get(name.lower(), ZSet())

        over_tables(query, core.catalog)
        return list(reference(query, core.catalog, rows).items())
    return answer(core, over_tables(query, core.catalog), deltas)


def over_tables(query: Query, catalog: Catalog) -> Query:
    """Returns the query with the views that it reads written out, to any depth."""
    for view in views_under(relations_of(query), catalog):
        if view.query is None:
            raise UnsupportedError(
                f"only Spark computes {view.name}, from tables that are committed",
                hint="read it after the transaction",
            )
    written_out = replace(catalog, views={k: replace(v, inline=True) for k, v in catalog.views.items()})
    while any(catalog.view(name) is not None for name in relations_of(query)):
        query = inline_views(query, written_out)
    return query


def table_rows(core: Core, name: str) -> ZSet:
    """Returns the rows of a table at the present version."""
    return ZSet(core.engine.rows(core.present.table_rows(name), core.table_types(name)))


def view_rows(core: Core, name: str) -> list[Row]:
    """Returns the rows of a view at the present version, by its exact name, each as often as it is there."""
    view = core.view(name)
    if view.inline:
        entries = answer(core, cast(Query, view.query))
    else:
        entries = core.engine.rows(stored_rows(core, view.name), [f.type for f in view.fields])
    return [row for row, weight in entries for _ in range(weight)]
