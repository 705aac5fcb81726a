"""Recursion in process: the derivations of a fixpoint in dictionaries, on the record of the transaction.

Delta:   the net change of each relation, once, after the last iteration
State:   for each row the number of its derivations, and of those that come from outside the recursion
Cost:    insertions: the new derivations (semi-naive); deletions: the derivations of rows that might have depended on what
         was deleted. Where that is more than half of the relation, the fixpoint is evaluated from its outside derivations.
Correct  because `delta.rederive` is.

    edges 1-2, 2-3, 3-1, path as a set      every pair of 1, 2, 3 is a path
    delete 3-1                              the paths 1-2, 2-3, 1-3 remain: the others only supported each other
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Loop
from evercurrent.delta.rederive import Change, RowDerivations, TouchedRows
from evercurrent.engine.live.runtime.journal import Entry

Weights = dict[Row, int]

SMALL = 1_000
"""Below this many deleted rows, an evaluation from the outside derivations is not considered."""


class Relation:
    """One relation of a fixpoint: how many derivations each row has. A row of a set belongs to it if it has any."""

    __slots__ = ("counts", "loop", "outside")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.counts: Weights = {}
        self.outside: Weights = {}

    def rows(self) -> Iterator[tuple[Row, int]]:
        return ((row, 1) for row in self.counts) if self.loop.distinct else iter(self.counts.items())


class JournaledCounts:
    """Counts in a dictionary, whose old values are written to the journal."""

    __slots__ = ("journal", "weights")

    def __init__(self, weights: Weights, journal: list[Entry] | None) -> None:
        self.weights, self.journal = weights, journal

    def load(self, rows: Iterable[Row]) -> None:
        """All counts are in memory."""

    def get(self, row: Row) -> int:
        return self.weights.get(row, 0)

    def add(self, row: Row, weight: int) -> None:
        old = self.weights.get(row)
        if self.journal is not None:
            self.journal.append((self.weights, row, old))
        new = (old or 0) + weight
        if new:
            self.weights[row] = new
        else:
            self.weights.pop(row, None)

    def size(self) -> int:
        return len(self.weights)


class LiveFixpoint:
    """The state of one fixpoint."""

    def __init__(self, node: Fixpoint) -> None:
        self.node = node
        self.relations = [Relation(loop) for loop in node.loops]

    def __len__(self) -> int:
        return sum(len(r.counts) for r in self.relations)

    def apply(self, loop_rules: LoopRules, journal: list[Entry] | None) -> list[Weights]:
        """Applies the derivations that lie in the bodies; returns the net change of each relation."""
        outside, inside = take(loop_rules.outside), take(loop_rules.bodies)
        return LiveDerivations(self, loop_rules, journal).apply(outside, inside)


class LiveDerivations(RowDerivations):
    """A live fixpoint in one transaction. It starts over where many rows would leave."""

    def __init__(self, fixpoint: LiveFixpoint, loop_rules: LoopRules, journal: list[Entry] | None) -> None:
        relations = [
            TouchedRows(r.loop, JournaledCounts(r.counts, journal), JournaledCounts(r.outside, journal))
            for r in fixpoint.relations
        ]
        super().__init__(fixpoint.node, relations, loop_rules.run)
        self.fixpoint, self.loop_rules, self.journal = fixpoint, loop_rules, journal
        self.deleted = 0
        self.budget = max(SMALL, len(fixpoint) // 2)

    def leave(self, changes: list[Change]) -> list[Change]:
        leaving = super().leave(changes)
        self.deleted += sum(map(len, leaving))
        return leaving

    def restart(self) -> bool:
        empty_states = self.loop_rules.restart
        if self.deleted <= self.budget or empty_states is None or not all(r.distinct for r in self.relations):
            return False
        empty_states(self.journal)
        take(self.loop_rules.bodies)
        for touched, r in zip(self.relations, self.fixpoint.relations, strict=True):
            for row in r.counts:
                touched.touch(row)
            if self.journal is not None:
                self.journal.append((refill, r.counts, dict(r.counts)))
            r.counts.clear()
        self.count([list(r.outside.items()) for r in self.fixpoint.relations])
        for touched in self.relations:
            touched.present = dict.fromkeys(touched.present, 0)
        return True


class LoopRules:
    """The generated code of one recursion.

    `bodies` are the lists in which derivations are collected, `outside` those of derivations that read nothing of the
    recursion, `inner` the rules over each relation's delta, `settle` runs relations between them, `restart` empties the
    states that only those rules fill (None: some are shared).
    """

    __slots__ = ("bodies", "inner", "outside", "restart", "settle")

    def __init__(
        self,
        bodies: Sequence[Change],
        outside: Sequence[Change],
        inner: Sequence[Callable[[Change], None] | None],
        settle: Callable[[], None],
        restart: Callable[[list[Entry] | None], None] | None,
    ) -> None:
        self.bodies, self.outside = bodies, outside
        self.inner, self.settle, self.restart = inner, settle, restart

    def run(self, moving: list[Change]) -> list[Change]:
        """Runs the rules over the rows that leave and enter; returns the derivations that change."""
        for run_inner, change in zip(self.inner, moving, strict=True):
            if run_inner is not None and change:
                run_inner(change)
        self.settle()
        return take(self.bodies)


def take(lists: Sequence[Change]) -> list[Change]:
    """Returns the contents of the lists and clears them."""
    found = [list(x) for x in lists]
    for x in lists:
        x.clear()
    return found


def refill(container: dict[Any, Any], content: dict[Any, Any]) -> None:
    container.clear()
    container.update(content)


def empty(containers: Sequence[dict[Any, Any]]) -> Callable[[list[Entry] | None], None]:
    """Returns a function that empties dictionaries, on the record."""

    def restart(journal: list[Entry] | None) -> None:
        for container in containers:
            if journal is not None:
                journal.append((refill, container, dict(container)))
            container.clear()

    return restart
