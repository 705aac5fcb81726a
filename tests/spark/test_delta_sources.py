"""Delta tables that others write: change feeds, files, columns that come and go, histories that are gone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse
from tests.spark.test_sources import VIEW, per, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEED = {"delta.enableChangeDataFeed": "true"}


def agrees(db: Warehouse, lake: str, name: str = "t") -> bool:
    """Whether the table is what another reader says of the source."""
    theirs = DeltaTable(lake).to_pyarrow_table().to_pylist()
    names = [c.name for c in db._core.table(name).columns]
    return sorted(db.table(name).rows(), key=repr) == sorted(
        (tuple(r[n] for n in names) for r in theirs), key=repr
    )


def test_a_change_feed(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(i, "abc"[i % 3], i) for i in range(300)]), configuration=FEED)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.execute(VIEW)
    db.refresh()
    DeltaTable(lake).update({"x": "x + 1000"}, predicate="id = 7")
    run = db.refresh()
    assert "t: the change feed of versions 1 to 1" in run.notes and run.rows_in == {"t": 2}
    write_deltalake(lake, table([(1000, "a", 5)]), mode="append")
    DeltaTable(lake).delete("id < 3")
    DeltaTable(lake).optimize.compact()
    DeltaTable(lake).merge(
        table([(4, "z", 4), (2000, "z", 1)]), "s.id = t.id", source_alias="s", target_alias="t"
    ).when_matched_update_all().when_not_matched_insert_all().execute()
    run = db.refresh()
    assert run.rows_in == {"t": 7} and "feed" in str(run), "an insert, three deletes, a merge of three"
    assert agrees(db, lake) and db.verify()
    write_deltalake(lake, table([(1, "q", 1)]), mode="overwrite")
    db.refresh()
    assert agrees(db, lake) and per(db) == [("q", 1, 1)]
    write_deltalake(lake, table([(2, "q", 2)]), mode="append")
    db.refresh()
    # The files of the feed are gone: the files of the two versions tell as well.
    DeltaTable(lake).update({"x": "9"}, predicate="id = 1")
    shutil.rmtree(tmp_path / "lake" / "_change_data")
    run = db.refresh()
    assert "gap" in str(run) and agrees(db, lake)


def test_partitions_are_what_the_log_says(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "a lake")
    values = ["01", "1", "a b", "x/y%z", "{q}[*]?", None]
    write_deltalake(lake, pyarrow.table({"id": range(6), "k": values}), partition_by=["k"])
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake)
    db.refresh()
    assert agrees(db, lake)
    DeltaTable(lake).delete("k = '01'")
    db.refresh()
    assert agrees(db, lake)


def test_columns_that_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1), (2, "b", 2)]))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.execute(VIEW)
    db.execute("CREATE VIEW everything AS SELECT * FROM t WHERE x > 1")
    db.refresh()
    write_deltalake(lake, table([(3, "b", 5)], e=["new"]), mode="append", schema_mode="merge")
    DeltaTable(lake).delete("id = 2")
    run = db.refresh()
    assert "t: new columns e" in run.notes
    assert agrees(db, lake) and per(db) == [("a", 1, 1), ("b", 1, 5)]
    assert db.view("everything").rows() == [(3, "b", 5, "new")], "views over all columns follow"
    db.execute("CREATE VIEW new_ones AS SELECT e, count(*) AS n FROM t GROUP BY e")
    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert sorted(again.view("new_ones").rows(), key=repr) == [("new", 1), (None, 1)] and again.verify()
    assert again.refresh().version == again.version == db.version
    version = again.version
    for changed, said in (
        (table([(9, "a", 9)]).drop_columns(["x"]), "column x is no longer"),
        (table([(9, "a", 9)]).set_column(2, "x", [["nine"]]), "column x .* is STRING now; it was INT"),
    ):
        write_deltalake(lake, changed, mode="overwrite", schema_mode="overwrite")
        with pytest.raises(ec.QueryError, match=said) as caught:
            again.refresh()
        assert "declare the source" in str(caught.value) and again.version == version


def test_a_table_that_is_made_anew_is_compared(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1), (2, "b", 2)]))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake)
    db.refresh()
    shutil.rmtree(lake)
    write_deltalake(lake, table([(2, "b", 2), (3, "c", 3)]))
    run = db.refresh()
    assert "created again" in str(run) and run.rows_in == {"t": 2} and agrees(db, lake)


@pytest.mark.parametrize("what", ["files", "log"])
def test_a_history_that_is_gone(spark: SparkSession, tmp_path: Path, what: str) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, table([(1, "a", 1)]), configuration=FEED)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake)
    db.execute(VIEW)
    db.refresh()
    write_deltalake(lake, table([(2, "b", 2)]), mode="overwrite")
    if what == "files":
        DeltaTable(lake).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        for file in (tmp_path / "lake").glob("_change_data/*"):
            file.unlink()
    else:
        write_deltalake(lake, table([(3, "b", 2)]), mode="append")
        DeltaTable(lake).create_checkpoint()
        for number in (0, 1):
            (tmp_path / "lake" / "_delta_log" / f"{number:020}.json").unlink()
    with pytest.raises(ec.StorageError) as caught:
        db.refresh()
    assert "refresh(full=['t'])" in str(caught.value) and per(db) == [("a", 1, 1)]
    run: Any = db.refresh(full=["t"])
    assert agrees(db, lake) and "all files against all rows" in str(run)
