"""Damaged files under jobs of Spark: files that executors scan are checked before the job."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrameWriter, SparkSession

from evercurrent.engine.spark.storage import segments
from evercurrent.errors import StorageError
from evercurrent.warehouse.database import Warehouse

pytestmark = pytest.mark.spark


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(bytes(content))


def test_scans_are_checked_and_full_disks_are_said(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_driver: None
) -> None:
    db = Warehouse(spark, tmp_path / "w", progress=False)
    db.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
    rows = spark.range(3_000).selectExpr(
        "CAST(id AS INT) AS a", "CAST(id % 7 AS INT) AS b", "'insert' AS _change_type"
    )
    db.apply({"t": rows})  # written by the executors
    folder = db._core.engine.folder
    (segment,) = db._core.table_segments("t").segments
    db.check(repair=True)  # executors do not know that files of this size have mapped copies here
    assert all(folder.digest_of(f) for f in segment.files) and db.check(), str(db.check())
    assert db.table("t").dataframe().count() == 3_000
    assert set(segment.files) <= set(folder.verified), "checked once, before the job"

    file = folder.root / segment.files[0]
    whole = file.read_bytes()
    flip(file)
    with pytest.raises(StorageError, match=f"{file.name} is damaged"):
        db.table("t").dataframe()
    monkeypatch.setattr(segments, "CHECKED_BYTES", 0)  # by the executors
    again = Warehouse(spark, tmp_path / "w", progress=False)
    with pytest.raises(StorageError, match=f"{file.name} is damaged"):
        again.table("t").dataframe()
    file.write_bytes(whole)
    assert again.table("t").dataframe().count() == 3_000

    def full(*_: object, **__: object) -> None:
        raise RuntimeError("java.io.IOException: No space left on device")

    version = db.version
    more = rows.selectExpr("a + 10000 AS a", "b", "_change_type")
    with monkeypatch.context() as patched:
        patched.setattr(DataFrameWriter, "parquet", full)
        context = db._core.engine.job_context(400_000)
        with pytest.raises(StorageError, match="the disk is full"):
            context.by_executors("t", more, None, 10.0)
    assert db.version == version
