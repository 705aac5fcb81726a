"""Random plans over durable states, run by Spark itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evercurrent.engine.spark.frames import Workshop
from evercurrent.engine.spark.run import Outcome, Run
from evercurrent.engine.spark.session import private, tune
from tests.unit.engine.spark.following import follow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("large", [False, True])
def test_states_follow_random_plans(spark: SparkSession, tmp_path: Path, seed: int, large: bool) -> None:
    session = private(spark)

    def execute(program, folder, stores, segments, beginning) -> Outcome:  # type: ignore[no-untyped-def]
        tune(session, large, partitions=2)
        return Run(program, Workshop(session, folder, large), stores, beginning=beginning).execute(segments)

    follow(tmp_path, seed + 100 * large, 3, execute)
