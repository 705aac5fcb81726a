"""A warehouse through Hadoop's own client, on the local file system that it has: every operation but the race."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark.storage.hadoop.disk import commit_of
from tests.spark.hadoop.exercise import look_at_files, use_a_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LOCAL = {"access": "session", "commit": "rename"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_operations_of_a_disk(spark: SparkSession, tmp_path: Path) -> None:
    look_at_files(spark, f"file://{tmp_path}/w", LOCAL)


def test_a_warehouse(spark: SparkSession, tmp_path: Path) -> None:
    use_a_warehouse(spark, f"file://{tmp_path}/w", LOCAL)


def test_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    def connect(path: str, **options: str) -> Any:
        return ec.connect(spark=spark, path=path, storage_options=options)

    with pytest.raises(ec.UnsupportedError, match="it is not known how a version can be committed on file"):
        connect(f"file://{tmp_path}/w", access="session")
    with pytest.raises(ec.QueryError, match="there is no access 'hadoop'"):
        connect("hdfs://127.0.0.1:1/w", access="hadoop")
    with pytest.raises(
        ec.QueryError, match="the option AWS_REGION is not for a warehouse that the session reaches"
    ):
        connect("hdfs://127.0.0.1:1/w", AWS_REGION="x")
    with pytest.raises(ec.StorageError, match="the file system of s3a://bucket/w cannot be opened"):
        connect("s3a://bucket/w", access="session")  # this session has no connector for it
    assert {s: commit_of(s, {}) for s in ("hdfs", "abfss", "gs", "s3a")} == {
        "hdfs": "rename",
        "abfss": "rename",
        "gs": "create",
        "s3a": "create",
    }
