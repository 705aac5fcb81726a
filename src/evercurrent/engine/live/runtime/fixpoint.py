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

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """One relation of a fixpoint and its derivations.

    Between transactions a row of a set is in if it has derivations. While a change is worked off, `now` says of every row
    that it touches whether it is in; `before` is what was in (a set) or how often (a bag).
    """

    __slots__ = ("before", "counts", "loop", "now", "outside")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.counts: Weights = {}
        self.outside: Weights = {}
        self.now: dict[Row, bool] = {}
        self.before: Weights = {}

    def rows(self) -> Iterator[tuple[Row, int]]:
        return ((row, 1) for row in self.counts) if self.loop.distinct else iter(self.counts.items())

    def touch(self, row: Row) -> None:
        """Remember what was in before anything is counted."""
        if row not in self.before:
            count = self.counts.get(row, 0)
            self.before[row] = int(count > 0) if self.loop.distinct else count
            self.now[row] = count > 0


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
        given, changes = take(round.outside), take(round.bodies)
        try:
            for r, change, more in zip(self.relations, given, changes, strict=True):
                for row, w in change:
                    self._add(r.outside, row, w)
                more.extend(change)
            # All is counted at once: what leaves next takes derivations away that only just came.
            self._count(changes)
            if any(w < 0 for change in changes for _, w in change):
                changes = self._delete(round, changes)
            self._insert(round, changes)
            return [self._net(r) for r in self.relations]
        finally:
            for r in self.relations:
                r.now = {}
                r.before = {}

    def _count(self, changes: list[Change]) -> None:
        for r, change in zip(self.relations, changes, strict=True):
            for row, w in change:
                r.touch(row)
                self._add(r.counts, row, w)

    def _add(self, weights: Weights, row: Row, w: int) -> None:
        old = weights.get(row)
        if self.journal is not None:
            self.journal.append((weights, row, old))
        new = (old or 0) + w
        if new:
            weights[row] = new
        else:
            weights.pop(row, None)

    # --- deleting ------------------------------------------------------------------------------------------

    def _delete(self, round: Round, changes: list[Change]) -> list[Change]:
        """Take out what lost derivations and what may have rested on it; gives the derivations that came meanwhile."""
        budget = max(SMALL, len(self) // 2)
        taken = 0
        late: list[Change] = [[] for _ in self.relations]
        while any(changes):
            leaving: list[Change] = []
            for r, change, more in zip(self.relations, changes, late, strict=True):
                leaving.append(self._leave(r, [x for x in change if x[1] < 0]))
                more.extend(x for x in change if x[1] > 0)
                taken += len(leaving[-1])
            if taken > budget and round.restart is not None and all(r.loop.distinct for r in self.relations):
                return self._restart(round)
            if not any(leaving):
                break
            changes = self._turn(round, leaving)
            self._count(changes)
        return late

    def _leave(self, r: Relation, lost: Change) -> Change:
        """The rows that leave because they lost derivations; one that comes from outside stays."""
        if not r.loop.distinct:
            return lost
        leaving: Change = []
        for row, _ in lost:
            if r.now[row] and r.outside.get(row, 0) <= 0:
                r.now[row] = False
                leaving.append((row, -1))
        return leaving

    def _restart(self, round: Round) -> list[Change]:
        """Forget all that was derived inside; gives what comes from outside, to start from."""
        assert round.restart is not None
        round.restart(self.journal)
        take(round.bodies)
        for r in self.relations:
            for row in r.counts:
                r.touch(row)
            r.now = dict.fromkeys(r.now, False)
            if self.journal is not None:
                self.journal.append((refill, r.counts, dict(r.counts)))
            r.counts.clear()
        changes = [list(r.outside.items()) for r in self.relations]
        self._count(changes)
        for r in self.relations:
            r.now = dict.fromkeys(r.now, False)
        return changes

    # --- inserting -----------------------------------------------------------------------------------------

    def _insert(self, round: Round, changes: list[Change]) -> None:
        """Bring in what has derivations, round after round; first of all what was taken out and still has some."""
        coming = [
            self._enter(r, r.now) if r.loop.distinct else change
            for r, change in zip(self.relations, changes, strict=True)
        ]
        while any(coming):
            changes = self._turn(round, coming)
            self._count(changes)
            coming = [
                self._enter(r, [row for row, _ in change]) if r.loop.distinct else change
                for r, change in zip(self.relations, changes, strict=True)
            ]

    def _enter(self, r: Relation, rows: Iterable[Row]) -> Change:
        """The rows that come, or go, because they have derivations now, or have none left."""
        coming: Change = []
        for row in list(rows):
            held = r.counts.get(row, 0) > 0
            if held != r.now[row]:
                r.now[row] = held
                coming.append((row, 1 if held else -1))
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
        return take(round.bodies)

    def _net(self, r: Relation) -> Weights:
        net: Weights = {}
        for row, before in r.before.items():
            after = int(r.now[row]) if r.loop.distinct else r.counts.get(row, 0)
            if after != before:
                net[row] = after - before
        return net


class Round:
    """What generated code gives to the loop.

    `bodies` are the lists in which derivations are collected, `outside` those of derivations that read nothing of the
    loop, `inner` the rules over each relation's delta, `settle` runs relations between them, `restart` empties the states
    that only those rules fill (None: some are shared).
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


def take(lists: Sequence[Change]) -> list[Change]:
    """What lies in the lists, which are empty then."""
    found = [list(x) for x in lists]
    for x in lists:
        x.clear()
    return found


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
