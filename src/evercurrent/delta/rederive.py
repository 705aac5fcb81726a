"""Delete and rederive: how the relations of a recursion follow a change.

A row of a set belongs to a fixpoint while it has a derivation that does not depend on the row itself. Counting derivations
is not enough, because rows on a cycle count each other. So a change runs in two phases:

    delete    every row that lost a derivation leaves, with all that was derived from it, unless a derivation from outside
              the recursion supports it
    insert    every touched row that has derivations enters, iteration after iteration (semi-naive)

After the first phase the counts are exact for the rows that are left, and no count depends on itself. So a row that was
deleted too eagerly has derivations, and comes back in the second phase.

    edges 1->2, 2->3, 3->2; reach from 1 is {2, 3}. Delete 1->2: row 2 loses a derivation and leaves, then row 3, then
    nothing is left that derives either, and neither comes back.

A bag has a row as often as it has derivations. Each one that is lost takes one of the row's occurrences with it, while there
are any; and the second phase makes up the difference to the count. Weights that just add up would not do: if 1 -> 2 -> 3 had
their root in 1, and now 1 is below 3, what is gained and what is lost would follow each other round the cycle for ever.

The algorithm is written once, over `Derivations`. `RowDerivations` keeps rows in dictionaries, for the engine in process
and for the driver of Spark; `engine.spark` has one over frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from evercurrent.data.zset import Row
from evercurrent.delta.program import Fixpoint, Loop
from evercurrent.errors import EvaluationError

C = TypeVar("C")
Change = list[tuple[Row, int]]
RunRules = Callable[[list[Change]], list[Change]]
"""Runs the rules of the recursion over the rows that leave and enter; returns the derivations that they make and undo."""

ROUNDS = 10_000
"""The iterations that a recursion without a limit of its own may take; more, if more rows than that come from outside."""


class Derivations(Protocol[C]):
    """The derivations of a fixpoint's relations in one transaction. `C` is a change of one relation."""

    def has_rows(self, changes: list[C]) -> bool: ...

    def leave(self, changes: list[C]) -> list[C]:
        """Deletes the rows that lost a derivation by these changes; returns them. Of a bag, as many occurrences as it has."""
        ...

    def restart(self) -> bool:
        """Deletes everything derived inside the recursion, where that is cheaper than to go on; returns whether it did."""
        ...

    def derive(self, moving: list[C]) -> list[C]:
        """Runs the rules over the rows that leave or enter; counts and returns the derivations that change."""
        ...

    def enter_touched(self) -> list[C]:
        """Inserts every touched row that has derivations; returns what changed."""
        ...

    def enter(self, changes: list[C]) -> list[C]:
        """Inserts (or deletes) the rows of these changes by their derivations; returns what changed."""
        ...


def rederive(derivations: Derivations[C], changes: list[C], *, deletions: bool) -> None:
    """Brings a fixpoint to where its derivations support it. The changes are counted already.

    `deletions` says whether a derivation may have been deleted: without one the first phase has nothing to do.
    """
    while deletions and derivations.has_rows(changes):
        leaving = derivations.leave(changes)
        if derivations.restart() or not derivations.has_rows(leaving):
            break
        changes = derivations.derive(leaving)
    entering = derivations.enter_touched()
    while derivations.has_rows(entering):
        entering = derivations.enter(derivations.derive(entering))


def require_rounds(rounds: int, limit: int) -> None:
    """Refuses an iteration beyond the limit."""
    if rounds > limit:
        raise EvaluationError(
            f"the recursion has not come to an end after {limit} rounds",
            hint="bound it with a condition, use UNION instead of UNION ALL, or raise the limit",
        )


# --- rows in dictionaries ----------------------------------------------------------------------------------


class Counts(Protocol):
    """How many derivations each row of a relation has."""

    def load(self, rows: Iterable[Row]) -> None:
        """Reads the counts of these rows, before they are asked for."""
        ...

    def get(self, row: Row) -> int: ...

    def add(self, row: Row, weight: int) -> None: ...

    def size(self) -> int:
        """About how many rows have a count: a chain of so many rows takes as many iterations."""
        ...


