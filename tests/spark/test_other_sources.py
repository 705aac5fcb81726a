"""Tables of the session's catalog, Iceberg, other file systems, and several streams."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from evercurrent.engine.spark.sources import reading, references
from tests.spark.test_sources import VIEW, per, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A database of the session's catalog."""
    spark.sql(f"CREATE DATABASE lake LOCATION '{tmp_path}/lake'")
    yield "lake"
    spark.sql("DROP DATABASE lake CASCADE")


def test_tables_of_the_sessions_catalog(spark: SparkSession, tmp_path: Path, database: str) -> None:
    spark.sql("CREATE TABLE lake.t (id BIGINT, k STRING, x INT) USING parquet PARTITIONED BY (k)")
    spark.sql("CREATE TABLE lake.j (id BIGINT, x INT) USING json")
    spark.sql("CREATE VIEW lake.v AS SELECT id, x * 2 AS y FROM lake.j")
    spark.sql("INSERT INTO lake.t (id, x, k) VALUES (1, 1, '01'), (2, 2, 'b')")
    spark.sql("INSERT INTO lake.j VALUES (1, 10)")
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", table="spark_catalog.lake.t", key=["id"])
    db.source("j", table="lake.j")
    db.source("v", table="lake.v")
    db.execute(VIEW)
    run = db.refresh()
    assert per(db) == [("01", 1, 1), ("b", 1, 2)] and "v: the table's content against all rows" in run.notes
    spark.sql("INSERT INTO lake.t (id, x, k) VALUES (3, 3, 'b')")
    spark.sql("INSERT INTO lake.j VALUES (2, 20)")
    run = db.refresh()
    assert "t: 1 new files" in run.notes and run.rows_in == {"t": 1, "j": 1, "v": 1}
    spark.sql("INSERT OVERWRITE lake.t PARTITION (k = 'b') SELECT 2, 7")
    run = db.refresh()
    assert per(db) == [("01", 1, 1), ("b", 1, 7)] and run.rows_in == {"t": 3}
    assert sorted(db.table("v").rows()) == [(1, 20), (2, 40)]
    version = db.version
    assert db.refresh().version == version, "nothing new, no version"
    spark.sql("ALTER TABLE lake.j ADD COLUMN z STRING")
    spark.sql("INSERT INTO lake.j VALUES (3, 30, 'z')")
    db.refresh()
    assert sorted(db.table("j").rows()) == [(1, 10, None), (2, 20, None), (3, 30, "z")]
    with pytest.raises(ec.QueryError, match="no table"):
        db.source("n", table="lake.nothing")
    with pytest.raises(ec.QueryError, match="a path or a table"):
        db.source("n", format="delta")
    with pytest.raises(ec.QueryError, match="no format"):
        db.source("n", format="csv", path="x")  # type: ignore[arg-type]


def test_an_iceberg_table(spark: SparkSession, tmp_path: Path) -> None:
    pyiceberg = pytest.importorskip("pyiceberg.catalog")
    options = {
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"file://{tmp_path}/ice",
    }
    catalog = pyiceberg.load_catalog("here", **options)
    catalog.create_namespace("lake")
    first = table([(1, "a", 1), (2, "a", 2), (3, "b", 3)])
    ice = catalog.create_table("lake.t", first.schema)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="iceberg", table="lake.t", options={"catalog": "here", **options}, key=["id"])
    db.execute(VIEW)
    db.refresh()
    assert per(db) == []
    ice.append(first)
    db.refresh()
    assert per(db) == [("a", 2, 3), ("b", 1, 3)]
    ice.delete("id = 1")
    ice.append(table([(4, "b", 4)]))
    run = db.refresh()
    assert run.rows_in == {"t": 2}, "rows that were only rewritten cancel"
    assert per(db) == [("a", 1, 2), ("b", 2, 7)] and "the files of snapshots" in str(run)
    with ice.update_schema() as update:
        from pyiceberg.types import StringType

        update.add_column("e", StringType())
    ice.append(table([(5, "c", 5)], e=["new"]))
    db.refresh()
    assert sorted(db.table("t").rows())[-1] == (5, "c", 5, "new") and db.verify()
    with ice.update_schema() as update:
        update.rename_column("e", "f")
    with pytest.raises(ec.QueryError, match="column e is no longer"):
        db.refresh()
    with ice.update_schema() as update:
        update.rename_column("f", "e")
    before = ice.current_snapshot()
    ice.overwrite(table([(9, "z", 9)], e=["x"]))
    ice.maintenance.expire_snapshots().by_id(before.snapshot_id).commit()
    with pytest.raises(ec.StorageError) as caught:
        db.refresh()
    assert "full=['t']" in str(caught.value)
    db.refresh(full=["t"])
    assert db.table("t").rows() == [(9, "z", 9, "x")]
    with pytest.raises(ec.QueryError, match="pyiceberg's own configuration"):
        db.source("u", format="iceberg", table="lake.t", options={"token": "x"})
    with pytest.raises(ec.StorageError, match="cannot be opened"):
        db.source("u", format="iceberg", path=tmp_path / "ice")


