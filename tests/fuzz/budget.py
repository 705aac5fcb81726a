"""The fixed budget: the seeds of each campaign that `make test` runs, about three minutes in all.

Seeds count from 1000. The numbers were chosen by time on two cores: about ten seconds for each campaign in process.

    python -m tests.fuzz.budget FOLDER here|spark CAMPAIGN...

runs all of it, the named campaigns first, with the package that lies in FOLDER, until a scenario fails; its last line says which
one, and its exit code is then CAUGHT. That is how mutants are run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.fuzz import campaign as campaign_module
from tests.fuzz.roster import CAMPAIGNS, campaign, is_written

FIRST_SEED = 1000

SCENARIOS = {
    "views": 24,
    "objects": 24,
    "plans": 60,
    "windows": 12,
    "bulk": 10,
    "sums": 20,
    "trees": 8,
    "assumptions": 24,
    "object_assumptions": 48,
    "matrix": 12,
    "faults": 8,
    "interrupts": 8,
    "durable": 8,
    "definitions": 4,
    "matrix_spark": 4,
    "constants": 4,
    "sources": 8,
    "warehouse": 4,
}
"""How many scenarios of each campaign belong to the budget."""

KNOWN = {"plans": (795014374,), "sums": (795000179,), "views": (795014227,), "warehouse": (795063625,)}
"""Seeds that find a bug which few others do: a part of the budget of mutants."""

CAUGHT = 3
"""The exit code of a budget in which a scenario failed; other codes than this and 0 mean that it could not run."""

PARTS = 4
"""Tests that the scenarios of one campaign are divided among, so that processes share them."""


def seeds(name: str, part: int | None = None) -> list[int]:
    """Returns the seeds of a campaign, or of one part of it. No part has the known seeds."""
    count = SCENARIOS.get(name, 6)
    if part is None:
        return [*range(FIRST_SEED, FIRST_SEED + count), *KNOWN.get(name, ())]
    return list(range(FIRST_SEED + part, FIRST_SEED + count, PARTS))


def first_failure(names: Sequence[str]) -> str:
    """Runs the budget of these campaigns; returns which scenario failed first, or an empty string."""
    for name in names:
        for seed in seeds(name):
            try:
                campaign(name).run(seed, campaign_module.Tally())
            except Exception as problem:
                return f"{name} {seed} {type(problem.__cause__ or problem).__name__}"
    return ""


def main(arguments: Sequence[str]) -> int:
    folder, where, *likely = arguments
    # A difference is enough: it need not be made short.
    campaign_module.minimise = lambda steps, fails: list(steps)
    import evercurrent

    assert evercurrent.__file__ is not None and evercurrent.__file__.startswith(folder), evercurrent.__file__
    names = [n for n in CAMPAIGNS if is_written(n) and campaign(n).needs_spark == (where == "spark")]
    if where == "spark":
        from tests.spark_session import small_session

        small_session("evercurrent-mutants")
    found = first_failure(sorted(names, key=lambda n: likely.index(n) if n in likely else len(likely)))
    print(found)
    return CAUGHT if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
