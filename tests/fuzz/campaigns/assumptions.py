"""Tables with declared references under transactions that aim at what is assumed of them, compared with DuckDB.

The tables and views are those of `random_families`, the transactions those of `random_family_changes`, and what is compared with
what stands in `family_histories`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.family_histories import follow, script
from tests.fuzz.random_family_changes import history
from tests.fuzz.shortening import fails_like, shortened


@dataclass(frozen=True)
class Assumptions:
    name: str = "assumptions"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed, self.transactions)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("table",))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = Assumptions()
