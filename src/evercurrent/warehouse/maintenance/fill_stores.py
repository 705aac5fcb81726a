"""The stores of another catalog: stores that serve it are taken over, new ones are computed from what is stored.

Law. Equal definitions have equal names. So a store of the present version serves the next catalog if its program still
keeps a store of that name and shape, unless a table that it was computed from is emptied.

    fill_stores(engine, present, target, emptied)     every store that the target keeps, filled
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Fixpoint, Input, Program, State
from evercurrent.design.compile import ASSERTION
from evercurrent.engine.spark.engine import Engine, fits_driver
from evercurrent.engine.spark.kernel.outcome import Outcome, Report
from evercurrent.engine.spark.progress import list_names
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    aside_store,
    is_shared,
    later_store,
    loop_stores,
    parts_of,
    scratch_store,
    table_store,
    view_store,
)
from evercurrent.engine.spark.storage.stored_state import Store, sum_of
from evercurrent.warehouse.maintenance.evaluated_views import evaluate_views
from evercurrent.warehouse.maintenance.recompute_by_sql import create_by_sql
from evercurrent.warehouse.maintenance.views_by_spark import fill_spark_views
from evercurrent.warehouse.planning.strategies import circumstances
from evercurrent.warehouse.program_parts import (
    always_full,
    relations_still_cold,
    rows_store,
    select_stored_part,
)
from evercurrent.warehouse.version import Compiled, Version


@dataclass
class Filling:
    """The stores of a catalog, and what was done to compute those that are new."""

    stores: dict[StoreName, Store] = field(default_factory=dict)
    report: Report | None = None
    outcome: Outcome = field(default_factory=Outcome)
    cold: set[str] = field(default_factory=set)  # relations whose states are left out
    new_states: list[str] = field(default_factory=list)
    new_loops: list[str] = field(default_factory=list)
    new_relations: list[str] = field(default_factory=list)  # whose rows are not stored yet
    stored: list[str] = field(default_factory=list)  # relations whose rows are


def fill_stores(
    engine: Engine,
    present: Version,
    target: Compiled,
    emptied: frozenset[str] = frozenset(),
    rewritten: Mapping[str, Store] | None = None,
) -> Filling:
    """Returns the stores of a target, over the tables of the present version.

    `emptied` tables have lost their rows; those that are also `rewritten` have these rows instead.
    """
    filling = Filling()
    take_tables(filling, present, target, emptied)
    filling.stores |= {table_store(key): store for key, store in (rewritten or {}).items() if store.segments}
    fill_evaluated(engine, filling, present, target, emptied)
    take_states(filling, present, target, emptied)
    fill_by_sql(engine, filling, present, target)
    fill_by_program(engine, filling, target)
    return filling


def fill_lazy_stores(
    engine: Engine,
    present: Version,
    target: Compiled,
    emptied: frozenset[str] = frozenset(),
    rewritten: Mapping[str, Store] | None = None,
) -> Filling:
    """Returns the stores of the lazy views alone, under the names by which a version lists them."""
    filling = fill_stores(engine, present, target.lazy_part(), emptied, rewritten)
    filling.stores = {later_store(n): s for n, s in filling.stores.items() if not is_shared(n)}
    return filling


# --- what is taken over ------------------------------------------------------------------------------------


def take_tables(filling: Filling, present: Version, target: Compiled, emptied: frozenset[str]) -> None:
    for key in target.catalog.tables:
        if key not in emptied:
            take(filling, present, table_store(key), aside_store(key))


def take_states(filling: Filling, present: Version, target: Compiled, emptied: frozenset[str]) -> None:
    """Takes over states, recursions and rows that serve the target; lists those that are new."""
    program, old, cold = target.program, present.program, present.snapshot.cold
    old_part = Program((), ()) if emptied else select_stored_part(old, present.catalog, cold)
    listed = set() if emptied else set(old.views.values())
    valid = {s.name: shape(s) for s in old_part.states}
    by_name = {s.name: shape(s) for s in old.states}
    # The rows of a view may lie where a state would: they are that state's entries, kept or not.
    valid |= {s: by_name[s] for r in listed if (s := rows_store(old, r)) in by_name}
    filling.cold = set() if emptied else relations_still_cold(program, target.catalog, cold)
    new_part = select_stored_part(program, target.catalog, filling.cold)
    for state in new_part.states:
        if valid.get(state.name) == shape(state):
            take(filling, present, *Shape(state).stores)
        else:
            filling.new_states.append(state.name)
    loops = {r.name for r in old_part.relations if isinstance(r, Fixpoint)}
    for r in new_part.relations:
        if isinstance(r, Fixpoint):
            if r.name in loops:
                take(filling, present, *(store for store, _ in loop_stores(r)))
            else:
                filling.new_loops += [loop.name for loop in r.loops]
    for relation in dict.fromkeys(program.views.values()):
        store = rows_store(program, relation)
        if relation in listed and store not in filling.new_states:
            take(filling, present, store)
            filling.stored.append(relation)
        else:
            filling.new_relations.append(relation)


def shape(state: State) -> object:
    """What two states must have in common for one to stand for the other."""
    return state.columns, state.dependents, state.accumulators


def take(filling: Filling, present: Version, *names: StoreName) -> None:
    for name in names:
        if name in present.snapshot.stores:
            filling.stores[name] = present.snapshot.stores[name]


# --- what is computed --------------------------------------------------------------------------------------


def fill_evaluated(
    engine: Engine, filling: Filling, present: Version, target: Compiled, emptied: frozenset[str]
) -> None:
    """Fills the rows of views that no program keeps."""
    catalog, missing = target.catalog, []
    for name in target.design.recomputed:
        same = name in present.design.recomputed and catalog.view(name) is present.catalog.view(name)
        if same and not emptied:
            take(filling, present, view_store(name))
        else:
            missing.append(name)
    for name, segment in fill_spark_views(engine, target.outlook, missing, filling.stores):
        if segment.rows:
            filling.stores[view_store(name)] = Store((segment,))
    for name, rows in evaluate_views(engine, catalog, missing, filling.stores):
        view = catalog.view(name)
        assert view is not None
        segment = engine.write_rows(view_store(name), [f.type for f in view.fields], list(rows.items()))
        if segment.rows:
            filling.stores[view_store(name)] = Store((segment,))


def fill_by_sql(engine: Engine, filling: Filling, present: Version, target: Compiled) -> None:
    """Fills by Spark's SQL what it computes faster: rows of views that every batch recomputes, of which no state is kept."""
    wanted = filling.new_relations
    if not set(wanted) & always_full(target.program, target.catalog):
        return
    around = circumstances(engine, present.snapshot)
    created = create_by_sql(engine, target.outlook, around, wanted, filling.stores)
    for relation, (segment, filling.report) in created.items():
        filling.new_relations.remove(relation)
        filling.stored.append(relation)
        if segment.rows:
            filling.stores[rows_store(target.program, relation)] = Store((segment,))


