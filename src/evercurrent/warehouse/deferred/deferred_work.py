"""The work that has waited: what lazy and hybrid views have changed by since they were last read.

    lazy      the queues of the inputs, netted, are one transaction of the views' own program (law L4: composition)
    hybrid    for the keys of what was added to a state since the last reader: f(now) - f(then), then = now - what was added;
              and on from there by the rules, over the other states as they are now (law L9: the order of sides is free)

Nothing that is done here is known to anyone: `catching_up` commits it, or shows it to a reader without.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Input, Keyed
from evercurrent.design.lazy_views import find_used_columns
from evercurrent.engine.spark.engine import Engine, fits_driver
from evercurrent.engine.spark.kernel.outcome import Outcome, Report
from evercurrent.engine.spark.progress import list_names
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import later_store, owner_of, scratch_store, without_later
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import subtract
from evercurrent.warehouse.deferred.groups import Group
from evercurrent.warehouse.program_parts import rows_store, stores_of


@dataclass
class CaughtUp:
    """A snapshot in which nothing waits, and what the views have changed by on the way to it."""

    snapshot: Snapshot
    views: dict[str, Segment] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)  # netted rows, by what they waited for
    report: Report | None = None


def apply_queues(engine: Engine, catalog: Catalog, snapshot: Snapshot, group: Group) -> CaughtUp:
    """Applies the queues of a group to its views; nothing of it is visible to anyone before a commit."""
    engine.progress.stage(f"bringing {list_names(group.views)} up to date")
    if group.kind == "lazy":
        return update_lazy_views(engine, snapshot, group)
    return update_hybrid_views(engine, catalog, snapshot, group)


def update_lazy_views(engine: Engine, snapshot: Snapshot, group: Group) -> CaughtUp:
    """The views of a part of the program `later`, by the net change of its inputs."""
    program = group.program
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(group.mark)}
    inputs: dict[str, Segment] = {}
    for r in group.inputs:
        net = net_queue(engine, group, r, snapshot.stores.get(group.queue(r.name), Store()))
        if net.rows:
            inputs[r.name] = net
    result = CaughtUp(snapshot, taken={name: s.rows for name, s in inputs.items()})
    if inputs:
        own = {own: s for n, s in stores.items() if (own := without_later(n)) is not None}
        outcome, result.report = engine.run(program, own, inputs)
        added = dict(outcome.stores)
        states = stores_of(program)
        for relation, names in group.relations.items():
            delta = outcome.deltas.get(relation, EMPTY)
            if delta.rows:
                result.views |= dict.fromkeys(names, delta)
                if rows_store(program, relation) not in states:
                    added[rows_store(program, relation)] = delta
        for name, segment in added.items():
            stores[later_store(name)] = stores.get(later_store(name), Store()).plus(segment)
    result.snapshot = replace(snapshot, stores={n: s for n, s in stores.items() if s.segments})
    return result


def net_queue(engine: Engine, group: Group, r: Input, queue: Store) -> Segment:
    """Returns the net change of a queue. Rows are compared by the columns that the program uses: a change of others is none."""
    name, types = group.queue(r.name), [c.type for c in r.columns]
    used = find_used_columns(group.program, r.name)
    if len(used) == len(types) or not fits_driver(queue) or engine.strategy == "spark":
        return engine.whole(name, queue, types)
    net = ZSet()
    for row, weight in engine.rows(queue, types):
        net.add(tuple(v if i in used else None for i, v in enumerate(row)), weight)
    return engine.write_rows(name, types, list(net.items()))


def update_hybrid_views(engine: Engine, catalog: Catalog, snapshot: Snapshot, group: Group) -> CaughtUp:
    """The keyed relations that were held, and what follows from them."""
    program = group.program
    waits = {n.removeprefix(group.mark): s for n, s in snapshot.stores.items() if n.startswith(group.mark)}
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(group.mark)}
    seeds = {store: waits[store] for store in group.states if store in waits}
    then = {
        store: subtract(engine, store, stores.get(store, Store()), seeds[store], schema)
        for store, schema in group.states.items()
        if store in seeds
    }
    outcome, report = Outcome(), None
    if seeds:
        others = frozenset(r.name for r in program.relations if isinstance(r, Keyed)) - group.held
        outcome, report = engine.run(program, {**stores, **then}, {}, held=others, seeds=seeds)
    for store in outcome.stores.keys() | seeds.keys():
        segment = outcome.stores.get(store, EMPTY)
        if store not in seeds:
            stores[store] = stores.get(store, Store()).plus(segment)
        elif owner_of(store) in group.fed:  # the segment is what has waited and what was added to it now
            stores[store] = then[store].plus(segment)
    result = CaughtUp(snapshot, report=report)
    own = stores_of(program)
    for relation, names in group.relations.items():
        delta = outcome.deltas.get(relation, EMPTY)
        store = rows_store(program, relation)
        if delta.rows and store not in own:
            stores[store] = stores.get(store, Store()).plus(delta)
        half = waits.get(store, Store()).segments
        if half:
            both = Store((), (*half, delta) if delta.rows else half)
            types = [f.type for f in catalog.fields_of(names[0])]
            delta = engine.whole(scratch_store(store, "change"), both, types)
        if delta.rows:
            result.views |= dict.fromkeys(names, delta)
    result.snapshot = replace(snapshot, stores={n: s for n, s in stores.items() if s.segments})
    return result
