"""A small budget of kills; `make test-postgres` runs more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres.campaign import run
from tests.postgres.cluster import Cluster

pytestmark = pytest.mark.postgres


def test_whoever_is_killed_each_change_counts_once(server: Cluster, tmp_path: Path) -> None:
    tally = run(server, tmp_path / "shop.db", kills=4, server_kills=2, seed=5)
    assert (tally.writer_kills, tally.server_kills) == (6, 2)
    assert tally.transactions > 6
