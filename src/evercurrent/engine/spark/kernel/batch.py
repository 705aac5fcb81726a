"""A small transaction, by the driver alone: the same program, the same laws, no job.

A job of Spark costs a tenth of a second and more however few rows it has. So a transaction of few rows is run here: each
rule over the whole delta by generated code (`rule_loops`), each lookup for all keys of the delta at once (`EntryReader` reads the
entries of those keys), each keyed relation for the touched groups. If more entries than the driver should hold turn out to be needed,
`TooLarge` is raised and the cluster runs the transaction instead.

    delta of orders             {(id 4, customer 8, total 2.00): +1}
    orders by customer          customer 8 has the sum 1.00; 2.00 is added
    delta of spend              {(8, 1.00): -1, (8, 3.00): +1}
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, assert_never

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.delta.analyses.loops import linear_inside, outside_rules
from evercurrent.delta.program import (
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Program,
    Rule,
)
from evercurrent.delta.rederive import Change
from evercurrent.delta.terms import columns_read
from evercurrent.engine.spark.kernel.entries import Entries
from evercurrent.engine.spark.kernel.fixpoint import Recursion
from evercurrent.engine.spark.kernel.garbage_collection import rare_collection
from evercurrent.engine.spark.kernel.outcome import Cost, Outcome
from evercurrent.engine.spark.kernel.steps import compute_keyed_change, run_rule
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import Shape, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store, scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow

Weights = dict[Row, int]


class DriverTransaction:
    """A program, the stores as they are, and one small transaction."""

    def __init__(
        self,
        program: Program,
        folder: Folder,
        reader: EntryReader,
        stores: Mapping[StoreName, Store],
        *,
        beginning: bool = False,
        held: frozenset[str] = frozenset(),
    ) -> None:
        self.program = program
        self.held = held  # keyed relations that are not updated
        self.folder = folder
        self.reader = reader
        self.beginning = beginning
        self.shapes = {s.name: Shape(s) for s in program.states}
        self.states = {name: Entries(shape, reader, stores) for name, shape in self.shapes.items()}
        self.rows: dict[str, Weights] = {}
        self.types: dict[str, tuple[Type, ...]] = {}
        self.outcome = Outcome()
        self.working: frozenset[str] = frozenset()  # what is being computed, in case that it fails
        self.stores = stores
        self.outside = outside_rules(program)
        self.recursions: list[Recursion] = []
        fixpoints = [r for r in program.relations if isinstance(r, Fixpoint)]
        # Derivations are not added up: one that goes and another that comes are not the same one.
        self.derived: dict[str, Change] = {loop.body: [] for f in fixpoints for loop in f.loops}
        self.inside = {r.name for f in fixpoints for r in linear_inside(program, f)}

    def seed(self, seeds: Mapping[StoreName, Store]) -> None:
        """Count these segments as added to their states."""
        for state in self.states.values():
            state.seed(seeds)

    def execute(self, inputs: Mapping[str, Segment]) -> Outcome:
        with rare_collection():
            return self.run_relations(inputs)

    def run_relations(self, inputs: Mapping[str, Segment]) -> Outcome:
        for relation in self.program.relations:
            if relation.name in self.inside or relation.name in self.held:
                continue
            match relation:
                case Input(name, columns):
                    segment = inputs.get(name, EMPTY)
                    if not segment.rows:
                        continue
                    self.outcome.deltas[name] = segment
                    self.take_in(relation, segment)
                    continue
                case Linear(name, columns):
                    delta = [(row, w) for row, w in self.rows.get(name, {}).items() if w]
                    self.write(name, tuple(c.type for c in columns), delta)
                case Keyed(name, columns):
                    with self.account(name):
                        delta = list(
                            compute_keyed_change(
                                relation, self.states[relation.state], self.beginning
                            ).items()
                        )
                    self.write(name, tuple(c.type for c in columns), delta)
                case Fixpoint(name):
                    with self.account(name):
                        self.recur(relation)
                    continue
                case _:
                    assert_never(relation)
            self.follow(relation.name, delta)
        kept: list[Entries | Recursion] = [*self.states.values(), *self.recursions]
        for moved in kept:
            for store, table in moved.list_added():
                self.outcome.stores[store] = self.folder.write(store, table)
        return self.outcome

    def take_in(self, relation: Input, segment: Segment) -> None:
        """Run the rules of an input over its change, of which only what they read is decoded."""
        types = [c.type for c in relation.columns]
        read = sorted(columns_read(self.program, relation.name))
        with self.account(relation.name):
            rows = self.reader.pick_columns(segment, row_schema(types), types, read)
        if not segment.net:
            rows = [(*row, w) for row, w in consolidate_rows((row[:-1], row[-1]) for row in rows).items()]
        self.run_all(relation.name, rows, read)

    def recur(self, fixpoint: Fixpoint) -> None:
        """Updates the relations of a loop together, until no change is left."""
        given = [self.derivations(scratch_store(loop.body, "outside")) for loop in fixpoint.loops]
        inside = [self.derivations(loop.body) for loop in fixpoint.loops]
        if not any(given) and not any(inside):
            return
        linear = linear_inside(self.program, fixpoint)

        def run_rules(moving: list[Change]) -> list[Change]:
            for loop, change in zip(fixpoint.loops, moving, strict=True):
                self.follow(loop.inner, change)
            for r in linear:
                self.follow(r.name, self.take_delta(r.name))
            return [self.derivations(loop.body) for loop in fixpoint.loops]

        recursion = Recursion(fixpoint, self.reader, self.stores, run_rules)
        self.recursions.append(recursion)
        for r in linear:  # what rules from outside have brought to relations inside
            self.follow(r.name, self.take_delta(r.name))
        inside = [[*a, *self.derivations(loop.body)] for a, loop in zip(inside, fixpoint.loops, strict=True)]
        for loop, net in zip(fixpoint.loops, recursion.apply(given, inside), strict=True):
            delta = list(net.items())
            self.write(loop.name, tuple(c.type for c in loop.columns), delta)
            self.follow(loop.name, delta)

    def derivations(self, name: str) -> Change:
        found = [(row, w) for row, w in self.derived.get(name, ()) if w]
        self.derived[name] = []
        return found

    def take_delta(self, name: str) -> Change:
        """Returns what rules have added to a relation, and clears it."""
        return [(row, w) for row, w in self.rows.pop(name, {}).items() if w]

    def follow(self, name: str, delta: Change) -> None:
        if delta:
            self.run_all(name, [(*row, w) for row, w in delta], range(len(delta[0][0])))

    def run_all(self, name: str, rows: list[Row], read: Sequence[int]) -> None:
        """Run the rules of a relation over rows with their weights; `read` says which columns they have."""
        for rule in self.program.triggers.get(name, ()) if rows else ():
            with self.account(rule.into):
                self.run(rule, rows, [rule.binds[i].name for i in read])

    @contextmanager
    def account(self, serves: str) -> Iterator[None]:
        """Write down what a piece of work takes; of work within work only the whole."""
        begin, before, inside = time.perf_counter(), self.reader.read_bytes, len(self.outcome.costs)
        around, self.working = self.working, frozenset({serves})
        yield
        self.working = around
        del self.outcome.costs[inside:]
        seconds, read = time.perf_counter() - begin, self.reader.read_bytes - before
        self.outcome.costs.append(Cost(frozenset({serves}), seconds, read))

    def write(self, name: str, types: Sequence[Type], delta: Iterable[tuple[Row, int]]) -> None:
        entries = list(delta)
        if entries:
            names = [f"c{i}" for i in range(len(types))]
            table = rows_to_arrow(types, names, entries, "w")
            self.outcome.deltas[name] = self.folder.write(delta_store(name), table)

    # --- rules ---------------------------------------------------------------------------------------------

    def run(self, rule: Rule, rows: list[Row], names: list[str]) -> None:
        listed = rule.into in self.derived
        run_rule(rule, rows, names, self.shapes, self.states, not listed, lambda: self.target(rule, listed))

    def target(self, rule: Rule, listed: bool) -> tuple[Any, Any]:
        """What a rule adds to, and bags if it has any."""
        state = self.states.get(rule.into)
        if state is not None:
            return state.new, state.bags_new
        if listed:
            name = scratch_store(rule.into, "outside") if id(rule) in self.outside else rule.into
            return self.derived.setdefault(name, []), None
        return self.rows.setdefault(rule.into, {}), None


def consolidate_rows(rows: Iterable[tuple[Row, int]]) -> Weights:
    """Each row once."""
    result: Weights = {}
    for row, w in rows:
        result[row] = result.get(row, 0) + w
    return {row: w for row, w in result.items() if w}
