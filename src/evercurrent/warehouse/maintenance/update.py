"""One batch through all views: those to be recomputed first, then the rest by the program.

    views that no program keeps     the reference evaluator         new - old
    views recomputed in full        Spark's SQL, or their part of   new - old (`remaking`)
                                    the program, over the tables
    all other views, assertions     the rest of the program         segments added

The order is the one in which changes travel: what a recomputed view has changed by is a delta for its readers.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Input
from evercurrent.design.compile import ASSERTION
from evercurrent.engine.spark.engine import Report
from evercurrent.engine.spark.kernel.outcome import Cost, Outcome
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, table_store, view_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.maintenance.evaluated_views import recomputed_rows
from evercurrent.warehouse.maintenance.program_parts import resting, rows_store, stores_of, without
from evercurrent.warehouse.maintenance.progress import counted, named
from evercurrent.warehouse.maintenance.recompute import remake
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Decision

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


@dataclass
class Moved:
    """What a batch makes of everything: segments to add, stores to replace, changes of views."""

    added: dict[StoreName, Segment] = field(default_factory=dict)
    replaced: dict[StoreName, Store] = field(default_factory=dict)
    deltas: dict[str, Segment] = field(default_factory=dict)  # by relation
    views: dict[str, Segment] = field(default_factory=dict)  # by name
    run: Report | None = None  # of what moved
    full: Report | None = None  # of what was made anew by the program
    sql: Report | None = None  # of what was made anew by Spark's SQL
    costs: list[Cost] = field(default_factory=list)  # of what moved
    full_costs: list[Cost] = field(default_factory=list)
    outside: dict[str, float] = field(default_factory=dict)  # seconds, by view
    cold: dict[str, Cold] | None = None  # the relations that are cold now; None: as before
    factors: Mapping[str, float] | None = None  # what was learned; None: as before

    @property
    def reports(self) -> dict[str, Report]:
        """What was run, by what it was run for."""
        found = {"recomputed": self.full, "computed": self.sql, "moved": self.run}
        return {what: r for what, r in found.items() if r is not None}

    def snapshot(self, before: Snapshot) -> Snapshot:
        after = before.plus(self.added)
        stores = {**after.stores, **self.replaced}
        cold = before.cold if self.cold is None else {r: c.to_json() for r, c in self.cold.items()}
        factors = before.factors if self.factors is None else self.factors
        left = {n: s for n, s in stores.items() if s.segments}
        return replace(before, stores=left, cold=cold, factors=factors)


def move(
    core: Core, inputs: Mapping[str, Segment], full: Mapping[str, Decision], outside: Collection[str]
) -> Moved:
    """Move everything by the changes of tables (by lower-cased names).

    `full` are the relations that are recomputed, with what was decided for each, `outside` the names of the touched views that no program keeps.
    """
    program = core.program
    moved = Moved()
    moved.added = {table_store(key): s for key, s in inputs.items() if s.rows}
    deltas = {core.catalog.tables[key].name: s for key, s in inputs.items() if s.rows}
    after = core.snapshot.plus(moved.added).stores
    if outside:
        deltas |= move_outside(core, outside, after, moved)
        after = {**after, **moved.replaced}
    part = without(program, resting(program, core.catalog, core.snapshot.cold) | set(full))
    if full:
        deltas |= remake(core, full, stores_of(part), after, moved)
    if any(isinstance(r, Input) and deltas.get(r.name, EMPTY).rows for r in part.relations):
        core.progress.stage(f"moving {counted(len(set(program.views.values()) - set(full)))}")
        outcome, moved.run = core.engine.run(part, core.snapshot.stores, deltas, held=core.waiting.held)
    else:
        outcome = Outcome()
    moved.deltas |= outcome.deltas
    moved.costs = outcome.costs
    moved.added |= {name: s for name, s in outcome.stores.items() if s.rows}
    own = stores_of(part)
    for relation in set(program.views.values()) - set(full):
        segment = outcome.deltas.get(relation, EMPTY)
        store = rows_store(program, relation)
        asked = any(r == relation and not n.startswith(ASSERTION) for n, r in program.views.items())
        if segment.rows and store not in own and asked:
            moved.added[store] = segment
    for name, relation in program.views.items():
        if moved.deltas.get(relation, EMPTY).rows:
            moved.views[name] = moved.deltas[relation]
    return moved


def move_outside(
    core: Core, names: Collection[str], after: Mapping[StoreName, Store], moved: Moved
) -> dict[str, Segment]:
    """Evaluate views that no program keeps; their changes, by name."""
    core.progress.stage(f"evaluating {named(names)}")
    changes: dict[str, Segment] = {}
    begin = time.perf_counter()
    for name, rows in recomputed_rows(core, core.catalog, names, after):
        view = core.view(name)
        types = [f.type for f in view.fields]
        old = core.snapshot.stores.get(view_store(name), Store())
        change = rows - ZSet(core.engine.rows(old, types))
        segment = core.engine.write_rows(view_store(name), types, list(change.items()))
        if segment.rows:
            changes[name] = moved.views[name] = segment
            moved.replaced[view_store(name)] = old.plus(segment)
        moved.outside[name] = time.perf_counter() - begin
        begin = time.perf_counter()
    return changes
