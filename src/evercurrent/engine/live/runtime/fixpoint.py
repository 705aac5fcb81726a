"""Relations that are defined through each other.

Delta:   the net change of each relation, once, after the loop
State:   for each row the number of its derivations, and of those that come from outside the loop
Cost:    insertions: the new derivations (semi-naive); deletions: the derivations of rows that might have rested on what
         went. Where that is more than half of the relation, the fixpoint is evaluated anew from outside derivations.
Correct  because a row whose derivations became fewer is taken out, with all that was derived from it, unless a derivation
         from outside the loop holds it; then the counts are exact for what is left, no row can count on itself, and rows
         that still have derivations are put back (delete and rederive). Bags need none of this: their weights add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Loop
from evercurrent.engine.live.runtime.journal import Entry
from evercurrent.errors import EvaluationError

Weights = dict[Row, int]
Change = list[tuple[Row, int]]

ROUNDS = 10_000
"""Rounds without an end in sight: fewer than the rows from outside would be a long chain, not a runaway."""
SMALL = 1_000
"""Below this many rows taken out, starting anew is not worth a thought."""


class Relation:
    """One relation of a fixpoint and its derivations."""

    __slots__ = ("before", "counts", "loop", "out", "outside")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.counts: Weights = {}
        self.outside: Weights = {}
        # While a change is worked off: rows taken out, and what was in before for every row that moved.
        self.out: set[Row] = set()
        self.before: Weights = {}

    def rows(self) -> Iterator[tuple[Row, int]]:
        return ((row, 1) for row in self.counts) if self.loop.distinct else iter(self.counts.items())


class Moving:
    """The state of one fixpoint, and how it moves."""

    def __init__(self, node: Fixpoint) -> None:
        self.node = node
        self.relations = [Relation(loop) for loop in node.loops]

    def __len__(self) -> int:
        return sum(len(r.counts) for r in self.relations)

    def move(self, round: Round, journal: list[Entry] | None) -> list[Weights]:
        """Work off what lies in the bodies; gives the net change of each relation."""
        self.journal = journal
        self.rounds = 0
        self.restarted = False
        changes = [dict(body) for body in round.bodies]
        for body in round.bodies:
            body.clear()
        try:
            for r, change in zip(self.relations, changes, strict=True):
                for row, w in change.items():
                    self._add(r.outside, row, w)
            lost: list[Change] = [[(row, w) for row, w in c.items() if w < 0] for c in changes]
            gained: list[Change] = [[(row, w) for row, w in c.items() if w > 0] for c in changes]
            if any(lost):
                for coming, late in zip(gained, self._delete(round, lost), strict=True):
                    coming.extend(late)
            if self.restarted:
                gained = [list(r.outside.items()) for r in self.relations]
            self._insert(round, gained)
            return [self._net(r) for r in self.relations]
        finally:
            for r in self.relations:
                r.out.clear()
                r.before = {}

    def _add(self, weights: Weights, row: Row, w: int) -> int:
        old = weights.get(row)
        if self.journal is not None:
            self.journal.append((weights, row, old))
        new = (old or 0) + w
        if new:
            weights[row] = new
        else:
            weights.pop(row, None)
        return new

    # --- deleting ------------------------------------------------------------------------------------------

    def _delete(self, round: Round, lost: list[Change]) -> list[Change]:
        """Take out what went and what may have rested on it; gives what was derived anew meanwhile."""
        budget = max(SMALL, len(self) // 2)
        taken = 0
        late: list[Change] = [[] for _ in self.relations]
        while any(lost):
            leaving: list[Change] = []
            for r, change in zip(self.relations, lost, strict=True):
                leaving.append(self._lose(r, change))
                taken += len(leaving[-1])
            if taken > budget and round.restart is not None and all(r.loop.distinct for r in self.relations):
                self._restart(round)
                return late
            lost = []
            for change, more in zip(self._turn(round, leaving), late, strict=True):
                lost.append([x for x in change if x[1] < 0])
                more.extend(x for x in change if x[1] > 0)
        return late

    def _lose(self, r: Relation, change: Change) -> Change:
        """Take derivations away; gives the rows that leave by it."""
        if not r.loop.distinct:
            for row, w in change:
                r.before.setdefault(row, r.counts.get(row, 0))
                self._add(r.counts, row, w)
            return change
        leaving: Change = []
        for row, w in change:
            held = self._add(r.counts, row, w)
            if row in r.out or (held > 0 and r.outside.get(row, 0) > 0):
                continue
            r.out.add(row)
            r.before.setdefault(row, 1)
            leaving.append((row, -1))
        return leaving

    def _restart(self, round: Round) -> None:
        """Forget all that was derived inside, and start from what comes from outside."""
        assert round.restart is not None
        round.restart(self.journal)
        for body in round.bodies:
            body.clear()
        for r in self.relations:
            for row in r.counts:
                r.before.setdefault(row, 1)
            if self.journal is not None:
                self.journal.append((refill, r.counts, dict(r.counts)))
            r.counts.clear()
            r.out.clear()
        self.restarted = True

    # --- inserting -----------------------------------------------------------------------------------------

    def _insert(self, round: Round, gained: list[Change]) -> None:
        coming: list[Change] = []
        for r, change in zip(self.relations, gained, strict=True):
            again = [(row, 1) for row in r.out if r.counts.get(row, 0) > 0]
            r.out.difference_update(row for row, _ in again)
            coming.append(again + self._gain(r, change))
        while any(coming):
            changes = self._turn(round, coming)
            coming = [self._gain(r, change) for r, change in zip(self.relations, changes, strict=True)]

    def _gain(self, r: Relation, change: Change) -> Change:
        """Bring derivations in; gives the rows that come by it."""
        if not r.loop.distinct:
            for row, w in change:
                r.before.setdefault(row, r.counts.get(row, 0))
                self._add(r.counts, row, w)
            return change
        coming: Change = []
        for row, w in change:
            held = self._add(r.counts, row, w)
            if row in r.out:
                r.out.discard(row)
                coming.append((row, 1))
            elif held == w:
                r.before.setdefault(row, 0)
                coming.append((row, 1))
        return coming

    # --- both ----------------------------------------------------------------------------------------------

    def _turn(self, round: Round, moving: list[Change]) -> list[Change]:
        """One round: run the bodies' rules over what moves, and take what they derive."""
        self.rounds += 1
        limit = self.node.limit
        if limit is None:
            limit = max(ROUNDS, 2 * sum(len(r.outside) for r in self.relations))
        if self.rounds > limit:
            raise EvaluationError(
                f"the recursion has not come to an end after {limit} rounds",
                hint="bound it with a condition, use UNION instead of UNION ALL, or raise the limit",
            )
        for run, change in zip(round.inner, moving, strict=True):
            if run is not None and change:
                run(change)
        round.settle()
        found = [list(body.items()) for body in round.bodies]
        for body in round.bodies:
            body.clear()
        return found

    def _net(self, r: Relation) -> Weights:
        net: Weights = {}
        for row, before in r.before.items():
            held = r.counts.get(row, 0)
            after = int(held > 0) if r.loop.distinct else held
            if after != before:
                net[row] = after - before
        return net


class Round:
    """What generated code gives to the loop.

    `bodies` are the tables in which derivations are collected, `inner` the rules over each relation's delta, `settle`
    runs relations between them, `restart` empties the states that only those rules fill (None: some are shared).
    """

    __slots__ = ("bodies", "inner", "restart", "settle")

    def __init__(
        self,
        bodies: Sequence[Weights],
        inner: Sequence[Callable[[Change], None] | None],
        settle: Callable[[], None],
        restart: Callable[[list[Entry] | None], None] | None,
    ) -> None:
        self.bodies, self.inner, self.settle, self.restart = bodies, inner, settle, restart


def refill(container: dict[Any, Any], content: dict[Any, Any]) -> None:
    container.clear()
    container.update(content)


def empty(containers: Sequence[dict[Any, Any]]) -> Callable[[list[Entry] | None], None]:
    """A function that empties dictionaries, on the record."""

    def restart(journal: list[Entry] | None) -> None:
        for container in containers:
            if journal is not None:
                journal.append((refill, container, dict(container)))
            container.clear()

    return restart
