"""Tables that others write: Delta tables and folders of Parquet, taken in by refresh."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from evercurrent.cli.main import main
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VIEW = "CREATE VIEW per AS SELECT k, count(*) AS n, sum(x) AS s FROM t GROUP BY k"


def table(rows: list[tuple[int, str, int]], **more: list[Any]) -> pyarrow.Table:
    columns: dict[str, Any] = {
        "id": pyarrow.array([r[0] for r in rows], pyarrow.int64()),
        "k": [r[1] for r in rows],
        "x": pyarrow.array([r[2] for r in rows], pyarrow.int32()),
    }
    return pyarrow.table({**columns, **more})


def per(db: Warehouse) -> list[Any]:
    return sorted(db.view("per").rows())


def test_a_delta_table_that_others_change(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1), (2, "a", 2), (3, "b", 3)]))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.execute(VIEW)
    run = db.refresh()
    assert run.rows_in == {"t": 3} and per(db) == [("a", 2, 3), ("b", 1, 3)]
    assert db.refresh().version == run.version, "nothing new, no version"
    write_deltalake(lake, table([(4, "b", 4)]), mode="append")
    DeltaTable(lake).update({"x": "x + 10"}, predicate="id = 1")
    DeltaTable(lake).delete("id = 3")
    assert db.refresh().rows_in == {"t": 4}
    assert per(db) == [("a", 2, 13), ("b", 1, 4)]
    DeltaTable(lake).optimize.compact()
    db.refresh()
    assert per(db) == [("a", 2, 13), ("b", 1, 4)], "rows that were only rewritten cancel"
    write_deltalake(lake, table([(5, "b", 5)], extra=["new"]), mode="append", schema_mode="merge")
    db.refresh()
    assert per(db) == [("a", 2, 13), ("b", 2, 9)], "known columns keep working"
    assert sorted(db.table("t").rows())[-1] == (5, "b", 5, "new"), "and a new one is added"
    with pytest.raises(ec.QueryError, match="others write it"):
        db.table("t").insert((9, "a", 1, None))
    reopened = ec.connect(spark=spark, path=tmp_path / "w")
    assert reopened.refresh().version == db.version and per(reopened) == per(db)


def test_a_history_that_is_gone_is_an_error_with_a_way_out(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1)]))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake)
    db.execute(VIEW)
    db.refresh()
    write_deltalake(lake, table([(2, "b", 2)]), mode="overwrite")
    DeltaTable(lake).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(ec.StorageError, match="vacuumed") as caught:
        db.refresh()
    assert "full=" in str(caught.value) and per(db) == [("a", 1, 1)]
    db.refresh(full=["t"])
    assert per(db) == [("b", 1, 2)]


def test_a_key_that_does_not_hold_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1), (1, "b", 2)]))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    with pytest.raises(ec.ConstraintError):
        db.refresh()
    assert not db.table("t").rows()


def test_a_folder_of_parquet(spark: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    pyarrow.parquet.write_table(table([(1, "a", 1), (2, "b", 2)]), lake / "1.parquet")
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="parquet", path=lake)
    db.execute(VIEW)
    db.refresh()
    pyarrow.parquet.write_table(table([(3, "a", 5)]), lake / "2.parquet")
    db.refresh()
    assert per(db) == [("a", 2, 6), ("b", 1, 2)]
    (lake / "1.parquet").unlink()
    db.refresh()
    assert per(db) == [("a", 1, 5)]
    pyarrow.parquet.write_table(table([(3, "c", 7)]), lake / "2.parquet")
    db.refresh()
    assert per(db) == [("c", 1, 7)]
    with pytest.raises(ec.StorageError):
        db.source("u", format="parquet", path=tmp_path / "nowhere")


def test_streams_count_every_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, k STRING, x INT)")
    db.execute("CREATE TABLE u (id BIGINT, k STRING, x INT)")
    db.execute(VIEW)
    frames = {}
    for name in ("t", "u"):
        (tmp_path / name).mkdir()
        frames[name] = spark.readStream.schema("id BIGINT, k STRING, x INT").parquet(str(tmp_path / name))
    place = tmp_path / "checkpoints"
    for number, row in enumerate([(1, "a", 1), (2, "a", 2)]):
        for name in ("t", "u"):
            pyarrow.parquet.write_table(table([row]), tmp_path / name / f"{number}.parquet")
        streams = db.stream(frames, checkpoint=place, once=True)
        streams.awaitTermination()
        assert not streams.exceptions() and not streams.isActive
    assert per(db) == [("a", 2, 3)] and len(db.table("u")) == 2
    # Spark forgets that it has finished the second batch, and sends it again, to a driver that has just been started.
    for file in place.glob("t-*/commits/*1*"):
        file.unlink()
    again = ec.connect(spark=spark, path=tmp_path / "w")
    again.stream(frames, checkpoint=place, once=True).awaitTermination()
    assert per(again) == [("a", 2, 3)] and again.version == db.version
    # A checkpoint that is made anew begins at number 0 again, and its batches are new all the same.
    shutil.rmtree(place)
    for name in ("t", "u"):
        for file in (tmp_path / name).iterdir():
            file.unlink()
    pyarrow.parquet.write_table(table([(9, "z", 9)]), tmp_path / "t" / "9.parquet")
    again.stream("t", frames["t"], checkpoint=place, once=True).awaitTermination()
    assert per(again) == [("a", 2, 3), ("z", 1, 9)]
    # Another driver was quicker: the batch is repeated on top of what it has done.
    assert db.version < again.version
    pyarrow.parquet.write_table(table([(10, "z", 1)]), tmp_path / "t" / "10.parquet")
    db.stream("t", frames["t"], checkpoint=place, once=True).awaitTermination()
    assert per(db) == [("a", 2, 3), ("z", 2, 10)]
    with pytest.raises(ec.QueryError, match="streaming"):
        db.stream("t", spark.range(3))


def test_a_pipeline_from_the_shell(
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # no heading of a table is folded
    write_deltalake(str(tmp_path / "lake"), table([(1, "a", 1), (2, "b", 2)]))
    pipeline = tmp_path / "pipeline.sql"
    pipeline.write_text(f"-- source: t delta lake key=id\n{VIEW};\n")
    options = ["--warehouse", str(tmp_path / "w"), "--master", "local[2]"]
    assert main(["run", str(pipeline), *options]) == 0
    said = capsys.readouterr().out
    assert "source t: declared" in said and "view per: created" in said and "rows changed" in said
    pipeline.write_text(f"-- source: t delta lake key=id\n{VIEW} HAVING count(*) > 0;\n")
    assert main(["run", str(pipeline), *options]) == 0
    assert "view per: replaced" in capsys.readouterr().out
    for command in ("refresh", "explain", "verify", "history", "compact"):
        assert main([command, *options]) == 0, command
    assert "as recomputed" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "lake")
    assert main(["refresh", *options]) == 1
    assert "error: " in capsys.readouterr().err
