"""Tables of a catalog of Iceberg's own runtime on Spark, read by reference through the session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "CREATE VIEW per AS SELECT g, count(*) AS n, sum(x) AS s, max(id) AS m FROM t GROUP BY g"


def agrees(session: SparkSession, db: Warehouse, name: str) -> None:
    """What we read is what Iceberg's reader reads; so is what is kept current from it; and nothing is copied."""
    theirs = session.table(name).select(*(c.name for c in db._core.table("t").columns)).collect()
    assert sorted(db.table("t").rows(), key=repr) == sorted((tuple(r) for r in theirs), key=repr)
    per = session.sql(VIEW.split(" AS ", 1)[1].replace("FROM t", f"FROM {name}")).collect()
    assert sorted(db.view("per").rows(), key=repr) == sorted((tuple(r) for r in per), key=repr)
    assert not any(s.files for s in db._core.present.table_rows("t").segments)
    assert db.verify()


TABLES = {
    "rewritten": ("", "'format-version'='2'"),
    "partitioned": ("PARTITIONED BY (bucket(4, id))", "'format-version'='2'"),
    "marked": (
        "",
        "'format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', "
        "'write.merge.mode'='merge-on-read'",
    ),
    "vectors": (
        "",
        "'format-version'='3', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', "
        "'write.merge.mode'='merge-on-read'",
    ),
    "orc": ("", "'format-version'='2', 'write.format.default'='orc'"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_its_catalog(engine: SparkSession, tmp_path: Path, kind: str) -> None:
    name, (partitioned, properties) = f"ice.db.{kind}", TABLES[kind]
    engine.sql(
        f"CREATE TABLE {name} (id BIGINT, g STRING, x INT, at TIMESTAMP) USING iceberg {partitioned} "
        f"TBLPROPERTIES ({properties})"
    )
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", table=name, key=["id"])
    db.execute(VIEW)
    db.refresh()  # it has no snapshot yet
    assert db.table("t").rows() == []
    engine.sql(
        f"INSERT INTO {name} SELECT id, concat('g', id % 3), CAST(id % 10 AS INT), NULL FROM range(100)"
    )
    assert "by reference" in str(db.refresh().notes)
    agrees(engine, db, name)
    first, rows = db.version, sorted(db.table("t").rows())
    engine.sql(f"INSERT INTO {name} VALUES (200, 'g9', 5, NULL)")
    run = db.refresh()
    assert "change feed" in str(run.notes) and run.rows_in == {"t": 1}
    engine.sql(f"DELETE FROM {name} WHERE id % 11 = 3")
    engine.sql(f"UPDATE {name} SET x = x + 100 WHERE id % 13 = 1")
    run = db.refresh()
    marked = kind in ("marked", "vectors")
    assert ("the rows of" in str(run.notes)) == marked, "its feed does not tell of delete files"
    agrees(engine, db, name)
    assert sorted(tuple(r) for r in db.table("t").dataframe(version=first).collect()) == rows
    engine.sql(
        f"CALL ice.system.rewrite_data_files(table => 'db.{kind}', options => map('min-input-files','1'))"
    )
    engine.sql(
        f"MERGE INTO {name} t USING (SELECT id FROM range(90, 120)) m ON t.id = m.id "
        "WHEN MATCHED AND m.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET x = 7 "
        "WHEN NOT MATCHED THEN INSERT (id, g, x, at) VALUES (m.id, 'new', 1, NULL)"
    )
    db.refresh()
    agrees(engine, db, name)
    version = db.version
    assert db.refresh().version == version, "nothing new, no version"


def test_columns_that_change(engine: SparkSession, tmp_path: Path) -> None:
    """Added, wider, and replaced by another one of the same name."""
    name = "ice.db.columns"
    engine.sql(f"CREATE TABLE {name} (id BIGINT, g STRING, x INT, y INT) USING iceberg")
    engine.sql(f"INSERT INTO {name} VALUES (1, 'a', 1, 10), (2, 'b', 2, 20)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", table=name)
    db.execute(VIEW)
    db.refresh()
    engine.sql(f"ALTER TABLE {name} ADD COLUMN more STRING")
    db.refresh()
    assert db.table("t").schema[-1].name == "more"
    agrees(engine, db, name)
    engine.sql(f"ALTER TABLE {name} ALTER COLUMN x TYPE BIGINT")
    engine.sql(f"INSERT INTO {name} VALUES (3, 'c', 5000000000, 30, 'z')")
    assert "wider columns" in str(db.refresh().notes)
    agrees(engine, db, name)
    engine.sql(f"ALTER TABLE {name} DROP COLUMN y")
    engine.sql(f"ALTER TABLE {name} ADD COLUMN y INT")
    engine.sql(f"INSERT INTO {name} VALUES (4, 'd', 4, 'z', 40)")
    assert "columns changed" in str(db.refresh().notes)
    agrees(engine, db, name)
    assert sorted(r[3] or 0 for r in db.table("t").rows()) == [0, 0, 0, 40]


def test_history_that_is_gone(engine: SparkSession, tmp_path: Path) -> None:
    name = "ice.db.expired"
    engine.sql(f"CREATE TABLE {name} (id BIGINT, g STRING, x INT) USING iceberg")
    engine.sql(f"INSERT INTO {name} VALUES (1, 'a', 1), (2, 'b', 2)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", table=name)
    db.execute(VIEW)
    db.refresh()
    rows = db.view("per").rows()
    engine.sql(f"INSERT OVERWRITE {name} VALUES (3, 'c', 3)")
    engine.sql(
        "CALL ice.system.expire_snapshots(table => 'db.expired', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    )
    with pytest.raises(ec.StorageError, match="cannot compare versions") as caught:
        db.refresh()
    assert "refresh(full=['t'])" in str(caught.value) and db.view("per").rows() == rows
    with pytest.raises(ec.StorageError, match="the session cannot read version"):
        db.table("t").rows()
    db.refresh(full=["t"])
    agrees(engine, db, name)
    engine.sql(f"DROP TABLE {name}")
    engine.sql(f"CREATE TABLE {name} (id BIGINT, g STRING, x INT) USING iceberg")
    engine.sql(f"INSERT INTO {name} VALUES (5, 'e', 5)")
    with pytest.raises(ec.StorageError, match="cannot compare versions"):
        db.refresh()
    db.refresh(full=["t"])
    agrees(engine, db, name)


def test_a_catalog_that_the_session_was_told_of_later(engine: SparkSession, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "spark.sql.catalog.late": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.late.type": "hadoop",
        "spark.sql.catalog.late.warehouse": str(tmp_path / "late"),
    }
    for key, value in settings.items():
        engine.conf.set(key, value)
    engine.sql("CREATE TABLE late.db.t (id BIGINT, g STRING, x INT) USING iceberg")
    engine.sql("INSERT INTO late.db.t VALUES (1, 'a', 1)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    engine.sql("USE late.db")
    try:
        db.source("t", table="t")
        db.execute(VIEW)
        db.refresh()
    finally:
        engine.sql("USE spark_catalog.default")
    agrees(engine, db, "late.db.t")
