"""Recursion by jobs: the derivations of a fixpoint as frames.

Delta            the net change of each relation of the recursion, once, after the last iteration
State            the two stores that the driver uses (`fixpoint`), so that either can continue where the other stopped
Cost             two jobs an iteration: the derivations that change; the rows that are deleted or inserted by those
Correct because  `delta.rederive` is. How often a row is present is (was, before the batch) + (was deleted or inserted
                 since), and every decision is one sum over what is stored, derived and changed of the
                 rows in question; each iteration is written to files, so no plan is longer than one iteration.

    path(a, b) :- edge(a, b);  path(a, c) :- path(a, b), edge(b, c)        edges {(1, 2): 1}, path {(1, 2): 1}
    insert edge (2, 3)                                                     delta of path {(2, 3): +1, (1, 3): +1}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from evercurrent.delta.program import Fixpoint, Loop
from evercurrent.delta.rederive import rederive, require_rounds
from evercurrent.engine.spark.jobs.accumulated_segments import AccumulatedSegments
from evercurrent.engine.spark.storage.file_schema import W, consolidate, relation_schema, same
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.segments import BROADCAST_ROWS, LARGE_ROWS, JobContext
from evercurrent.engine.spark.storage.store_names import StoreName, counts_store, delta_store, outside_store
from evercurrent.engine.spark.storage.stored_state import Contents, Store, prefix_columns, union

RunRules = Callable[[list[Segment]], list[Segment]]
"""Runs the rules of the recursion over the rows that leave and enter; returns the derivations that change, in files."""

JOB_ROUNDS = 1_000
"""The most iterations that a recursion may take by jobs, if it has no limit of its own."""


def derivations(frame: DataFrame, loop: Loop) -> DataFrame:
    """Added up, those that come apart from those that go: one cannot stand in for the other."""
    schema = relation_schema(loop.columns)
    keys = [n for n in schema.names if n != W]
    total = F.sum(W).cast("bigint").alias(W)
    return frame.groupBy(*keys, (F.col(W) < 0).alias("goes")).agg(total).where(F.col(W) != 0).drop("goes")


class LoopRelation:
    """One relation of the loop in one transaction."""

    def __init__(self, loop: Loop, context: JobContext, stores: Mapping[StoreName, Store]) -> None:
        self.loop = loop
        self.context = context
        self.schema: StructType = relation_schema(loop.columns)
        self.keys = [n for n in self.schema.names if n != W]
        self.counts = Contents(context, self.schema, stores.get(counts_store(loop), Store()))
        self.outside = Contents(context, self.schema, stores.get(outside_store(loop), Store()))
        self.added = AccumulatedSegments(context, counts_store(loop), self.schema)
        self.moves = AccumulatedSegments(context, delta_store(loop.name), self.schema)

    def read(self, segment: Segment) -> DataFrame:
        return self.context.read(self.schema, [segment])

    def count(self, change: Segment) -> None:
        self.added.add(change)

    def move(self, moving: Segment) -> None:
        self.moves.add(moving)

    # --- decisions -----------------------------------------------------------------------------------------

    def find_deleted(self, change: Segment) -> DataFrame:
        """The rows that lose a derivation that they need; of a bag, as many occurrences as it has."""
        return self.decide_rows(self.read(change).where(F.col(W) < 0), change.rows, leaving=True)

    def find_inserted(self, rows: DataFrame, most: float) -> DataFrame:
        """The rows that these derivations insert."""
        return self.decide_rows(rows, most, leaving=False)

    def decide_rows(self, rows: DataFrame, most: float, *, leaving: bool) -> DataFrame:
        asked = rows.select(*self.keys)
        near = prefix_columns(asked, "q_")
        near = F.broadcast(near) if most <= BROADCAST_ROWS else near
        meets = same([F.col(k) for k in self.keys], [F.col(f"q_{k}") for k in self.keys])
        sums = ("asked", "lost", "old", "new", "moved", "outside")

        def of(frame: DataFrame | None, name: str, stored: bool = False) -> list[DataFrame]:
            if frame is None:
                return []
            found = frame.join(near, meets, "left_semi") if stored else frame
            values = [(F.col(W) if n == name else F.lit(0).cast("bigint")).alias(n) for n in sums]
            return [found.select(*self.keys, *values)]

        parts = of(asked.withColumn(W, F.lit(1).cast("bigint")), "asked")
        parts += of(self.counts.read_settled(), "old", stored=True)
        parts += of(union(self.moves.frames()), "moved")
        if leaving:
            parts += of(rows, "lost")
            parts += of(self.outside.raw(), "outside", stored=True)
        else:
            parts += of(union(self.added.frames()), "new")
        whole = union(parts)
        assert whole is not None
        found = whole.groupBy(*self.keys).agg(*(F.sum(n).alias(n) for n in sums)).where(F.col("asked") > 0)
        was = self.multiplicity(F.col("old")) + F.col("moved")
        if not leaving:
            change = self.multiplicity(F.col("old") + F.col("new")) - was
        elif self.loop.distinct:
            change = -F.when(F.col("outside") <= 0, was).otherwise(0)
        else:
            change = F.greatest(F.col("lost"), -was)
        return found.select(*self.keys, change.cast("bigint").alias(W)).where(F.col(W) != 0)

    def multiplicity(self, count: SparkColumn) -> SparkColumn:
        """How often the relation has a row of so many derivations."""
        return (count > 0).cast("bigint") if self.loop.distinct else count

    def net(self) -> dict[StoreName, DataFrame]:
        """The change of the relation, and what is to be written to its stores."""
        moved = self.moves if self.loop.distinct else self.added
        parts = {delta_store(self.loop.name): moved.frames(), counts_store(self.loop): self.added.frames()}
        parts[outside_store(self.loop)] = self.outside.pending
        return {n: consolidate(f, self.schema) for n, p in parts.items() if (f := union(p)) is not None}


class FixpointJobs:
    """One fixpoint in one transaction: `Derivations` whose changes are segments."""

    def __init__(
        self, node: Fixpoint, context: JobContext, stores: Mapping[StoreName, Store], rules: RunRules
    ) -> None:
        self.node = node
        self.context = context
        self.members = [LoopRelation(loop, context, stores) for loop in node.loops]
        self.rules = rules
        self.rounds = 0

    def apply(
        self, outside: Sequence[Segment], inside: Sequence[Segment], *, beginning: bool
    ) -> dict[StoreName, Segment]:
        """Counts derivations from outside and inside the recursion; returns what `LoopRelation.net` names."""
        for member, a, b in zip(self.members, outside, inside, strict=True):
            if a.rows:
                member.outside.pending.append(member.read(a))
            member.count(a)
            member.count(b)
        changes = [plus(a, b) for a, b in zip(outside, inside, strict=True)]
        rederive(self, changes, deletions=not beginning)
        wanted = {store: frame for member in self.members for store, frame in member.net().items()}
        return self.context.collect(wanted)

    def has_rows(self, changes: list[Segment]) -> bool:
        return any(c.rows for c in changes)

    def leave(self, changes: list[Segment]) -> list[Segment]:
        return self.decide(
            {
                i: (m.find_deleted(c), float(c.rows))
                for i, (m, c) in enumerate(zip(self.members, changes, strict=True))
                if c.rows
            }
        )

    def restart(self) -> bool:
        return False

    def enter_touched(self) -> list[Segment]:
        entering: dict[int, tuple[DataFrame, float]] = {}
        for i, member in enumerate(self.members):
            touched = union([*member.added.frames(), *member.moves.frames()])
            if touched is not None:
                entering[i] = (member.find_inserted(touched, float("inf")), float("inf"))
        return self.decide(entering)

    def enter(self, changes: list[Segment]) -> list[Segment]:
        asked = {
            i: (m.find_inserted(m.read(c), c.rows), float(c.rows))
            for i, (m, c) in enumerate(zip(self.members, changes, strict=True))
            if c.rows and m.loop.distinct
        }
        found = self.decide(asked)
        return [f if m.loop.distinct else c for m, f, c in zip(self.members, found, changes, strict=True)]

    def decide(self, frames: Mapping[int, tuple[DataFrame, float]]) -> list[Segment]:
        """Computes the rows that leave or enter, by one job, and records them."""
        names = {delta_store(self.members[i].loop.name): i for i in frames}
        wanted = {name: frames[i][0] for name, i in names.items()}
        made = self.context.collect(wanted, {name: frames[i][1] for name, i in names.items()})
        result = [EMPTY for _ in self.members]
        for name, segment in made.items():
            result[names[name]] = segment
            self.members[names[name]].move(segment)
        return result

    def derive(self, moving: list[Segment]) -> list[Segment]:
        self.rounds += 1
        require_rounds(self.rounds, JOB_ROUNDS if self.node.limit is None else self.node.limit)
        changes = self.rules(moving)
        for member, change in zip(self.members, changes, strict=True):
            member.count(change)
        if sum(c.rows for c in changes) > LARGE_ROWS:
            self.context.large = True  # from here on the executors write
        return changes


def plus(a: Segment, b: Segment) -> Segment:
    """The files of both."""
    return Segment((*a.files, *b.files), a.rows + b.rows, a.bytes + b.bytes)
