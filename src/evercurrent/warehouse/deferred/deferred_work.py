"""The work that has waited: what lazy and hybrid views have changed by since they were last read.

    lazy      the queues of the inputs, netted, are one transaction of the views' own program (law L4: composition)
    hybrid    for the keys of what was added to a state since the last reader: f(now) - f(then), then = now - what was added;
              and on from there by the rules, over the other states as they are now (law L9: the order of sides is free)

Nothing that is done here is known to anyone: `catching_up` commits it, or shows it to a reader without.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Input, Keyed
from evercurrent.design.lazy_views import used_columns
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Report
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.store_names import later_store, owner_of, scratch_store, without_later
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import subtract
from evercurrent.warehouse.deferred.groups import Group
from evercurrent.warehouse.maintenance.program_parts import rows_store, stores_of
from evercurrent.warehouse.maintenance.progress import named

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


@dataclass
class Caught:
    """A snapshot in which nothing waits, and what the views have changed by on the way to it."""

    snapshot: Snapshot
    views: dict[str, Segment] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)  # netted rows, by what they waited for
    report: Report | None = None


def caught_up(core: Core, snapshot: Snapshot, group: Group) -> Caught:
    """Work off what waits of a group in a snapshot; nothing of it is known to anyone yet."""
    core.progress.stage(f"bringing {named(group.views)} up to date")
    return lazily(core, snapshot, group) if group.kind == "lazy" else partly(core, snapshot, group)


def lazily(core: Core, snapshot: Snapshot, group: Group) -> Caught:
    """The views of a part of the program `later`, by the net change of its inputs."""
    program = group.program
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(group.mark)}
    inputs: dict[str, Segment] = {}
    for r in group.inputs:
        net = netted(core, group, r, snapshot.stores.get(group.queue(r.name), Store()))
        if net.rows:
            inputs[r.name] = net
    result = Caught(snapshot, taken={name: s.rows for name, s in inputs.items()})
    if inputs:
        own = {own: s for n, s in stores.items() if (own := without_later(n)) is not None}
        outcome, result.report = core.engine.run(program, own, inputs)
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


def netted(core: Core, group: Group, r: Input, queue: Store) -> Segment:
    """What is left of a queue. Rows are told apart by the columns that the program uses: a change of others is none."""
    name, types = group.queue(r.name), [c.type for c in r.columns]
    used = used_columns(group.program, r.name)
    if len(used) == len(types) or queue.rows > DRIVER_ENTRIES or core.engine.strategy == "spark":
        return core.engine.whole(name, queue, types)
    net = ZSet()
    for row, weight in core.engine.rows(queue, types):
        net.add(tuple(v if i in used else None for i, v in enumerate(row)), weight)
    return core.engine.write_rows(name, types, list(net.items()))


def partly(core: Core, snapshot: Snapshot, group: Group) -> Caught:
    """The keyed relations that were held, and what follows from them."""
    program = group.program
    waits = {n.removeprefix(group.mark): s for n, s in snapshot.stores.items() if n.startswith(group.mark)}
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(group.mark)}
    seeds = {store: waits[store] for store in group.states if store in waits}
    then = {
        store: subtract(core.engine, store, stores.get(store, Store()), seeds[store], schema)
        for store, schema in group.states.items()
        if store in seeds
    }
    outcome, report = Outcome(), None
    if seeds:
        others = frozenset(r.name for r in program.relations if isinstance(r, Keyed)) - group.held
        outcome, report = core.engine.run(program, {**stores, **then}, {}, held=others, seeds=seeds)
    for store in outcome.stores.keys() | seeds.keys():
        segment = outcome.stores.get(store, EMPTY)
        if store not in seeds:
            stores[store] = stores.get(store, Store()).plus(segment)
        elif owner_of(store) in group.fed:  # the segment is what has waited and what was added to it now
            stores[store] = then[store].plus(segment)
    result = Caught(snapshot, report=report)
    own = stores_of(program)
    for relation, names in group.relations.items():
        delta = outcome.deltas.get(relation, EMPTY)
        store = rows_store(program, relation)
        if delta.rows and store not in own:
            stores[store] = stores.get(store, Store()).plus(delta)
        half = waits.get(store, Store()).segments
        if half:
            both = Store((), (*half, delta) if delta.rows else half)
            types = [f.type for f in core.waiting.catalog.fields_of(names[0])]
            delta = core.engine.whole(scratch_store(store, "change"), both, types)
        if delta.rows:
            result.views |= dict.fromkeys(names, delta)
    result.snapshot = replace(snapshot, stores={n: s for n, s in stores.items() if s.segments})
    return result
