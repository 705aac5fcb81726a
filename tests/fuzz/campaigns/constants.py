"""Constants in random spellings, in views that Spark's own SQL recomputes, compared with the values that they stand for.

    CREATE VIEW v0 AS SELECT k, 'it''s ${env:HOME}' AS c0 FROM t      policy full; every row of c0 must be: it's ${env:HOME}

A warehouse of one table, and a few changes: most of the time of a scenario is Spark's.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.random_constants import constants_view
from tests.fuzz.shortening import fails_like, shortened
from tests.fuzz.warehouse_histories import Step, follow, script
from tests.laws.chooser import Seeded

POLICIES = ("full", "full", "auto")
MOST = (12, 8)


def history(seed: int) -> list[Step]:
    c = Seeded(70_000 + seed)
    steps: list[Step] = [("table", "t", "CREATE TABLE t (k INT PRIMARY KEY, s STRING)")]
    for i, policy in enumerate(POLICIES):
        text, constants = constants_view(c, "t", "k", MOST)
        steps.append(("view", f"v{i}", text, policy, constants))
    for i in range(3):
        steps.append(("change", "spark", [("t", None, (i, c.pick(("a", "b", None))))]))
    return steps


@dataclass(frozen=True)
class Constants:
    name: str = "constants"
    needs_spark: bool = True

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("table",))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = Constants()
