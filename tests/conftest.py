"""Fixtures that all tests share: a small Spark session, DuckDB, and the options of golden files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.duck import Duck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Every plan is checked after every rule of the optimiser.
os.environ.setdefault("EVERCURRENT_CHECK_PLANS", "1")

# Laws run with few examples in `make test`; EVERCURRENT_LAWS=long looks much longer, with fresh seeds.
calm = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("ci", max_examples=40, deadline=None, derandomize=True, suppress_health_check=calm)
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=calm)
settings.load_profile(os.environ.get("EVERCURRENT_LAWS", "ci"))


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


ROOT = Path(__file__).resolve().parent
THOROUGH = (
    "laws",
    "conformance/test_conformance.py",
    "oql/test_conformance.py",
    "oql/test_random.py",
    "unit/delta/test_derive.py",
    "unit/algebra/test_random.py",
    "unit/calculus/test_against_duckdb.py",
)
"""Suites that try many cases: part of `make test`, left out of `make test-fast`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(ROOT) and item.path.relative_to(ROOT).as_posix().startswith(THOROUGH):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for all tests: two threads, ANSI mode, two shuffle partitions, UTC."""
    from tests.spark_session import small_session

    session = small_session("evercurrent-tests")
    yield session
    session.stop()


@pytest.fixture
def small_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that leaves batches of more than 1,000 rows to the executors, and to whose mind 10,000 bytes are a large file."""
    for module in (
        "engine.spark.engine",
        "engine.spark.intake.frames",
        "warehouse.changes.apply",
    ):
        monkeypatch.setattr(f"evercurrent.{module}.SMALL_ROWS", 1_000)
    monkeypatch.setattr("evercurrent.engine.spark.storage.files.SMALL_FILE", 10_000)


@pytest.fixture
def duck() -> Iterator[Duck]:
    """An empty DuckDB that speaks Spark's SQL."""
    connection = Duck()
    yield connection
    connection.close()
