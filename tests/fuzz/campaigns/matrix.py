"""Every function, aggregate and window function of the product in every position of a query.

A scenario tries a block of cells, (function, position) pairs; seeds that follow each other try all of them in turn. Functions come
from the product's own tables with the examples that Spark is asked about, operands are columns that may be NULL or not, compounds and
constants. The oracle is the reference evaluator; `matrix_spark` asks Spark.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.matrix.cells import block, expected_cells, render
from tests.fuzz.matrix.scenario import Scenario, draw, follow
from tests.fuzz.shortening import fails_like, shortened

__all__ = ["CAMPAIGN", "expected_cells", "render"]


def scenario(seed: int) -> Scenario:
    return draw(seed, block(seed))


def again(seed: int, steps: list[object], views: list[str]) -> None:
    """Runs the scenario of a seed with some of its steps and views: what a saved case calls."""
    whole = scenario(seed)
    follow(
        replace(
            whole,
            steps=[tuple(s) for s in steps],  # type: ignore[arg-type]
            views=[v for v in whole.views if v[0] in views],
            assertions=[a for a in whole.assertions if a[0] in views],
        ),
        Tally(),
    )


@dataclass(frozen=True)
class Matrix:
    name: str = "matrix"
    needs_spark: bool = False

    def run(self, seed: int, tally: Tally) -> None:
        whole = scenario(seed)
        try:
            follow(whole, tally)
        except Exception as error:
            raise Difference(str(error), self.minimal(seed, whole, error)) from error

    def minimal(self, seed: int, whole: Scenario, error: Exception) -> str:
        names = [v[0] for v in (*whole.views, *whole.assertions)]
        fails = fails_like(error, lambda views: again(seed, whole.steps, [v[0] for v in views]))
        kept = [v[0] for v in shortened([(n,) for n in names], fails)]
        fails = fails_like(error, lambda steps: again(seed, steps, kept))
        steps = shortened(list(whole.steps), fails)
        lines = [f"# {line}" for line in str(error).splitlines()]
        lines = [
            "from tests.fuzz.campaigns.matrix import again",
            "from math import inf, nan",
            "import datetime",
            "",
            *lines,
        ]
        return "\n".join([*lines, f"again({seed}, {steps!r}, {kept!r})", ""])


CAMPAIGN = Matrix()
