"""Random views over random tables under random batches, against Spark's own SQL on the same data.

Several views of one random world live in one warehouse; after some transactions `verify` runs their texts by Spark itself
over the stored tables. EVERCURRENT_LONG=1 looks at many more worlds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.database import Warehouse
from tests.laws.chooser import Seeded
from tests.laws.queries import query
from tests.laws.world import World, perform

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LONG = bool(os.environ.get("EVERCURRENT_LONG"))
SEEDS = range(200 if LONG else 2)
VIEWS, TRANSACTIONS = 4, 2


@pytest.mark.parametrize("seed", SEEDS)
def test_views_are_what_sparks_sql_says(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    c = Seeded(7000 + seed)
    world = World(c)
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    for table in world.tables:
        db.execute(table.create())
    texts = [world.query, *(query(c, world.tables, 2) for _ in range(VIEWS - 1))]
    for name, text in world.views:
        db.execute(f"CREATE VIEW {name} AS {text}")
    made = 0
    for i, text in enumerate(texts):
        try:
            db.execute(f"CREATE VIEW v{i} AS {text}")
            made += 1
        except EvercurrentError:
            continue  # what is refused is another test's matter
    assert made >= VIEWS // 2
    perform(db, world.first)  # type: ignore[arg-type]
    for i in range(TRANSACTIONS):
        # The last batch is run by Spark, over what the driver has kept.
        db._core.engine.strategy = "spark" if i == TRANSACTIONS - 1 else "driver"
        perform(db, world.next(10))  # type: ignore[arg-type]
    db._core.engine.strategy = "driver"
    judged = 0
    for view in db.views:
        try:
            report = db.verify([view])
        except AnalysisException:
            continue  # Spark does not accept the query
        assert not report.differing, f"{report}\n{world.story()}\n{texts}"
        judged += not any(v.skipped for v in report.views)
    assert judged >= VIEWS // 2, "Spark judged most of them"
