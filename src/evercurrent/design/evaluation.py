"""Evaluates a query once, from scratch.

    run_query(query, catalog, tables)      ZSet({(7, 950): 1})

The query is compiled, with the views that it reads, to a program of its own, and a private engine applies the tables to it: so
joins are hash joins. The reference evaluator takes what does not compile, and what reads so few rows that compiling would take
longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from evercurrent.algebra.nodes import Plan
from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import views_under
from evercurrent.data.zset import ZSet
from evercurrent.delta.compile import compile_views
from evercurrent.design.compile import stages
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.errors import UnsupportedError

Contents = Callable[[str], ZSet]

RESULT = "query\0"
"""The name of the query among the views of its program; no identifier has a NUL."""

FEW = 64
"""Up to so many rows are read sooner than a program is compiled."""


def run_query(
    query: Query,
    catalog: Catalog,
    tables: Contents,
    given: Contents | None = None,
    plans: Mapping[str, Plan] | None = None,
) -> ZSet:
    """The rows of a query over tables and views.

    `tables` returns the rows of tables. With `given`, those of views are taken as they are; without, they are found from
    the tables. `plans` are plans of views that are known already.
    """
    query = inline_views(query, catalog)
    names = relations_of(query)
    if not names:
        return evaluate(query, lambda name: ())
    known: dict[str, ZSet] = {}
    chosen: dict[str, Plan] = {}
    for view in views_under(names, catalog):
        if view.query is None:  # only Spark computes it: its rows are stored, like those of a table
            known[view.name] = (given or tables)(view.name)
        elif given is not None:
            known[view.name] = given(view.name)
        elif plans is not None and view.name in plans:
            chosen[view.name] = plans[view.name]
        else:
            known[view.name] = run_query(cast(Query, view.query), catalog, tables, None, plans)

    def contents(name: str) -> ZSet:
        if name not in known:
            known[name] = tables(name)
        return known[name]

    given_names = frozenset(known)
    if not chosen and sum(len(contents(name)) for name in names) <= FEW:
        return reference(query, catalog, contents, given_names)
    try:
        program = compile_views({**chosen, RESULT: stages(query, catalog).plan}, catalog)
    except UnsupportedError:
        return reference(query, catalog, contents, given_names)
    engine = LiveEngine()
    engine.install(program, lambda name: contents(name).items())
    return ZSet(engine.rows(program.views[RESULT]))


def reference(
    query: Query, catalog: Catalog, contents: Contents, given: frozenset[str] = frozenset()
) -> ZSet:
    """Returns the rows of a query by the reference evaluator; `contents` returns those of tables and of `given` views."""
    found: dict[str, ZSet] = {}

    def relation(name: str) -> ZSet:
        if name not in found:
            view = None if name in given else catalog.view(name)
            if view is None or view.query is None:
                found[name] = contents(name)
            else:
                found[name] = evaluate(cast(Query, view.query), lambda inner: relation(inner).items())
        return found[name]

    return evaluate(query, lambda name: relation(name).items())
