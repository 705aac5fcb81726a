"""Both databases: inside this process, and under a path (its driver applies batches of this size without Spark)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.statements.protocol import AnyDatabase
from evercurrent.warehouse.database import Warehouse


@pytest.fixture(params=["process", "path"])
def db(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AnyDatabase]:
    if request.param == "process":
        yield ec.connect()
    else:
        monkeypatch.setattr(engine, "private", lambda spark: None)
        yield Warehouse(None, tmp_path / "warehouse", progress=False)
