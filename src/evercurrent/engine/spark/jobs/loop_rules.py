"""The rules of a recursion, run over frames: one iteration turns the deleted and inserted rows into derivations.

What rules add to the states inside the loop is written to files with the same job as the derivations, so the next iteration
reads rows and not a plan; from time to time those files are added up. At the end of the transaction the states are
written like any other (`run`).

    path(a, b) :- edge(a, b);  path(a, c) :- path(a, b), edge(b, c)      edges (1, 2), (2, 3)
    inserted path (1, 2)                                                 derivation path (1, 3)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pyspark.sql import DataFrame

from evercurrent.delta.analyses.loops import linear_inside
from evercurrent.delta.program import Fixpoint, Linear, Program
from evercurrent.engine.spark.jobs.accumulated_segments import AccumulatedSegments
from evercurrent.engine.spark.jobs.fixpoint_jobs import FixpointJobs, derivations
from evercurrent.engine.spark.storage.file_schema import Shape, consolidate, relation_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    counts_store,
    delta_store,
    outside_store,
    scratch_store,
)
from evercurrent.engine.spark.storage.stored_state import Contents, Store, union
from evercurrent.term.nodes import Column


class RunningTransaction(Protocol):
    """What a recursion needs of the transaction that it is part of."""

    program: Program
    context: JobContext
    beginning: bool
    kept: Mapping[StoreName, Store]
    shapes: dict[str, Shape]
    contents: dict[StoreName, Contents]
    rows: dict[str, list[DataFrame]]
    copies: dict[StoreName, list[Segment]]

    def follow(self, name: str, columns: Sequence[Column], segment: Segment) -> None:
        """Runs the rules of a relation over its delta."""


class LoopRules:
    """The inside of one fixpoint in one transaction."""

    def __init__(self, run: RunningTransaction, fixpoint: Fixpoint) -> None:
        self.run, self.fixpoint = run, fixpoint
        self.linear = linear_inside(run.program, fixpoint)
        names = {r.name for r in self.linear} | {loop.inner for loop in fixpoint.loops}
        within = {rule.into for name in names for rule in run.program.triggers.get(name, ())}
        self.reached = {r.name for r in self.linear}
        for loop in fixpoint.loops:
            self.reached |= {loop.body, scratch_store(loop.body, "outside")}
        shapes = [run.shapes[name] for name in sorted(within & run.shapes.keys())]
        stores = [s for x in shapes for s in x.stores]
        self.filled = {s: AccumulatedSegments(run.context, s, run.contents[s].schema) for s in stores}

    def run_fixpoint(self) -> dict[StoreName, Segment]:
        """Returns the deltas of the recursion's relations and what is added to their stores, by store."""
        if not any(self.run.rows.get(name) for name in self.reached):
            return {}
        loops = self.fixpoint.loops
        made = self.run_rules([EMPTY for _ in loops])  # what rules from outside have brought already
        given, inside = (
            [made.get(store(x), EMPTY) for x in loops] for store in (outside_store, counts_store)
        )
        jobs = FixpointJobs(self.fixpoint, self.run.context, self.run.kept, self.run_round)
        return jobs.apply(given, inside, beginning=self.run.beginning)

    def run_round(self, moving: list[Segment]) -> list[Segment]:
        made = self.run_rules(moving)
        return [made.get(counts_store(loop), EMPTY) for loop in self.fixpoint.loops]

    def run_rules(self, moving: list[Segment]) -> dict[StoreName, Segment]:
        run = self.run
        for loop, segment in zip(self.fixpoint.loops, moving, strict=True):
            run.follow(loop.inner, loop.columns, segment)
        for r in self.linear:
            run.follow(r.name, r.columns, self.take_delta(r))
        wanted = self.new_entries()
        for loop in self.fixpoint.loops:
            for rows, name in (
                (loop.body, counts_store),
                (scratch_store(loop.body, "outside"), outside_store),
            ):
                added = union(run.rows.pop(rows, []))
                if added is not None:
                    wanted[name(loop)] = derivations(added, loop)
        made = run.context.collect(wanted)
        for store, gained in self.filled.items():
            if store in wanted or store in run.copies:
                gained.add(made[store] if store in wanted else EMPTY, *run.copies.pop(store, ()))
                run.contents[store].pending[:] = gained.frames()
        return made

    def new_entries(self) -> dict[StoreName, DataFrame]:
        """Returns the entries added to states that are in no file yet: neither what they had, nor deltas as they are."""
        result: dict[StoreName, DataFrame] = {}
        for store, gained in self.filled.items():
            contents, copies = self.run.contents[store], self.run.copies.get(store, ())
            added = contents.pending[bool(gained.segments) :]
            if len(added) > len(copies):
                self.run.copies.pop(store, None)
                whole = union(added)
                assert whole is not None
                result[store] = consolidate(whole, contents.schema)
        return result

    def take_delta(self, r: Linear) -> Segment:
        """Returns what rules have added to a relation, and clears it."""
        added = union(self.run.rows.pop(r.name, []))
        if added is None:
            return EMPTY
        store = delta_store(r.name)
        frame = consolidate(added, relation_schema(r.columns))
        return self.run.context.collect({store: frame})[store]