def fill_by_program(engine: Engine, filling: Filling, target: Compiled) -> None:
    """Fills by the program whatever is still new."""
    program, stores = target.program, filling.stores
    states, loops, wanted = filling.new_states, filling.new_loops, filling.new_relations
    if not states and not wanted and not loops:
        return
    views = [n for n, r in program.views.items() if r in wanted and not n.startswith(ASSERTION)]
    engine.progress.stage(f"filling {list_names(views) or 'states'}")
    part = part_for(program, states, [*wanted, *loops], set(filling.stored) - set(loops))
    inputs = part_inputs(engine, part, target, stores)
    filling.outcome, filling.report = engine.run(part, {}, inputs, beginning=True, keep=states)
    for name, segment in filling.outcome.stores.items():
        own, rest = parts_of(name)
        if (own in states or (own in loops and rest)) and segment.rows:
            stores[name] = Store((segment,))
    for relation in wanted:
        segment = relation_rows(engine, part, relation, filling.outcome, target, stores)
        if segment.rows:
            stores.setdefault(rows_store(program, relation), Store((segment,)))


def relation_rows(
    engine: Engine,
    part: Program,
    relation: str,
    outcome: Outcome,
    compiled: Compiled,
    stores: Mapping[StoreName, Store],
) -> Segment:
    """Returns the rows of a relation after a part has run, each once."""
    segment = outcome.deltas.get(relation, EMPTY)
    if segment.net:
        return segment
    (table,) = (r for r in part.relations if isinstance(r, Input) and r.name == relation)
    return input_rows(engine, table, compiled, stores)


def part_inputs(
    engine: Engine, part: Program, compiled: Compiled, stores: Mapping[StoreName, Store]
) -> dict[str, Segment]:
    """Returns all rows of the inputs of a part.

    Law. A Z-set is the sum of its segments and rules are linear, so a large input is read as the files it has: what rules
    leave of it is added up. Recursions count derivations, and read each row once.
    """
    once = any(isinstance(r, Fixpoint) for r in part.relations)
    result: dict[str, Segment] = {}
    for r in part.relations:
        if isinstance(r, Input):
            store = Store() if r.rows is not None else stores.get(input_store(r, compiled), Store())
            plain = once or r.rows is not None or (fits_driver(store) and not store.elsewhere)
            result[r.name] = input_rows(engine, r, compiled, stores) if plain else sum_of(store)
    return result


def input_store(r: Input, compiled: Compiled) -> StoreName:
    """Names the store of an input's rows."""
    if compiled.catalog.table(r.name) is not None:
        return table_store(r.name)
    design = compiled.design
    return view_store(r.name) if r.name in design.recomputed else rows_store(design.program, r.name)


def input_rows(engine: Engine, r: Input, compiled: Compiled, stores: Mapping[StoreName, Store]) -> Segment:
    """Returns all rows of an input, each once."""
    types = [c.type for c in r.columns]
    if r.rows is not None:
        return engine.write_rows(scratch_store(r.name, "constant"), types, [(row, 1) for row in r.rows])
    name = input_store(r, compiled)
    return engine.whole(name, stores.get(name, Store()), types)
