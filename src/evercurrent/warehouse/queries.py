"""A query, once, from scratch: compiled to a program of its own, which is fed with the stored tables and views.

answer(core, query)      [((7, Decimal('12.50')), 1), ...]      the rows, each with how often it is there
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.inline import inlined
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Fixpoint, Input
from evercurrent.design.compile import stages
from evercurrent.design.evaluation import RESULT, reference
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConstraintError
from evercurrent.warehouse.changes.touched_rows import Partial
from evercurrent.warehouse.core import Core

Entries = list[tuple[Row, int]]


def answer(core: Core, query: Query, pending: Mapping[str, ZSet] | None = None) -> Entries:
    """Returns the rows of a query over the present version, with the `pending` changes of tables."""
    query = inlined(query, core.catalog)
    if not relations_of(query):
        return list(evaluate(query, lambda name: ()).items())
    plan = stages(query, core.catalog).plan
    program = compile_views({RESULT: plan}, core.catalog, assume=False)
    relation = program.views[RESULT]
    part = part_for(program, (), [relation], ())
    inputs: dict[str, Segment] = {}
    recursive = any(isinstance(r, Fixpoint) for r in part.relations)
    for r in part.relations:
        if isinstance(r, Input):
            inputs[r.name] = contents(core, r, pending or {}, recursive)
    outcome, _ = core.engine.run(part, {}, inputs, beginning=True, keep=())
    types = [f.type for f in query.fields]
    return core.engine.rows(Store((outcome.deltas.get(relation, EMPTY),)), types)


def answer_pending(core: Core, query: Query, deltas: Mapping[str, ZSet], partial: Partial) -> Entries:
    """Returns the rows of a query over the tables as a transaction has them; views are found from these tables."""
    if not deltas:
        return answer(core, query)
    try:
        core.examine(dict(deltas), partial)
    except ConstraintError:
        # Plans may rely on constraints that do not hold yet; the reference evaluator relies on nothing.
        def rows(name: str) -> ZSet:
            return table_rows(core, name) + deltas.get(name.lower(), ZSet())

        return list(reference(query, core.catalog, rows).items())
    return answer(core, over_tables(query, core.catalog), deltas)


def over_tables(query: Query, catalog: Catalog) -> Query:
    """Returns the query with the views that it reads written out, to any depth."""
    written_out = replace(catalog, views={k: replace(v, inline=True) for k, v in catalog.views.items()})
    while any(catalog.view(name) is not None for name in relations_of(query)):
        query = inlined(query, written_out)
    return query


def table_rows(core: Core, name: str) -> ZSet:
    """Returns the rows of a table at the present version."""
    return ZSet(core.engine.rows(core.table_segments(name), core.table_types(name)))


def view_rows(core: Core, name: str) -> list[Row]:
    """Returns the rows of a view at the present version, by its exact name, each as often as it is there."""
    view = core.view(name)
    if view.inline:
        entries = answer(core, cast(Query, view.query))
    else:
        entries = core.engine.rows(core.view_segments(view.name), [f.type for f in view.fields])
    return [row for row, weight in entries for _ in range(weight)]


def contents(core: Core, r: Input, pending: Mapping[str, ZSet], once: bool) -> Segment:
    """Returns the rows of an input, each once or as the sum that they lie in."""
    types = [c.type for c in r.columns]
    if r.rows is not None:
        return core.engine.write_rows(scratch_store(r.name, "constant"), types, [(row, 1) for row in r.rows])
    store, _ = core.named_segments(r.name)
    delta = pending.get(r.name.lower())
    if delta:
        added = core.engine.write_rows(scratch_store(r.name, "pending"), types, list(delta.items()))
        store = replace(store, recent=(*store.recent, added))
    if once or store.rows <= DRIVER_ENTRIES:
        return core.engine.whole(scratch_store(r.name, "whole"), store, types)
    return core.engine.sum_of(store)
