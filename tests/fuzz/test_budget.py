"""The fixed budget of every campaign: the same seeds each time, so that a failure is a change and not luck."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.budget import PARTS, seeds
from tests.fuzz.campaign import Tally
from tests.fuzz.roster import CAMPAIGNS, campaign, is_written

WRITTEN = [name for name in CAMPAIGNS if is_written(name)]
ON_SPARK = [name for name in WRITTEN if campaign(name).needs_spark]
IN_PROCESS = [name for name in WRITTEN if name not in ON_SPARK]


def run(name: str, part: int) -> None:
    tally = Tally()
    for seed in seeds(name, part):
        campaign(name).run(seed, tally)
    compared = tally.transactions + tally.views + tally.faults + sum(tally.cells.values())
    assert compared > 0, f"{name} compared nothing"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", IN_PROCESS)
def test_in_process(name: str, part: int) -> None:
    run(name, part)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", ON_SPARK)
def test_on_spark(name: str, part: int, spark: Any) -> None:
    run(name, part)
