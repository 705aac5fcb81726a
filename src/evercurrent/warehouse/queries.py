"""A query, once, from scratch: compiled to a program of its own, which is fed with the stored tables and views.

answer(core, query)      [((7, Decimal('12.50')), 1), ...]      the rows, each with how often it is there
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Fixpoint, Input
from evercurrent.design.compile import stages
from evercurrent.design.evaluation import RESULT
from evercurrent.engine.spark.engine import fits_driver
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import scratch_store
from evercurrent.engine.spark.storage.stored_state import Store, sum_of
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import relation_rows
from evercurrent.warehouse.run_table import is_runs, run_rows, with_runs

Entries = list[tuple[Row, int]]


def answer(core: Core, query: Query, pending: Mapping[str, ZSet] | None = None) -> Entries:
    """Returns the rows of a query over the present version, with the `pending` changes of tables."""
    query = inline_views(query, core.catalog)
    if not relations_of(query):
        return list(evaluate(query, lambda name: ()).items())
    return core.engine.rows(Store((answer_segment(core, query, pending),)), [f.type for f in query.fields])


def answer_segment(core: Core, query: Query, pending: Mapping[str, ZSet] | None = None) -> Segment:
    """The same as a segment that no version mentions. The query has no views to write out, and reads something."""
    catalog = with_runs(core.catalog, relations_of(query))
    plan = stages(query, catalog).plan
    program = compile_views({RESULT: plan}, catalog, assume=False)
    relation = program.views[RESULT]
    part = part_for(program, (), [relation], ())
    inputs: dict[str, Segment] = {}
    recursive = any(isinstance(r, Fixpoint) for r in part.relations)
    for r in part.relations:
        if isinstance(r, Input):
            inputs[r.name] = contents(core, r, pending or {}, recursive)
    outcome, _ = core.engine.run(part, {}, inputs, beginning=True, keep=())
    return outcome.deltas.get(relation, EMPTY)


def contents(core: Core, r: Input, pending: Mapping[str, ZSet], once: bool) -> Segment:
    """Returns the rows of an input, each once or as the sum that they lie in."""
    types = [c.type for c in r.columns]
    if r.rows is not None:
        return core.engine.write_rows(scratch_store(r.name, "constant"), types, [(row, 1) for row in r.rows])
    if is_runs(r.name, core.catalog):
        rows = ((row, 1) for row in run_rows(core.engine.log.entries()))
        return core.engine.write_rows(scratch_store(r.name, "constant"), types, list(rows))
    store, _ = relation_rows(core, r.name)
    delta = pending.get(r.name.lower())
    if delta:
        added = core.engine.write_rows(scratch_store(r.name, "pending"), types, list(delta.items()))
        store = replace(store, recent=(*store.recent, added))
    if once or (fits_driver(store) and not store.elsewhere):
        return core.engine.whole(scratch_store(r.name, "whole"), store, types)
    return sum_of(store)
