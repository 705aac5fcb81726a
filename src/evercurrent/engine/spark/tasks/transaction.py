"""One transaction over partitions: waves of rules, merges, functions of groups. Spark only says where tasks run.

    for each relation, in the program's order:
        its delta      the merged pieces of the rules into it, or of the function of its groups
        its rules      join the open wave, or a new one if they look up what the open wave adds to

A wave is one job: each task runs all of its rules over a slice of a delta and writes pieces of what they add (`rule_slices`). Pieces
are segments, so the rules of a later wave look up in them what earlier waves have added (law L9), before anything is merged.
What is small is merged, and finalized, in this process: then a batch of many rows and few groups is one job.

Law. The driver holds at most `HERE_ROWS` rows of a delta or of additions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, assert_never

from evercurrent.delta.analyses.copies import is_copy
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program
from evercurrent.delta.terms import columns_read
from evercurrent.engine.spark.jobs.fill import needs_entry
from evercurrent.engine.spark.jobs.keyed import have_distinct_rows
from evercurrent.engine.spark.kernel.outcome import Cost, Outcome
from evercurrent.engine.spark.storage.file_schema import Shape, relation_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.sort_order import row_order
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store, scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.access import Access
from evercurrent.engine.spark.tasks.keyed_slices import (
    Groups,
    change_of_all,
    change_of_entries,
    change_of_keys,
    find_touched_keys,
    key_positions,
)
from evercurrent.engine.spark.tasks.merging import HERE_ROWS, Target, merge
from evercurrent.engine.spark.tasks.pieces import Piece, pieces_of, slices
from evercurrent.engine.spark.tasks.rule_slices import Task, Wave, run_slice
from evercurrent.engine.spark.tasks.runner import TASK_ENTRIES, Runner
from evercurrent.term.nodes import Column

SLICE_ROWS = 250_000
"""The number of rows of a delta that one task takes, roughly."""
WIDER = 4
"""Rules that run over columns take slices of so many times that number: what rows have in common is added up before it is written,"""
WIDER_BYTES = 32 << 20
"""if their files have at most this number of bytes."""
OPEN_PIECES = 32
"""More pieces of a state than this are merged before rules look them up."""


def serves(program: Program) -> bool:
    """Whether tasks can run a program: rules of a recursion are left to the driver and to jobs."""
    return not any(isinstance(r, Fixpoint) for r in program.relations)


class TaskTransaction:
    """A program, the stores as they are, and one transaction."""

    def __init__(
        self,
        program: Program,
        runner: Runner,
        stores: Mapping[StoreName, Store],
        *,
        held: frozenset[str] = frozenset(),
        here_rows: int = HERE_ROWS,
        slice_rows: int = SLICE_ROWS,
        columnar: bool = True,
        fill: bool = False,
        bounded: bool = False,
    ) -> None:
        self.program = program
        self.runner = runner
        self.stores = stores
        self.held = held  # keyed relations that are not updated
        self.here_rows = here_rows  # the most rows that are processed in this process
        self.slice_rows = slice_rows
        self.columnar = columnar
        self.fill = fill  # many rows from nothing: states are merged before they are looked up, and nothing is done by loops
        self.bounded = bounded  # `TooLarge` says if rules find more than one process should hold
        self.reader = runner.reader
        self.shapes = {s.name: Shape(s) for s in program.states}
        self.owners = {store: shape for shape in self.shapes.values() for store in shape.stores}
        self.columns: dict[str, tuple[Column, ...]] = {
            r.name: r.columns for r in program.relations if not isinstance(r, Fixpoint)
        }
        self.pieces: dict[StoreName, list[Piece]] = {}  # what waves have added to stores, not yet merged
        self.ready: dict[StoreName, list[Segment]] = {}  # segments that were added: merged, copied or seeded
        self.wave = self.new_wave()
        self.deltas: dict[str, Segment] = {}  # of the relations in the open wave
        self.outcome = Outcome()
        self.working: frozenset[str] = frozenset()  # what is being computed, in case that it fails

    def seed(self, seeds: Mapping[StoreName, Store]) -> None:
        """Count these segments as added to their states."""
        for name, store in seeds.items():
            self.ready.setdefault(name, []).extend(store.segments)

    def execute(self, inputs: Mapping[str, Segment]) -> Outcome:
        for relation in self.program.relations:
            if relation.name in self.held:
                continue
            match relation:
                case Input(name):
                    segment = inputs.get(name, EMPTY)
                    if segment.rows:
                        self.outcome.deltas[name] = segment
                case Linear(name, columns):
                    segment = self.linear_change(name, columns)
                case Keyed(name):
                    segment = self.compute_keyed_change(relation)
                case Fixpoint():
                    raise AssertionError("recursion is left to others")
                case _:
                    assert_never(relation)
            if segment.rows:
                self.follow(relation.name, segment)
        self.close_wave()
        for shape in self.shapes.values():
            for store in shape.stores:
                segment = self.collect_added(store)
                if segment.rows:
                    self.outcome.stores[store] = segment
        return self.outcome

    # --- rules ---------------------------------------------------------------------------------------------

    def new_wave(self) -> Wave:
        return Wave(
            self.shapes,
            {},
            self.columns,
            columnar=self.columnar,
            loops=not self.fill,
            halves=not self.bounded,
        )

    def follow(self, name: str, segment: Segment) -> None:
        """Have the rules of a relation run over its delta: in the open wave, or in a new one."""
        for rule in self.program.triggers.get(name, ()):
            steps = [s for s in rule.steps if isinstance(s, Lookup)]
            if any(needs_entry(s) and self.is_empty(s.state) for s in steps):
                continue
            if {s.state for s in steps} & self.wave.targets:
                self.close_wave()
            shape = self.shapes.get(rule.into)
            if shape is not None and is_copy(rule) and segment.net:
                if rule.into in self.wave.looked_up:
                    self.close_wave()  # rules before this one do not see what it adds
                self.ready.setdefault(shape.store, []).append(segment)
                continue
            self.wave.rules.setdefault(name, []).append(rule)
            self.wave.read.setdefault(name, tuple(sorted(columns_read(self.program, name))))
            self.deltas[name] = segment

    def is_empty(self, state: str) -> bool:
        """Whether nothing is in a state, and the open wave adds nothing to it."""
        store = self.shapes[state].store
        kept = self.stores.get(store, Store()).segments
        there = any(s.rows for s in (*kept, *self.ready.get(store, ()))) or self.pieces.get(store)
        return state not in self.wave.targets and not there

    def close_wave(self) -> None:
        """Run the open wave."""
        wave, deltas = self.wave, self.deltas
        self.wave, self.deltas = self.new_wave(), {}
        if not wave.rules:
            return
        self.working = frozenset(wave.targets)
        begin, before = time.perf_counter(), self.runner.read_bytes
        wave.stores = self.present(wave.looked_up)
        sent = wave.trim()
        rows = sum(s.rows for s in deltas.values())
        tasks = [Task(n, part) for n, s in deltas.items() for part in self.slices([s], rows, self.widen(s))]
        segments = [*deltas.values(), *(x for s in sent.stores.values() for x in s.segments)]
        targets = [t for name in wave.targets for t in self.stores_of(name)]
        for made in self.run(partial(run_slice, sent), tasks, segments, targets, rows):
            for piece in made:
                self.pieces.setdefault(piece.store, []).append(piece)
        seconds, read = time.perf_counter() - begin, self.runner.read_bytes - before
        self.outcome.costs.append(Cost(frozenset(wave.targets), seconds, read))

    def stores_of(self, name: str) -> list[StoreName]:
        shape = self.shapes.get(name)
        return [delta_store(name)] if shape is None else list(shape.stores)

    def present(self, states: Collection[str]) -> dict[StoreName, Store]:
        """Stores of states as they are now, with what was added to them."""
        result = {}
        for name in states:
            for store in self.shapes[name].stores:
                if len(self.pieces.get(store, ())) > (0 if self.fill else OPEN_PIECES):
                    self.ready.setdefault(store, []).append(self.merge_store(store))
                old = self.stores.get(store, Store())
                more = [*self.ready.get(store, ()), *(p.segment for p in self.pieces.get(store, ()))]
                result[store] = Store(old.base, (*old.recent, *more))
        return result

    # --- relations -----------------------------------------------------------------------------------------

    def linear_change(self, name: str, columns: Sequence[Column]) -> Segment:
        """What rules have added to a relation, consolidated."""
        if name in self.wave.targets:
            self.close_wave()
        store = delta_store(name)
        target = Target(store, relation_schema(columns), tuple(c.type for c in columns))
        return self.note_delta(name, self.merge(target, self.pieces.pop(store, [])))

    def compute_keyed_change(self, relation: Keyed) -> Segment:
        """The change of a keyed relation for the groups that were touched."""
        shape = self.shapes[relation.state]
        if relation.state in self.wave.targets:
            self.close_wave()
        additions = {store: Store((s,)) for store in shape.stores if (s := self.collect_added(store)).rows}
        if not additions:
            return EMPTY
        self.working = frozenset({relation.name})
        begin, before = time.perf_counter(), self.runner.read_bytes
        stores = {s: self.stores.get(s, Store()) for s in shape.stores}
        groups = Groups(relation, shape, stores, additions, self.columnar)
        store = delta_store(relation.name)
        types = tuple(c.type for c in relation.columns)
        # Two entries that differ in what their columns determine only may have equal rows.
        distinct = not shape.dependents and have_distinct_rows(relation, shape)
        target = Target(store, relation_schema(relation.columns), types, distinct)
        segment = self.merge(target, self.change_pieces(groups, store))
        seconds, read = time.perf_counter() - begin, self.runner.read_bytes - before
        self.outcome.costs.append(Cost(frozenset({relation.name}), seconds, read))
        return self.note_delta(relation.name, segment)

    def change_pieces(self, groups: Groups, store: StoreName) -> list[Piece]:
        added = [s for x in groups.additions.values() for s in x.segments]
        segments = [*added, *(s for x in groups.stores.values() for s in x.segments)]
        rows = sum(s.rows for s in added)
        if groups.by_entries:
            parts = self.slices(added, rows)
            return flat(self.run(partial(change_of_entries, groups), parts, segments, [store], rows))
        if not groups.by:
            self.reader.allow(TASK_ENTRIES)
            return flat(self.runner.run_here(partial(change_of_all, groups), [None]))
        keys = self.keys(groups, rows)
        parts = self.slices([keys], keys.rows)
        return flat(
            self.run(partial(change_of_keys, groups), parts, [*segments, keys], [store], max(rows, keys.rows))
        )

    def keys(self, groups: Groups, rows: int) -> Segment:
        """The distinct keys of the touched groups."""
        store = scratch_store(groups.relation.name, "keys")
        columns = [groups.shape.state.columns[i] for i in key_positions(groups)]
        schema = relation_schema(columns)
        self.reader.folder.orders[store] = row_order([c.type for c in columns])
        parts = [
            (name, part)
            for name, added in groups.additions.items()
            for part in self.slices(added.segments, rows)
        ]
        segments = [s for x in groups.additions.values() for s in x.segments]
        pieces = flat(self.run(partial(find_touched_keys, groups, store), parts, segments, [store], rows))
        return self.merge(Target(store, schema, tuple(c.type for c in columns)), pieces)

    def note_delta(self, name: str, segment: Segment) -> Segment:
        if segment.rows:
            self.outcome.deltas[name] = segment
        return segment

    # --- pieces --------------------------------------------------------------------------------------------

    def collect_added(self, store: StoreName) -> Segment:
        """All that was added to a store, as one consolidated segment."""
        pieces, ready = self.pieces.get(store, []), self.ready.get(store, [])
        if not pieces and len(ready) <= 1:
            return ready[0] if ready else EMPTY
        segment = self.merge_store(store, ready)
        self.ready[store] = [segment] if segment.rows else []
        return segment

    def merge_store(self, store: StoreName, ready: Sequence[Segment] = ()) -> Segment:
        shape = self.owners[store]
        s = shape.state
        columns = [c.type for c in s.columns]
        if store == shape.store:
            types = [*columns, *(c.type for c in s.dependents)]
        else:
            i = next(i for i in shape.bags if shape.bag_store(i) == store)
            types = [*columns, *shape.bag_types(i)]
        order = self.reader.folder.orders.get(store, ())
        more = [p for x in ready for p in pieces_of(self.reader, store, x, order)]
        pieces = [*more, *self.pieces.pop(store, [])]
        return self.merge(Target(store, shape.schemas[store], tuple(types)), pieces)

    def merge(self, target: Target, pieces: list[Piece]) -> Segment:
        return merge(self.runner, target, pieces, self.here_rows)

    # --- where ---------------------------------------------------------------------------------------------

    def widen(self, segment: Segment) -> int:
        """How many slices of the usual number of rows one task takes at once."""
        if not self.columnar or not segment.rows:
            return 1
        size = max(1, segment.bytes * self.slice_rows // segment.rows)
        return max(1, min(WIDER, WIDER_BYTES // size))

    def slices(self, segments: Iterable[Segment], rows: int, wide: int = 1) -> list[Any]:
        most = self.slice_rows * wide
        each = min(most, ceil(rows / self.runner.cores)) if rows > self.here_rows else max(rows, 1)
        return slices(self.reader, list(segments), max(1, each))

    def run(
        self,
        function: Callable[[Any, Any], list[Piece]],
        items: Sequence[Any],
        segments: Iterable[Segment],
        stores: Iterable[StoreName],
        rows: int,
    ) -> list[list[Piece]]:
        """By tasks, or in this process if there is little to do."""
        if rows <= self.here_rows:
            return self.runner.run_here(function, items)
        return self.runner.run(function, items, Access.to(self.reader.folder, segments, stores))


def flat(found: Iterable[Iterable[Piece]]) -> list[Piece]:
    return [piece for pieces in found for piece in pieces]