class TouchedRows:
    """The rows of one relation that a transaction touches.

    `present` says of each how often it is in the relation now, `before` how often it was: in a set, once or not at all.
    """

    __slots__ = ("before", "counts", "distinct", "outside", "present")

    def __init__(self, loop: Loop, counts: Counts, outside: Counts) -> None:
        self.distinct = loop.distinct
        self.counts, self.outside = counts, outside
        self.present: dict[Row, int] = {}
        self.before: dict[Row, int] = {}

    def touch(self, row: Row) -> None:
        """Notes what the relation holds of a row before anything is counted."""
        if row not in self.before:
            self.before[row] = self.present[row] = self.multiplicity(row)

    def multiplicity(self, row: Row) -> int:
        """Returns how often the relation has a row by its derivations."""
        count = self.counts.get(row)
        return int(count > 0) if self.distinct else count

    def count_outside(self, change: Change) -> None:
        self.outside.load(row for row, _ in change)
        for row, w in change:
            self.outside.add(row, w)

    def count(self, change: Change) -> None:
        self.counts.load(row for row, _ in change)
        self.outside.load(row for row, _ in change)
        for row, w in change:
            self.touch(row)
            self.counts.add(row, w)

    def leave(self, change: Change) -> Change:
        leaving: Change = []
        for row, w in change:
            if w < 0 and self.present[row] and (not self.distinct or self.outside.get(row) <= 0):
                lost = min(-w, self.present[row])
                self.present[row] -= lost
                leaving.append((row, -lost))
        return leaving

    def enter(self, rows: Iterable[Row]) -> Change:
        entering: Change = []
        for row in rows:
            supported = self.multiplicity(row)
            if supported != self.present[row]:
                entering.append((row, supported - self.present[row]))
                self.present[row] = supported
        return entering

    def net(self) -> dict[Row, int]:
        """The change of the relation: what it holds now minus what it held before."""
        present = self.present
        return {row: present[row] - before for row, before in self.before.items() if present[row] != before}


class RowDerivations:
    """A fixpoint in one transaction, its rows in dictionaries."""

    def __init__(self, node: Fixpoint, relations: Sequence[TouchedRows], rules: RunRules) -> None:
        self.node = node
        self.relations = relations
        self.rules = rules
        self.rounds = 0

    def apply(self, outside: Sequence[Change], inside: Sequence[Change]) -> list[dict[Row, int]]:
        """Counts derivations from outside and inside the recursion; returns the net change of each relation."""
        changes = [[*a, *b] for a, b in zip(inside, outside, strict=True)]
        for r, change in zip(self.relations, outside, strict=True):
            r.count_outside(change)
        # Everything is counted at once: a row that leaves next undoes derivations that were only just made.
        self.count(changes)
        rederive(self, changes, deletions=any(w < 0 for change in changes for _, w in change))
        return [r.net() for r in self.relations]

    def count(self, changes: list[Change]) -> None:
        for r, change in zip(self.relations, changes, strict=True):
            r.count(change)

    def has_rows(self, changes: list[Change]) -> bool:
        return any(changes)

    def leave(self, changes: list[Change]) -> list[Change]:
        return [r.leave(change) for r, change in zip(self.relations, changes, strict=True)]

    def restart(self) -> bool:
        return False

    def derive(self, moving: list[Change]) -> list[Change]:
        self.rounds += 1
        if self.rounds > ROUNDS or self.node.limit is not None:
            rows = sum(r.outside.size() for r in self.relations)
            require_rounds(self.rounds, max(ROUNDS, 2 * rows) if self.node.limit is None else self.node.limit)
        changes = self.rules(moving)
        self.count(changes)
        return changes

    def enter_touched(self) -> list[Change]:
        return [r.enter(list(r.present)) for r in self.relations]

    def enter(self, changes: list[Change]) -> list[Change]:
        return [
            r.enter([row for row, _ in change]) for r, change in zip(self.relations, changes, strict=True)
        ]
