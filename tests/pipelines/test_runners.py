"""A small part of the campaign of `make test-pipelines`: Spark's own runner and ours, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.campaign.compare import compare_project
from tests.pipelines.campaign.spark_runner import SparkRunner

pytestmark = pytest.mark.spark


def test_both_runners_write_the_same_rows(spark: Any, tmp_path: Path) -> None:
    pytest.importorskip("grpc_status", reason="Spark's own runner needs grpcio-status")
    runner = SparkRunner(tmp_path / "runner")
    try:
        _, _, record = compare_project(spark, runner, tmp_path / "medallion", "medallion_sql", 2, 40)
    finally:
        runner.close()
        spark.sql("DROP DATABASE IF EXISTS medallion_sql CASCADE")
    assert {d.captured for d in record.datasets} == {"SQL"}
