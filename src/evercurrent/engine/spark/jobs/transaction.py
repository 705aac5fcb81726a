"""One transaction: the deltas of inputs become segments of states and deltas of relations.

    for each level (see `delta.analyses.levels`):
        one job    what rules have added to the relations and states of this level
        one job    the change of the keyed relations of this level
        then       the rules of these relations, which add to higher levels; they are only written down here

Nothing that runs here changes what is stored: it writes files that only a commit makes known.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import inf
from typing import assert_never

from pyspark.sql import DataFrame

from evercurrent.delta.analyses.copies import is_copy
from evercurrent.delta.analyses.levels import levels
from evercurrent.delta.analyses.loops import outside_rules
from evercurrent.delta.program import (
    Explode,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
    Ranked,
    Relation,
    Rule,
)
from evercurrent.engine.spark.jobs.keyed import Groups, change
from evercurrent.engine.spark.jobs.loop_rules import LoopRules
from evercurrent.engine.spark.jobs.rules import (
    Flow,
    States,
    bag_of,
    entries_of,
    fans_out,
    rows_of,
    run_rule,
)
from evercurrent.engine.spark.kernel.outcome import Cost, Outcome
from evercurrent.engine.spark.storage.file_schema import Shape, consolidate, exact, relation_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.segments import JobContext, may_broadcast
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    delta_store,
    is_delta,
    relation_of,
    scratch_store,
    state_store,
)
from evercurrent.engine.spark.storage.stored_state import Contents, Store, union
from evercurrent.term.nodes import Column


class JobTransaction:
    """A program, the stores as they are, and one transaction."""

    def __init__(
        self,
        program: Program,
        context: JobContext,
        stores: Mapping[StoreName, Store],
        *,
        beginning: bool = False,
        held: frozenset[str] = frozenset(),
    ) -> None:
        self.held = held  # keyed relations that are not updated
        self.program = program
        self.context = context
        self.beginning = beginning
        names = count()
        self.shapes = {s.name: Shape(s) for s in program.states}
        self.contents: dict[StoreName, Contents] = {}
        for shape in self.shapes.values():
            for store, schema in shape.schemas.items():
                self.contents[store] = Contents(context, schema, stores.get(store, Store()))
        self.states = States(self.shapes, self.contents, lambda: f"v{next(names)}")
        self.rows: dict[str, list[DataFrame]] = {}  # what has been added to linear relations
        self.copies: dict[StoreName, list[Segment]] = {}  # segments that serve a state as they are
        self.bounds: dict[str, float] = {}  # how many rows can have been added, at most
        self.outcome = Outcome()
        self.working: frozenset[str] = frozenset()  # what is being computed, in case that it fails
        self.relations = {r.name: r for r in program.relations}
        self.kept = stores
        self.outside = outside_rules(program)
        loops = [x for r in program.relations if isinstance(r, Fixpoint) for x in r.loops]
        self.bodies = {x.body for x in loops}
        self.columns = {r.name: r.columns for r in program.relations if not isinstance(r, Fixpoint)}
        self.columns |= {x.body: x.columns for x in loops}  # what rules add rows to

    def seed(self, seeds: Mapping[StoreName, Store]) -> None:
        """Count these segments as added to their states."""
        for name, store in seeds.items():
            contents = self.contents[name]
            contents.pending.append(self.context.read(contents.schema, store.segments))
            contents.pending_rows += store.rows

    def execute(self, inputs: Mapping[str, Segment]) -> Outcome:
        """JobTransaction the transaction; `inputs` are the deltas of inputs, consolidated."""
        for name, segment in inputs.items():
            if segment.rows and name in self.relations:
                self.outcome.deltas[name] = segment
        for level in levels(self.program):
            begin = time.perf_counter()
            self.working = frozenset((*level.states, *(r.name for r in level.relations)))
            self.settle(level.relations, level.states)
            self.outcome.costs.append(Cost(self.working, time.perf_counter() - begin))
            for r in level.relations:
                self.trigger(r)
        return self.outcome

    # --- one level -----------------------------------------------------------------------------------------

    def settle(self, relations: Iterable[Relation], states: Iterable[str]) -> None:
        """Compute what was added to these, then the change of the keyed ones."""
        self.settle_added(relations, states)
        self.settle_keyed(relations)
        for r in relations:
            if isinstance(r, Fixpoint):
                for store, segment in LoopRules(self, r).run_fixpoint().items():
                    if is_delta(store):
                        self.outcome.deltas[relation_of(store)] = segment
                    else:
                        self.outcome.stores[store] = segment

    def settle_added(self, relations: Iterable[Relation], states: Iterable[str]) -> None:
        wanted: dict[StoreName, DataFrame] = {}
        bounds: dict[StoreName, float] = {}
        for name in states:
            shape = self.shapes[name]
            for store in shape.stores:
                contents = self.contents[store]
                if len(self.copies.get(store, ())) == len(contents.pending) <= 1:
                    self.outcome.stores[store] = next(iter(self.copies.get(store, ())), EMPTY)
                elif contents.pending:
                    added = union(contents.pending)
                    assert added is not None
                    once = self.beginning and shape.state.unique and len(contents.pending) == 1
                    wanted[store] = (
                        exact(added, contents.schema) if once else consolidate(added, contents.schema)
                    )
                    bounds[store] = self.bounds.get(name, inf)
        linear = {}
        for r in relations:
            if isinstance(r, Linear) and r.name in self.rows:
                added = union(self.rows[r.name])
                assert added is not None
                linear[delta_store(r.name)] = r
                wanted[delta_store(r.name)] = consolidate(added, relation_schema(r.columns))
                bounds[delta_store(r.name)] = self.bounds.get(r.name, inf)
        for store, segment in self.context.collect(wanted, bounds).items():
            if store in linear:
                self.outcome.deltas[linear[store].name] = segment
            else:
                self.outcome.stores[store] = segment
                contents = self.contents[store]
                contents.pending = [self.read(contents, segment)] if segment.rows else []
                contents.pending_rows = segment.rows

    def settle_keyed(self, relations: Iterable[Relation]) -> None:
        changed = {}
        bounds: dict[StoreName, float] = {}
        for r in relations:
            if isinstance(r, Keyed) and r.name not in self.held and self.can_change(r):
                shape = self.shapes[r.state]
                groups = Groups(r, shape, self.contents, self.broadcast(r.state), self.beginning)
                changed[delta_store(r.name)] = change(groups)
                bounds[delta_store(r.name)] = self.most(r)
        for store, segment in self.context.collect(changed, bounds).items():
            self.outcome.deltas[relation_of(store)] = segment

    def most(self, r: Keyed) -> float:
        """How many rows the change of a keyed relation can have."""
        match r.function:
            case Finalize():
                return 2.0 * self.outcome.stores.get(state_store(r.state), EMPTY).rows
            case Ranked(limit=int(limit), ties="rows") if not r.key:
                return 2.0 * limit
            case _:
                return inf

    def read(self, contents: Contents, segment: Segment) -> DataFrame:
        return self.context.read(contents.schema, [segment])

    def broadcast(self, state: str) -> bool:
        return may_broadcast([self.outcome.stores.get(state_store(state), EMPTY)])

    def can_change(self, r: Keyed) -> bool:
        """Whether a keyed relation can have a change: its state has one, or it gives out its first row."""
        if self.beginning and isinstance(r.function, Finalize) and r.function.scalar:
            return True
        return any(self.outcome.stores.get(s, EMPTY).rows for s in self.shapes[r.state].stores)

    # --- rules ---------------------------------------------------------------------------------------------

    def trigger(self, r: Relation) -> None:
        match r:
            case Input(name, columns) | Linear(name, columns) | Keyed(name, columns):
                self.follow(name, columns, self.outcome.deltas.get(name, EMPTY))
            case Fixpoint(loops=loops):
                for loop in loops:
                    self.follow(loop.name, loop.columns, self.outcome.deltas.get(loop.name, EMPTY))
            case _:
                assert_never(r)

    def follow(self, name: str, columns: Sequence[Column], segment: Segment) -> None:
        """JobTransaction the rules of a relation over its delta."""
        if segment.rows:
            delta = self.context.read(relation_schema(columns), [segment])
            self.outcome.costs.append(Cost(frozenset({name}), bytes=segment.bytes))
            for rule in self.program.triggers.get(name, ()):
                self.add(rule, delta, segment)

    def add(self, rule: Rule, delta: DataFrame, segment: Segment) -> None:
        """Write down what a rule adds."""
        begin, before = time.perf_counter(), self.context.read_bytes
        self.write_down(rule, delta, segment)
        seconds, read = time.perf_counter() - begin, self.context.read_bytes - before
        self.outcome.costs.append(Cost(frozenset({rule.into}), seconds, read))

    def write_down(self, rule: Rule, delta: DataFrame, segment: Segment) -> None:
        most = segment.rows if self.narrow(rule) else inf
        self.bounds[rule.into] = self.bounds.get(rule.into, 0) + most
        shape = self.shapes.get(rule.into)
        if shape is not None and is_copy(rule) and segment.net:
            self.contents[shape.store].pending.append(delta)
            self.contents[shape.store].pending_rows += segment.rows
            self.copies.setdefault(shape.store, []).append(segment)
            return
        flow = run_rule(rule, delta, self.states, may_broadcast([segment]))
        if flow is None:
            return
        self.pin(rule, flow)
        if shape is None:
            apart = rule.into in self.bodies and id(rule) in self.outside
            target = scratch_store(rule.into, "outside") if apart else rule.into
            self.rows.setdefault(target, []).append(rows_of(rule, flow, self.columns[rule.into]))
            return
        self.contents[shape.store].pending.append(entries_of(rule, flow, shape))
        for i in shape.bags:
            self.contents[shape.bag_store(i)].pending.append(bag_of(rule, flow, shape, i))
        for store in shape.stores:
            self.contents[store].pending_rows += most

    def pin(self, rule: Rule, flow: Flow) -> None:
        """See to it that what is read several times is computed once, if it is worth a job."""

    def narrow(self, rule: Rule) -> bool:
        """Whether a row of the delta becomes at most one row."""
        for step in rule.steps:
            if isinstance(step, Explode):
                return False
            if isinstance(step, Lookup) and fans_out(step, self.shapes[step.state].state):
                return False
        return True
