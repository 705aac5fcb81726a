"""The stores of another catalog: what is kept already stays as it is, what is new is computed from what is stored.

Law. Equal definitions have equal names. So a store of the present version serves the next catalog if its program still
keeps a store of that name and shape, unless a table that it was made of begins anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evercurrent.catalog.catalog import Catalog
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Fixpoint, Input, Program, State
from evercurrent.design.compile import ASSERTION, Design
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Report
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    aside_store,
    loop_stores,
    parts_of,
    scratch_store,
    table_store,
    view_store,
)
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.maintenance.evaluated_views import recomputed_rows
from evercurrent.warehouse.maintenance.program_parts import (
    always_full,
    kept,
    rows_store,
    still_cold,
)
from evercurrent.warehouse.maintenance.progress import named

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


@dataclass
class Filling:
    """The stores of a catalog, and what was done to find those that are new."""

    stores: dict[StoreName, Store] = field(default_factory=dict)
    report: Report | None = None
    outcome: Outcome = field(default_factory=Outcome)
    cold: set[str] = field(default_factory=set)  # relations whose states are left out


def fill(core: Core, catalog: Catalog, design: Design, emptied: frozenset[str]) -> Filling:
    """Fill what is new. `emptied` are tables that begin anew: nothing that was made of the old rows can be kept."""
    program = design.program
    present = core.snapshot.stores
    result = Filling()
    stores = result.stores
    for key in catalog.tables:
        if key not in emptied:
            take(stores, present, table_store(key), aside_store(key))
    fill_outside(core, catalog, design, emptied, stores)
    old_part = Program((), ()) if emptied else kept(core.program, core.catalog, core.snapshot.cold)
    listed = set() if emptied else set(core.program.views.values())
    valid = {s.name: shape(s) for s in old_part.states}
    by_name = {s.name: shape(s) for s in core.program.states}
    # The rows of a view may lie where a state would: they are that state's entries, kept or not.
    valid |= {s: by_name[s] for r in listed if (s := rows_store(core.program, r)) in by_name}
    result.cold = set() if emptied else still_cold(program, catalog, core.snapshot.cold)
    new_part = kept(program, catalog, result.cold)
    new: list[str] = []
    for state in new_part.states:
        if valid.get(state.name) == shape(state):
            take(stores, present, *Shape(state).stores)
        else:
            new.append(state.name)
    loops = {r.name for r in old_part.relations if isinstance(r, Fixpoint)}
    new_loops: list[str] = []
    for r in new_part.relations:
        if isinstance(r, Fixpoint):
            if r.name in loops:
                take(stores, present, *(store for store, _ in loop_stores(r)))
            else:
                new_loops += [loop.name for loop in r.loops]
    wanted, stored = [], []
    for relation in dict.fromkeys(program.views.values()):
        store = rows_store(program, relation)
        if relation in listed and store not in new:
            take(stores, present, store)
            stored.append(relation)
        else:
            wanted.append(relation)
    for relation, (segment, result.report) in by_sql(core, catalog, design, wanted, stores).items():
        wanted.remove(relation)
        stored.append(relation)
        if segment.rows:
            stores[rows_store(program, relation)] = Store((segment,))
    if not new and not wanted and not new_loops:
        return result
    new_views = [n for n, r in program.views.items() if r in wanted and not n.startswith(ASSERTION)]
    core.progress.stage(f"filling {named(new_views) or 'states'}")
    part = part_for(program, new, [*wanted, *new_loops], set(stored) - set(new_loops))
    inputs = inputs_of(core, part, catalog, stores, design)
    result.outcome, result.report = core.engine.run(part, {}, inputs, beginning=True, keep=new)
    for name, segment in result.outcome.stores.items():
        own, part_name = parts_of(name)
        if (own in new or (own in new_loops and part_name)) and segment.rows:
            stores[name] = Store((segment,))
    for relation in wanted:
        segment = made_of(core, part, relation, result.outcome, catalog, stores, design)
        if segment.rows:
            stores.setdefault(rows_store(program, relation), Store((segment,)))
    return result


def by_sql(
    core: Core, catalog: Catalog, design: Design, wanted: Collection[str], stores: Mapping[StoreName, Store]
) -> dict[str, tuple[Segment, Report]]:
    """The rows of relations that Spark's SQL makes: of views that are recomputed by every batch no states are kept."""
    if not set(wanted) & always_full(design.program, catalog):
        return {}
    from evercurrent.warehouse.maintenance.recompute_by_sql import created
    from evercurrent.warehouse.planning.strategies import Outlook

    return created(core.engine, Outlook(catalog, design), core.around(), wanted, stores)


def fill_outside(
    core: Core, catalog: Catalog, design: Design, emptied: frozenset[str], stores: dict[StoreName, Store]
) -> None:
    """The rows of views that no program keeps."""
    missing = []
    for name in design.recomputed:
        same = name in core.design.recomputed and catalog.view(name) is core.catalog.view(name)
        if same and not emptied:
            take(stores, core.snapshot.stores, view_store(name))
        else:
            missing.append(name)
    for name, rows in recomputed_rows(core, catalog, missing, stores):
        view = catalog.view(name)
        assert view is not None
        segment = core.engine.write_rows(view_store(name), [f.type for f in view.fields], list(rows.items()))
        if segment.rows:
            stores[view_store(name)] = Store((segment,))


def shape(state: State) -> object:
    """What two states must have in common for one to stand for the other."""
    return state.columns, state.dependents, state.accumulators


def take(stores: dict[StoreName, Store], present: Mapping[StoreName, Store], *names: StoreName) -> None:
    for name in names:
        if name in present:
            stores[name] = present[name]


def made_of(
    core: Core,
    part: Program,
    relation: str,
    outcome: Outcome,
    catalog: Catalog,
    stores: Mapping[StoreName, Store],
    design: Design,
) -> Segment:
    """The rows of a relation after a part has run, each once."""
    segment = outcome.deltas.get(relation, EMPTY)
    if segment.net:
        return segment
    (table,) = (r for r in part.relations if isinstance(r, Input) and r.name == relation)
    return contents(core, table, catalog, stores, design)


def inputs_of(
    core: Core, part: Program, catalog: Catalog, stores: Mapping[StoreName, Store], design: Design
) -> dict[str, Segment]:
    """All rows of the inputs of a part.

    Law. A Z-set is the sum of its segments and rules are linear, so a large input is given as the files it has: what rules
    leave of it is added up. Recursions count derivations, and are given each row once.
    """
    once = any(isinstance(r, Fixpoint) for r in part.relations)
    result: dict[str, Segment] = {}
    for r in part.relations:
        if isinstance(r, Input):
            store = Store() if r.rows is not None else stores.get(stored_as(r, catalog, design), Store())
            plain = once or r.rows is not None or store.rows <= DRIVER_ENTRIES
            result[r.name] = (
                contents(core, r, catalog, stores, design) if plain else core.engine.sum_of(store)
            )
    return result


def stored_as(r: Input, catalog: Catalog, design: Design) -> StoreName:
    if catalog.table(r.name) is not None:
        return table_store(r.name)
    return view_store(r.name) if r.name in design.recomputed else rows_store(design.program, r.name)


def contents(
    core: Core, r: Input, catalog: Catalog, stores: Mapping[StoreName, Store], design: Design
) -> Segment:
    """All rows of an input of a part."""
    types = [c.type for c in r.columns]
    if r.rows is not None:
        return core.engine.write_rows(scratch_store(r.name, "constant"), types, [(row, 1) for row in r.rows])
    name = stored_as(r, catalog, design)
    return core.engine.whole(name, stores.get(name, Store()), types)
