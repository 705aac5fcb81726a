"""The fixed budget: the seeds of each campaign that `make test` runs, about three minutes in all.

Seeds count from 1000. The numbers were chosen by time on two cores: about ten seconds for each campaign in process.
"""

from __future__ import annotations

FIRST_SEED = 1000

SCENARIOS = {
    "views": 24,
    "objects": 24,
    "plans": 60,
}
"""How many scenarios of each campaign belong to the budget."""

PARTS = 4
"""Tests that the scenarios of one campaign are divided among, so that processes share them."""


def seeds(name: str, part: int | None = None) -> range:
    """Returns the seeds of a campaign, or of one part of it."""
    count = SCENARIOS.get(name, 6)
    if part is None:
        return range(FIRST_SEED, FIRST_SEED + count)
    return range(FIRST_SEED + part, FIRST_SEED + count, PARTS)
