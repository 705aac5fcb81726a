"""Recursion, in rounds that the driver counts.

Delta            the net change of each relation of the loop, once, after the last round
State            for each row the number of its derivations, and of those that read nothing of the loop: two stores
Cost             the derivations of what comes, and of what may have rested on what goes; only rows that are touched are read
Correct because  a row of a set that lost a derivation is taken out, with all that was derived from it, unless one from
                 outside the loop holds it; then no count rests on itself, and rows that still have derivations come back
                 (delete and rederive). Weights of a bag just add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow

from evercurrent.data.zset import Row
from evercurrent.delta.loops import inside
from evercurrent.delta.program import Fixpoint, Linear, Loop, Program
from evercurrent.engine.spark.columns import rows_to_arrow
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.pool import Pool
from evercurrent.engine.spark.shapes import row_schema
from evercurrent.errors import EvaluationError, UnsupportedError

Change = list[tuple[Row, int]]
Turn = Callable[[list[Change]], list[Change]]
"""Runs the rules of the loop over what moves; gives the derivations that come and go by it."""

ROUNDS = 10_000


def counts_store(loop: Loop) -> str:
    return f"{loop.name}\0counts"


def outside_store(loop: Loop) -> str:
    return f"{loop.name}\0outside"


def loop_stores(fixpoint: Fixpoint) -> Iterator[tuple[str, Loop]]:
    for loop in fixpoint.loops:
        yield counts_store(loop), loop
        yield outside_store(loop), loop


def endless(limit: int) -> EvaluationError:
    return EvaluationError(
        f"the recursion has not come to an end after {limit} rounds",
        hint="bound it with a condition, use UNION instead of UNION ALL, or raise the limit",
    )


def between(program: Program, fixpoint: Fixpoint) -> list[Linear]:
    """Relations between a loop's deltas and its bodies: they move in every round."""
    found = []
    for r in inside(program, fixpoint):
        if not isinstance(r, Linear):
            raise UnsupportedError(
                "a group, a window or DISTINCT inside a recursion is not there on Spark yet"
            )
        found.append(r)
    return found


class Derivations:
    """How often each row is derived: what is stored, read as rows are touched, and what is added."""

    def __init__(self, pool: Pool, loop: Loop, store: Store) -> None:
        self.pool, self.store = pool, store
        self.types = [c.type for c in loop.columns]
        self.old: dict[Row, int] = {}
        self.new: dict[Row, int] = {}

    def touch(self, rows: Iterable[Row]) -> None:
        missing = {row for row in rows if row not in self.old}
        if not missing:
            return
        for row in missing:
            self.old[row] = 0
        if self.store.segments:
            at = range(len(self.types))
            for row in self.pool.rows(self.store, row_schema(self.types), self.types, at, missing):
                if row[:-1] in missing:
                    self.old[row[:-1]] += row[-1]

    def add(self, row: Row, w: int) -> None:
        self.new[row] = self.new.get(row, 0) + w

    def get(self, row: Row) -> int:
        return self.old.get(row, 0) + self.new.get(row, 0)

    def added(self) -> pyarrow.Table:
        names = [f"c{i}" for i in range(len(self.types))]
        return rows_to_arrow(self.types, names, [(row, w) for row, w in self.new.items() if w], "w")


class Recursion:
    """One fixpoint in one transaction."""

    def __init__(self, node: Fixpoint, pool: Pool, stores: Mapping[str, Store]) -> None:
        self.node = node
        self.pool = pool
        self.counts = [
            Derivations(pool, loop, stores.get(counts_store(loop), Store())) for loop in node.loops
        ]
        self.outside = [
            Derivations(pool, loop, stores.get(outside_store(loop), Store())) for loop in node.loops
        ]
        self.now: list[dict[Row, bool]] = [{} for _ in node.loops]
        self.before: list[dict[Row, int]] = [{} for _ in node.loops]
        self.rounds = 0

    def move(self, given: Sequence[Change], inside: Sequence[Change], turn: Turn) -> list[dict[Row, int]]:
        """Work off derivations from outside and those that read the loop; gives the net change of each relation."""
        changes = [[*a, *b] for a, b in zip(given, inside, strict=True)]
        for i, change in enumerate(given):
            self.outside[i].touch(row for row, _ in change)
            for row, w in change:
                self.outside[i].add(row, w)
        self.count(changes)
        if any(w < 0 for change in changes for _, w in change):
            changes = self.delete(changes, turn)
        self.insert(changes, turn)
        return [self.net(i) for i in range(len(self.node.loops))]

    def count(self, changes: Sequence[Change]) -> None:
        for i, change in enumerate(changes):
            self.counts[i].touch(row for row, _ in change)
            self.outside[i].touch(row for row, _ in change)
            known = len(self.before[i])
            for row, w in change:
                if row not in self.before[i]:
                    held = self.counts[i].get(row)
                    self.before[i][row] = int(held > 0) if self.node.loops[i].distinct else held
                    self.now[i][row] = held > 0
                self.counts[i].add(row, w)
            # Rows that are made take room as those that are read do.
            self.pool.spend(len(self.before[i]) - known)

    def delete(self, changes: list[Change], turn: Turn) -> list[Change]:
        late: list[Change] = [[] for _ in self.node.loops]
        while any(changes):
            leaving = []
            for i, change in enumerate(changes):
                leaving.append(self.leave(i, [x for x in change if x[1] < 0]))
                late[i].extend(x for x in change if x[1] > 0)
            if not any(leaving):
                break
            changes = self.turn(leaving, turn)
            self.count(changes)
        return late

    def leave(self, i: int, lost: Change) -> Change:
        if not self.node.loops[i].distinct:
            return lost
        leaving: Change = []
        for row, _ in lost:
            if self.now[i][row] and self.outside[i].get(row) <= 0:
                self.now[i][row] = False
                leaving.append((row, -1))
        return leaving

    def insert(self, changes: list[Change], turn: Turn) -> None:
        loops = self.node.loops
        coming = [self.enter(i, list(self.now[i])) if loops[i].distinct else c for i, c in enumerate(changes)]
        while any(coming):
            changes = self.turn(coming, turn)
            self.count(changes)
            coming = [
                self.enter(i, [row for row, _ in c]) if loops[i].distinct else c
                for i, c in enumerate(changes)
            ]

    def enter(self, i: int, rows: Iterable[Row]) -> Change:
        coming: Change = []
        for row in rows:
            held = self.counts[i].get(row) > 0
            if held != self.now[i][row]:
                self.now[i][row] = held
                coming.append((row, 1 if held else -1))
        return coming

    def turn(self, moving: list[Change], turn: Turn) -> list[Change]:
        self.rounds += 1
        limit = self.node.limit
        if limit is None:
            rows = sum(d.store.rows + len(d.new) for d in self.outside)
            limit = max(ROUNDS, 2 * rows)
        if self.rounds > limit:
            raise endless(limit)
        return turn(moving)

    def net(self, i: int) -> dict[Row, int]:
        distinct = self.node.loops[i].distinct
        result = {}
        for row, before in self.before[i].items():
            after = int(self.now[i][row]) if distinct else self.counts[i].get(row)
            if after != before:
                result[row] = after - before
        return result

    def added(self) -> Iterator[tuple[str, pyarrow.Table]]:
        """What is to be written to the stores of the loop."""
        for loop, counts, outside in zip(self.node.loops, self.counts, self.outside, strict=True):
            yield counts_store(loop), counts.added()
            yield outside_store(loop), outside.added()
