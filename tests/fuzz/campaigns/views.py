"""Random schemas, views and transactions, compared with DuckDB after every transaction.

The schemas and transactions are those of `random_histories`, the queries those of `tests/laws`, and what is compared with what
stands in `histories`. A difference is minimised: first transactions and views are left out, then statements.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.histories import follow, script
from tests.fuzz.random_histories import history
from tests.fuzz.shortening import fails_like, shortened


@dataclass(frozen=True)
class Views:
    name: str = "views"
    needs_spark: bool = False
    transactions: int = 80

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed, self.transactions)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("file", "table"))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = Views()