def test_a_folder_on_another_file_system(spark: SparkSession, tmp_path: Path) -> None:
    """viewfs is one of Hadoop's own: what works there needs nothing but Hadoop's interface."""
    lake = tmp_path / "lake"
    lake.mkdir()
    conf: Any = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    conf.set("fs.viewfs.mounttable.mounted.link./lake", lake.as_uri())
    pyarrow.parquet.write_table(table([(1, "a", 1)]), lake / "1.parquet")
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="parquet", path="viewfs://mounted/lake")
    db.execute(VIEW)
    db.refresh()
    pyarrow.parquet.write_table(table([(2, "a", 2)]), lake / "2.parquet")
    assert "t: 1 new files" in db.refresh().notes and per(db) == [("a", 2, 3)]
    (lake / "1.parquet").unlink()
    db.refresh()
    assert per(db) == [("a", 1, 2)]
    for format in ("parquet", "delta"):
        with pytest.raises(ec.StorageError, match="connector"):
            db.source("u", format=format, path="gopher://bucket/t")
    with pytest.raises(ec.UnsupportedError, match="not read by its path"):
        db.source("u", format="iceberg", path="hdfs://host/t")


@pytest.mark.parametrize("bytes_held", [-1, 1 << 30])
def test_a_delta_table_on_another_file_system(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_held: int
) -> None:
    """By reference, through Hadoop's interface: its log by the driver, its files by the driver and by Spark."""
    monkeypatch.setattr(reading, "DRIVER_BYTES", bytes_held)
    monkeypatch.setattr(references, "HELD_BYTES", bytes_held)
    lake = tmp_path / "lake"
    lake.mkdir()
    conf: Any = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    mount = f"mounted{abs(bytes_held)}"
    conf.set(f"fs.viewfs.mounttable.{mount}.link./lake", lake.as_uri())
    partitions = ["k"]
    write_deltalake(lake / "t", table([(1, "a b", 1), (2, "b", 2)]), partition_by=partitions)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    with pytest.raises(ec.StorageError, match="is not a Delta table"):
        db.source("u", format="delta", path=f"viewfs://{mount}/lake/none")
    db.source("t", format="delta", path=f"viewfs://{mount}/lake/t", key=["id"])
    db.refresh()
    db.execute(VIEW)
    assert per(db) == [("a b", 1, 1), ("b", 1, 2)]
    write_deltalake(lake / "t", table([(3, "b", 3)]), mode="append", partition_by=partitions)
    DeltaTable(lake / "t").delete("id = 1")
    run = db.refresh()
    assert per(db) == [("b", 2, 5)] and run.rows_in == {"t": 2}
    assert sorted(db.table("t").rows()) == [(2, "b", 2), (3, "b", 3)] and db.verify()
    assert not any(s.files for s in db._core.present.table_rows("t").segments)


def test_a_file_that_is_rewritten_in_place_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    pyarrow.parquet.write_table(table([(1, "a", 1)]), lake / "1.parquet")
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="parquet", path=lake)
    db.refresh()
    status = (lake / "1.parquet").stat()
    pyarrow.parquet.write_table(table([(1, "b", 1)]), tmp_path / "new")
    os.utime(tmp_path / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (tmp_path / "new").stat().st_size == status.st_size, "as long, and as old"
    os.replace(tmp_path / "new", lake / "1.parquet")
    db.refresh()
    assert db.table("t").rows() == [(1, "b", 1)]
    pyarrow.parquet.write_table(table([(2, "c", 2)], e=["new"]), lake / "2.parquet")
    db.refresh()
    assert sorted(db.table("t").rows()) == [(1, "b", 1, None), (2, "c", 2, "new")]
    pyarrow.parquet.write_table(table([(3, "c", 2)]).set_column(2, "x", [["two"]]), lake / "3.parquet")
    with pytest.raises((ec.QueryError, ec.StorageError), match=r"x|columns"):
        db.refresh()
    assert len(db.table("t")) == 2
