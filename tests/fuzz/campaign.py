"""What a campaign is.

A campaign draws one scenario from a seed, runs it, and compares every result with an oracle that shares no code with
the engine. It counts what it compared, so that a run can say how much was really tried:

    tally = Tally()
    CAMPAIGN.run(seed=17, tally=tally)      # returns, or raises Difference
    tally.transactions                      # 12

The same seed always gives the same scenario.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

T = TypeVar("T")


@dataclass
class Tally:
    """Counts what was compared. `cells` counts (what, position) pairs of the matrix of functions and positions."""

    transactions: int = 0
    views: int = 0
    faults: int = 0
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)


class Difference(AssertionError):
    """A scenario in which the engine and the oracle disagree. `case` is a minimised script that shows it."""

    def __init__(self, message: str, case: str) -> None:
        super().__init__(f"{message}\n{case}")
        self.case = case


class Campaign(Protocol):
    name: str
    needs_spark: bool

    def run(self, seed: int, tally: Tally) -> None:
        """Runs the scenario of this seed, which takes about a second at most; raises Difference."""
        ...


def minimise(steps: Sequence[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Returns a subsequence that still fails and from which no single step can be left out."""
    kept = list(steps)
    size = max(len(kept) // 2, 1)
    while True:
        at = 0
        while at < len(kept):
            shorter = kept[:at] + kept[at + size :]
            if fails(shorter):
                kept = shorter
            else:
                at += size
        if size == 1:
            return kept
        size = max(size // 2, 1)
