"""One batch through all views: those to be recomputed first, then the rest by the program.

    views that no program keeps     the reference evaluator         new - old
    views recomputed in full        Spark's SQL, or their part of   new - old (`recompute`)
                                    the program, over the tables
    all other views, assertions     the rest of the program         segments added

The order is the one in which changes travel: the delta of a recomputed view is an input for its readers.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Input
from evercurrent.design.compile import ASSERTION
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.progress import list_names
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import StoreName, table_store, view_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.statements.run_record import ViewRun
from evercurrent.warehouse.maintenance.effect import Effect
from evercurrent.warehouse.maintenance.evaluated_views import evaluate_views
from evercurrent.warehouse.maintenance.recompute import recompute
from evercurrent.warehouse.maintenance.recompute_by_sql import add_reports
from evercurrent.warehouse.maintenance.run_costs import learn_factors, view_runs
from evercurrent.warehouse.maintenance.views_by_spark import update_spark_views
from evercurrent.warehouse.planning.strategies import Decision, circumstances, find_recomputed
from evercurrent.warehouse.program_parts import part_without, rows_store, stateless_relations, stores_of
from evercurrent.warehouse.version import Version


def update_views(
    engine: Engine,
    version: Version,
    inputs: Mapping[str, Segment],
    references: Mapping[str, Segment] | None = None,
) -> tuple[Effect, tuple[ViewRun, ...]]:
    """Runs the changes of tables (by lower-cased names) through all views; returns the effect and a line for each view.

    `references` are all rows of tables that are not stored here, as they are after the batch.
    """
    changed = {version.catalog.tables[key].name: s.rows for key, s in inputs.items()}
    decisions = version.outlook.decide(version.size, changed, circumstances(engine, version.snapshot))
    evaluated = [d.view for d in decisions.values() if d.relation is None and d.strategy == "full"]
    effect = compute_effect(engine, version, inputs, find_recomputed(decisions), evaluated, references)
    queue_deferred(version, inputs, effect)
    runs = view_runs(version.outlook, decisions, effect, changed)
    effect.factors = learn_factors(version.snapshot.factors, decisions, runs)
    return effect, runs


def compute_effect(
    engine: Engine,
    version: Version,
    inputs: Mapping[str, Segment],
    full: Mapping[str, Decision],
    evaluated: Collection[str],
    references: Mapping[str, Segment] | None = None,
) -> Effect:
    """Computes the effect of a batch on all stores.

    `full` are the relations that are recomputed, with the decision for each; `evaluated` are the names of the changed views
    that no program keeps.
    """
    program = version.program
    effect = Effect()
    elsewhere = references or {}
    effect.added = {table_store(key): s for key, s in inputs.items() if s.rows and key not in elsewhere}
    effect.replaced = {table_store(key): Store((s,) if s.rows else ()) for key, s in elsewhere.items()}
    deltas = {version.catalog.tables[key].name: s for key, s in inputs.items() if s.rows}
    after = {**version.snapshot.plus(effect.added).stores, **effect.replaced}
    if evaluated:
        deltas |= update_by_evaluator(engine, version, evaluated, after, effect)
        after = {**after, **effect.replaced}
    stateless = stateless_relations(program, version.catalog, version.snapshot.cold)
    part = part_without(program, stateless | set(full))
    if full:
        deltas |= recompute(engine, version, full, stores_of(part), after, effect)
    outcome = Outcome()
    if any(isinstance(r, Input) and deltas.get(r.name, EMPTY).rows for r in part.relations):
        kept = [n for n, r in program.views.items() if r not in full and not n.startswith(ASSERTION)]
        engine.progress.stage(f"updating {list_names(kept) or 'assertions'}")
        held = version.deferred.held
        outcome, effect.run = engine.run(part, version.snapshot.stores, deltas, held=held)
    effect.deltas |= outcome.deltas
    effect.costs = outcome.costs
    effect.added |= {name: s for name, s in outcome.stores.items() if s.rows}
    own = stores_of(part)
    for relation in set(program.views.values()) - set(full):
        segment = outcome.deltas.get(relation, EMPTY)
        store = rows_store(program, relation)
        is_view = any(r == relation and not n.startswith(ASSERTION) for n, r in program.views.items())
        if segment.rows and store not in own and is_view:
            effect.added[store] = segment
    for name, relation in program.views.items():
        if effect.deltas.get(relation, EMPTY).rows:
            effect.views[name] = effect.deltas[relation]
    return effect


def update_by_evaluator(
    engine: Engine, version: Version, names: Collection[str], after: Mapping[StoreName, Store], effect: Effect
) -> dict[str, Segment]:
    """Evaluates views that no program keeps; returns their deltas, by name."""
    engine.progress.stage(f"evaluating {list_names(names)}")
    deltas: dict[str, Segment] = {}
    begin = time.perf_counter()
    for name, segment, report in update_spark_views(engine, version.outlook, names, after):
        if segment.rows:
            deltas[name] = effect.views[name] = segment
            effect.replaced[view_store(name)] = version.snapshot.stores.get(view_store(name), Store()).plus(
                segment
            )
        effect.evaluated[name] = report.seconds
        effect.sql = report if effect.sql is None else add_reports(effect.sql, report)
    after = {**after, **effect.replaced}
    for name, rows in evaluate_views(engine, version.catalog, names, after):
        view, store = version.view(name), view_store(name)
        types = [f.type for f in view.fields]
        old = version.snapshot.stores.get(store, Store())
        change = rows - ZSet(engine.rows(old, types))
        segment = engine.write_rows(store, types, list(change.items()))
        if segment.rows:
            deltas[name] = effect.views[name] = segment
            effect.replaced[store] = old.plus(segment)
        effect.evaluated[name] = time.perf_counter() - begin
        begin = time.perf_counter()
    return deltas


def queue_deferred(version: Version, inputs: Mapping[str, Segment], effect: Effect) -> None:
    """Adds the changes that deferred views have not read to their queues.

    A hybrid view of which only a part was updated is not listed as changed: the delta waits in its queue, too.
    """
    changes = {version.catalog.tables[key].name: s for key, s in inputs.items() if s.rows}
    changes |= {name: s for name, s in effect.views.items() if name in version.design.recomputed}
    for group in version.deferred.groups:
        for r in group.inputs:
            if r.name in changes:
                effect.added[group.queue(r.name)] = changes[r.name]
        for store in group.states:
            if store in effect.added:
                effect.added[group.queue(store)] = effect.added[store]
        for relation, names in group.relations.items() if group.kind == "hybrid" else ():
            partial = [effect.views.pop(name, EMPTY) for name in names]
            if partial[0].rows:
                effect.added[group.queue(rows_store(group.program, relation))] = partial[0]
