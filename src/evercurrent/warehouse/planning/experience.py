"""Estimates corrected by experience: a factor for each relation and way, kept with every version.

Law. A run that was expected to take e seconds and took a moves the factor half of the way, as ratios go, to a / e; ways that
were not taken forget: their factors go a little back to 1, so that a way that was slow once, in a session that was cold, say, is
tried again. Runs that are too short to say anything, and ratios that are out of all proportion, are cut off: a run may be slow
for many reasons, but quick only because there was less to do than was thought.

>>> learn({}, "fill\\0r", 2.0, 4.0)
{'fill\\x00r': 2.0}
>>> learn({"fill\\0r": 2.0}, "fill\\0r", 2.0, 1.0)
{'fill\\x00r': 1.0}
>>> learn({}, "rules\\0r", 0.01, 0.5)
{}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any

SHORT = 0.2
"""Runs that are expected to take fewer seconds say nothing,"""
FIXED = 2.0
"""unless they take more than this: a first run compiles, and opens files, however few its rows are."""
MOST = 4.0
"""No ratio counts for more than this,"""
LEAST = 1 / 64
"""or for less than this."""
FORGETTING = 0.95
"""The power by which a factor goes back to 1 when its way is not taken."""

WAYS = ("rules", "tasks", "jobs", "sql", "fill")
"""What has factors: rules by the driver, by tasks and by jobs of Spark, and the two ways to recompute."""


def key(way: str, relation: str) -> str:
    return f"{way}\0{relation}"


def factor(factors: Mapping[str, float], way: str, relation: str) -> float:
    """The factor of a way. Of one that was never taken, that of the others if they were slow: a slow machine is slow at
    everything, but that one way had little to do says nothing of another.

    >>> factor({"sql\\0r": 4.0}, "sql", "r"), factor({"sql\\0r": 4.0}, "fill", "r"), factor({}, "fill", "r")
    (4.0, 4.0, 1.0)
    >>> factor({"rules\\0r": 0.1}, "rules", "r"), factor({"rules\\0r": 0.1}, "sql", "r")
    (0.1, 1.0)
    """
    own = factors.get(key(way, relation))
    if own is not None:
        return own
    others = [f for w in WAYS if (f := factors.get(key(w, relation))) is not None]
    return max(1.0, geometric_mean(others)) if others else 1.0


def learn(factors: Mapping[str, float], name: str, expected: float, took: float) -> dict[str, float]:
    """The factors after a run; `expected` is what the constants alone say."""
    if (expected < SHORT and took < FIXED) or not expected or not took:
        return dict(factors)
    ratio = min(MOST, max(LEAST, took / expected))
    before = factors.get(name)
    return {**factors, name: round(ratio if before is None else (before * ratio) ** 0.5, 4)}


def after(
    factors: Mapping[str, float], relation: str, way: str, expected: float, took: float
) -> dict[str, float]:
    """Returns the factors after a batch has updated a relation in one way: that factor has learned, the others decay."""
    result = dict(factors)
    for other in WAYS:
        name = key(other, relation)
        if other != way and name in result:
            result[name] = round(result[name] ** FORGETTING, 4)
    return learn(result, key(way, relation), expected, took)


@dataclass(frozen=True)
class Cold:
    """A relation whose states are not there: the extra cost of recomputing it instead of updating it, and their sizes.

    While states are cold, a batch that recomputes the view pays for not having them: `by SQL - by rules` seconds more than
    it might. Law (the ski rental rule): they are filled when these extra seconds, those of the present batch included,
    reach the cost of a fill. Until then less than the cost of one fill was wasted, and then one fill is paid; the best
    choice in hindsight would have cost the lesser of both. So whatever batches follow, a cold period wastes at most twice
    as much as that choice (as far as the estimates are right).
    """

    spent: float = 0.0
    sizes: Mapping[str, tuple[int, int]] = field(
        default_factory=dict
    )  # rows and bytes of each store, when it was there

    def due(self, more: float, fill: float) -> bool:
        """Whether to fill now, when this batch would pay so much more.

        >>> Cold(3.0).due(0.5, 4.0), Cold(3.0).due(1.0, 4.0), Cold(3.0).due(-1.0, 3.5)
        (False, True, False)
        """
        return more > 0 and self.spent + more >= fill

    def add_cost(self, more: float) -> Cold:
        return Cold(self.spent + max(0.0, more), self.sizes)

    def to_json(self) -> dict[str, Any]:
        return {"spent": round(self.spent, 4), "sizes": {k: list(v) for k, v in self.sizes.items()}}

    @staticmethod
    def of_json(value: Mapping[str, Any]) -> Cold:
        return Cold(value["spent"], {k: (v[0], v[1]) for k, v in value["sizes"].items()})
