"""Views that a batch recomputes: by Spark's own SQL, or by the program.

    by SQL     the query over the tables after the batch; only its difference to the stored rows is written. The states
               that only such views need are dropped: they are cold
    by a fill  the part of the program that computes the rows and the states from the tables; stores are replaced

Law. New rows are compared with the stored rows, whichever way computed them: so the delta is correct and minimal, and
its readers need not know the way. A store is kept exactly if `program_parts.select_stored_part` says so for the relations that are
cold afterwards. A dropped store is not part of the version, and a store that is filled again is replaced: none is ever stale.

What Spark refuses, or fails at, is computed by the program instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evercurrent.catalog.dependencies import view_order
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.kernel.outcome import Cost
from evercurrent.engine.spark.progress import list_names
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import difference
from evercurrent.warehouse.maintenance.effect import Effect
from evercurrent.warehouse.maintenance.fill_stores import part_inputs, relation_rows
from evercurrent.warehouse.maintenance.recompute_by_sql import add_reports, compute_by_sql
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Decision
from evercurrent.warehouse.program_parts import (
    always_full,
    part_to_fill,
    rows_store,
    select_stored_part,
    stores_of,
)
from evercurrent.warehouse.version import Version


def recompute(
    engine: Engine,
    version: Version,
    full: Mapping[str, Decision],
    updated: set[StoreName],
    after: Mapping[StoreName, Store],
    effect: Effect,
) -> dict[str, Segment]:
    """Recomputes relations and returns their deltas.

    `updated` are the stores that the rest of the program updates by these deltas; `after` are the stores after the batch.
    """
    program, catalog = version.program, version.catalog
    engine.progress.stage(f"recomputing {list_names(n for n, r in program.views.items() if r in full)}")
    before = stores_of(select_stored_part(program, catalog, version.snapshot.cold))
    deltas = recompute_by_sql(engine, version, full, after, effect)
    cold = {r: Cold.of_json(c) for r, c in version.snapshot.cold.items() if r not in full}
    colder = deltas.keys() - always_full(program, catalog)
    left = stores_of(select_stored_part(program, catalog, cold.keys() | colder))
    rows = {rows_store(program, r) for r in program.views.values()}
    dropped = before - left - rows
    for relation in colder:
        cold[relation] = cold_after(version, relation, full[relation], dropped)
    effect.cold = cold
    filled = full.keys() - deltas.keys()
    if filled:
        deltas |= recompute_by_program(engine, version, filled, left - updated, updated, after, effect)
    for relation, delta in deltas.items():
        effect.deltas[relation] = delta
        store = rows_store(program, relation)
        if relation not in filled and store not in updated and delta.rows:
            effect.added[store] = delta
    effect.replaced |= dict.fromkeys(dropped, Store())
    return deltas


def cold_after(version: Version, relation: str, decision: Decision, dropped: Iterable[StoreName]) -> Cold:
    """Returns what is remembered of a relation that SQL has recomputed."""
    known = version.snapshot.cold.get(relation)
    if known is not None:
        return Cold.of_json(known).add_cost(decision.more)
    stores = version.snapshot.stores
    return Cold(sizes={n: (stores[n].rows, stores[n].bytes) for n in sorted(dropped) if n in stores})


# --- by Spark's SQL ----------------------------------------------------------------------------------------


def recompute_by_sql(
    engine: Engine,
    version: Version,
    full: Mapping[str, Decision],
    after: Mapping[StoreName, Store],
    effect: Effect,
) -> dict[str, Segment]:
    """Returns the deltas of the relations that Spark's SQL is to compute, as far as it can."""
    catalog, program, outlook = version.catalog, version.program, version.outlook
    wanted = {r: d.view for r, d in full.items() if d.way == "sql"}
    touched = effect.added.keys() | effect.replaced.keys()
    changed = {key for key in catalog.tables if table_store(key) in touched}
    # Views whose rows are known as they are after the batch need not be computed again for those above them.
    known = {
        v.name
        for v in catalog.views.values()
        if not outlook.parts[v.name].under & changed and version.deferred.kind(v.name) is None
    }
    stores = dict(after)
    deltas: dict[str, Segment] = {}
    places = {view.name: i for i, view in enumerate(view_order(catalog))}
    for relation, view in sorted(wanted.items(), key=lambda x: places[x[1]]):
        found = compute_by_sql(engine, outlook, view, stores, known)
        if found is None:
            continue
        deltas[relation], report = found
        effect.sql = report if effect.sql is None else add_reports(effect.sql, report)
        effect.full_costs.append(Cost(frozenset({relation}), report.seconds, report.read_bytes))
        store = rows_store(program, relation)
        stores[store] = stores.get(store, Store()).plus(deltas[relation])
        known |= {n for n, r in program.views.items() if r == relation}
    return deltas


# --- by the program ----------------------------------------------------------------------------------------


def recompute_by_program(
    engine: Engine,
    version: Version,
    full: Iterable[str],
    stores: set[StoreName],
    updated: set[StoreName],
    after: Mapping[StoreName, Store],
    effect: Effect,
) -> dict[str, Segment]:
    """Fills these stores and computes the rows of these relations; returns the deltas of the relations."""
    program, full = version.program, list(full)
    part = part_to_fill(program, full, stores)
    inputs = part_inputs(engine, part, version.compiled, after)
    outcome, effect.full = engine.run(part, {}, inputs, beginning=True, keep=stores)
    effect.full_costs += outcome.costs
    for name in stores:
        segment = outcome.stores.get(name, EMPTY)
        effect.replaced[name] = Store((segment,)) if segment.rows else Store()
    types = {r: [f.type for f in version.view(n).fields] for n, r in program.views.items() if r in full}
    deltas: dict[str, Segment] = {}
    for relation in full:
        store = rows_store(program, relation)
        new = relation_rows(engine, part, relation, outcome, version.compiled, after)
        old = version.snapshot.stores.get(store, Store())
        deltas[relation] = difference(engine, scratch_store(store, "change"), old, new, types[relation])
        if store not in updated:
            effect.replaced[store] = Store((new,)) if new.rows else Store()
    return deltas
