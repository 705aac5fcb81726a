"""Views that a batch recomputes: by Spark's own SQL, or by the program.

    by SQL     the query over the tables after the batch; what it changes of the kept rows is all that is written. The states
               that only such views need are dropped: they are cold
    by a fill  the part of the program that makes the rows and the states, from the tables; stores are replaced

Law. Rows are compared with the rows that are kept, whichever way has made them: so the change is right and minimal, and
whoever reads it need not know the way. A store is kept exactly if `parts.kept` says so for the relations that are cold
afterwards; one that is dropped is not in the version, and one that is filled again is made anew, so none is ever stale.

What Spark refuses, or fails at, is computed by the program instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evercurrent.catalog.dependencies import view_order
from evercurrent.engine.spark.kernel.outcome import Cost
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import difference
from evercurrent.warehouse.definitions.fill_stores import inputs_of, made_of
from evercurrent.warehouse.maintenance.program_parts import always_full, anew, kept, rows_store, stores_of
from evercurrent.warehouse.maintenance.progress import named
from evercurrent.warehouse.maintenance.recompute_by_sql import computed, together
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Decision

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core
    from evercurrent.warehouse.maintenance.update import Moved


def remake(
    core: Core,
    full: Mapping[str, Decision],
    moving: set[StoreName],
    after: Mapping[StoreName, Store],
    moved: Moved,
) -> dict[str, Segment]:
    """Make the rows of relations anew; their changes. `moving` are the stores that follow these changes by themselves."""
    program = core.program
    core.progress.stage(f"recomputing {named(n for n, r in program.views.items() if r in full)}")
    before = stores_of(kept(program, core.catalog, core.snapshot.cold))
    made = by_sql(core, full, after, moved)
    cold = {r: Cold.of_json(c) for r, c in core.snapshot.cold.items() if r not in full}
    rest = made.keys() - always_full(program, core.catalog)
    left = stores_of(kept(program, core.catalog, cold.keys() | rest))
    rows = {rows_store(program, r) for r in program.views.values()}
    dropped = before - left - rows
    for relation in rest:
        cold[relation] = colder(core, relation, full[relation], dropped)
    moved.cold = cold
    filled = full.keys() - made.keys()
    if filled:
        made |= by_program(core, filled, left - moving, moving, after, moved)
    for relation, delta in made.items():
        moved.deltas[relation] = delta
        store = rows_store(program, relation)
        if relation not in filled and store not in moving and delta.rows:
            moved.added[store] = delta
    moved.replaced |= dict.fromkeys(dropped, Store())
    return made


def colder(core: Core, relation: str, decision: Decision, dropped: Iterable[StoreName]) -> Cold:
    """What is remembered of a relation that SQL has recomputed."""
    known = core.snapshot.cold.get(relation)
    if known is not None:
        return Cold.of_json(known).paid(decision.more)
    stores = core.snapshot.stores
    return Cold(sizes={n: (stores[n].rows, stores[n].bytes) for n in sorted(dropped) if n in stores})


# --- by Spark's SQL ----------------------------------------------------------------------------------------


def by_sql(
    core: Core, full: Mapping[str, Decision], after: Mapping[StoreName, Store], moved: Moved
) -> dict[str, Segment]:
    """The changes of those that are left to Spark, as far as it can compute them."""
    wanted = {r: d.view for r, d in full.items() if d.way == "sql"}
    touched = {key for key in core.catalog.tables if table_store(key) in moved.added}
    # Views whose rows are known as they are after the batch need not be computed again for those above them.
    known = {
        v.name
        for v in core.catalog.views.values()
        if not core.outlook.parts[v.name].under & touched and core.waiting.kind(v.name) is None
    }
    stores = dict(after)
    made: dict[str, Segment] = {}
    places = {view.name: i for i, view in enumerate(view_order(core.catalog))}
    for relation, view in sorted(wanted.items(), key=lambda x: places[x[1]]):
        found = computed(core.engine, core.outlook, view, stores, known)
        if found is None:
            continue
        made[relation], report = found
        moved.sql = report if moved.sql is None else together(moved.sql, report)
        moved.full_costs.append(Cost(frozenset({relation}), report.seconds, report.read_bytes))
        store = rows_store(core.program, relation)
        stores[store] = stores.get(store, Store()).plus(made[relation])
        known |= {n for n, r in core.program.views.items() if r == relation}
    return made


# --- by the program ----------------------------------------------------------------------------------------


def by_program(
    core: Core,
    full: Iterable[str],
    stores: set[StoreName],
    moving: set[StoreName],
    after: Mapping[StoreName, Store],
    moved: Moved,
) -> dict[str, Segment]:
    """Fill these stores and make the rows of these relations; the changes of the latter."""
    program = core.program
    full = list(full)
    part = anew(program, full, stores)
    inputs = inputs_of(core, part, core.catalog, after, core.design)
    outcome, moved.full = core.engine.run(part, {}, inputs, beginning=True, keep=stores)
    moved.full_costs += outcome.costs
    for store in stores:
        segment = outcome.stores.get(store, EMPTY)
        moved.replaced[store] = Store((segment,)) if segment.rows else Store()
    types = {r: [f.type for f in core.view(n).fields] for n, r in program.views.items() if r in full}
    made: dict[str, Segment] = {}
    for relation in full:
        store = rows_store(program, relation)
        new = made_of(core, part, relation, outcome, core.catalog, after, core.design)
        old = core.snapshot.stores.get(store, Store())
        made[relation] = difference(core.engine, scratch_store(store, "change"), old, new, types[relation])
        if store not in moving:
            moved.replaced[store] = Store((new,)) if new.rows else Store()
    return made
