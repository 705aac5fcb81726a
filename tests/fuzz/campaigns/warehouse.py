"""Random schemas, views, policies and batches on a warehouse, compared with DuckDB and with Spark's own SQL after every batch.

Views are recomputed (`full`), moved (`incremental`) or either (`auto`), by the driver, by tasks and by Spark in turn; some hold constants that
quoting and settings could change, written in a random spelling. Some warehouses are opened again on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.random_constants import constants_view
from tests.fuzz.shortening import fails_like, shortened
from tests.fuzz.warehouse_histories import Step, follow, script
from tests.laws.chooser import Seeded
from tests.laws.queries import query
from tests.laws.world import World

POLICIES = ("full", "incremental", "auto")
STRATEGIES = ("driver", "auto", "tasks", "driver", "spark", "driver", "tasks", "auto", "driver")


def history(seed: int, transactions: int) -> list[Step]:
    c = Seeded(90_000 + seed)
    world = World(c)
    steps: list[Step] = [("table", t.name, t.create()) for t in world.tables]
    texts = [*world.views, ("v0", world.query), ("v1", query(c, world.tables, 1))]
    for i, (name, text) in enumerate(texts):
        steps.append(("view", name, text, POLICIES[(seed + i) % 3], {}))
    table = c.pick(world.tables)
    text, constants = constants_view(c, table.name, table.columns[0][0])
    steps.append(("view", "constants", text, POLICIES[(seed + 1) % 3], constants))
    steps.append(("change", "driver", world.first))
    for i in range(transactions - 1):
        if c.chance(10):
            steps.append(("reopen",))
        steps.append(("change", STRATEGIES[(seed + i) % len(STRATEGIES)], world.next(8)))
    return steps


@dataclass(frozen=True)
class OnWarehouse:
    name: str = "warehouse"
    needs_spark: bool = True
    transactions: int = 24

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed, self.transactions)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("table",))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = OnWarehouse()
