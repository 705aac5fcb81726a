"""A query, once, from scratch: compiled to a program of its own, which is fed with the stored tables and views.

answer(core, query)      [((7, Decimal('12.50')), 1), ...]      the rows, each with how often it is there
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.inline import inlined
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Fixpoint, Input
from evercurrent.design.compile import stages
from evercurrent.design.evaluation import RESULT
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import relation_rows

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


def contents(core: Core, r: Input, pending: Mapping[str, ZSet], once: bool) -> Segment:
    """Returns the rows of an input, each once or as the sum that they lie in."""
    types = [c.type for c in r.columns]
    if r.rows is not None:
        return core.engine.write_rows(scratch_store(r.name, "constant"), types, [(row, 1) for row in r.rows])
    store, _ = relation_rows(core, r.name)
    delta = pending.get(r.name.lower())
    if delta:
        added = core.engine.write_rows(scratch_store(r.name, "pending"), types, list(delta.items()))
        store = replace(store, recent=(*store.recent, added))
    if once or store.rows <= DRIVER_ENTRIES:
        return core.engine.whole(scratch_store(r.name, "whole"), store, types)
    return core.engine.sum_of(store)
