"""Tables written by Delta's own engine on Spark, read by reference; and published views, read by it."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark.sources import reading, references
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

delta = pytest.importorskip(
    "delta", reason="delta-spark is not installed: make test-delta", exc_type=ImportError
)

VIEW = "CREATE VIEW per AS SELECT g, count(*) AS n, sum(x) AS s, max(id) AS m FROM t GROUP BY g"


@pytest.fixture(scope="module")
def engine() -> Iterator[SparkSession]:
    """A session with Delta's own engine; skips where its jars cannot be had."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config(
            "spark.jars.excludes", "com.google.code.findbugs:jsr305"
        )  # annotations: some caches lack the jar
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
    )
    try:
        session = delta.configure_spark_with_delta_pip(builder).getOrCreate()
    except Exception as problem:
        pytest.skip(f"the jars of Delta cannot be had from Maven: {str(problem).splitlines()[0]}")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(params=["driver", "spark"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "spark":
        monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
        monkeypatch.setattr(references, "HELD_BYTES", -1)
    return str(request.param)


TABLES = {
    "vectors": ("", "'delta.enableDeletionVectors'='true'"),
    "mapped": (
        "",
        "'delta.enableDeletionVectors'='true', 'delta.columnMapping.mode'='name', 'delta.enableRowTracking'='true'",
    ),
    "by_id": ("", "'delta.enableDeletionVectors'='true', 'delta.columnMapping.mode'='id'"),
    "feed": (
        "",
        "'delta.enableDeletionVectors'='true', 'delta.enableChangeDataFeed'='true', 'delta.columnMapping.mode'='name'",
    ),
    "partitioned": (
        "PARTITIONED BY (g)",
        "'delta.enableDeletionVectors'='true', 'delta.enableChangeDataFeed'='true', 'delta.checkpointInterval'='3'",
    ),
    "rewritten": (
        "PARTITIONED BY (g)",
        "'delta.enableDeletionVectors'='false', 'delta.enableChangeDataFeed'='true'",
    ),
    "checkpoints": (
        "",
        "'delta.enableDeletionVectors'='true', 'delta.checkpointPolicy'='v2', 'delta.checkpointInterval'='2'",
    ),
}


def with_zone(value: Any) -> Any:
    """Spark gives out timestamps in the zone of the process, without a name of it."""
    if not isinstance(value, datetime.datetime):
        return value
    return value.astimezone(datetime.UTC)


def agrees(session: SparkSession, db: Warehouse, path: str, view: bool = True) -> None:
    """What we read is what Delta's engine reads; so is what is kept current from it."""
    theirs: Any = session.read.format("delta").load(path)
    names = [c.name for c in db._core.table("t").columns]
    wanted = sorted((tuple(map(with_zone, r)) for r in theirs.select(*names).collect()), key=repr)
    assert sorted(db.table("t").rows(), key=repr) == wanted
    if view:
        theirs.createOrReplaceTempView("theirs")
        per = session.sql(VIEW.split(" AS ", 1)[1].replace("FROM t", "FROM theirs")).collect()
        assert sorted(db.view("per").rows(), key=repr) == sorted((tuple(r) for r in per), key=repr)


@pytest.mark.parametrize("kind", TABLES)
def test_what_its_engine_writes(engine: SparkSession, tmp_path: Path, kind: str, reader: str) -> None:
    path = str(tmp_path / "a lake")
    partitioned, properties = TABLES[kind]
    engine.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, g STRING, x INT, d DECIMAL(12,2), at TIMESTAMP, day DATE) "
        f"USING delta {partitioned} TBLPROPERTIES ({properties})"
    )

    def rows(first: int, last: int) -> Any:
        return engine.range(first, last).selectExpr(
            "id",
            "CASE WHEN id % 7 = 0 THEN NULL ELSE concat('g ', id % 3) END AS g",
            "CAST(id % 10 AS INT) AS x",
            "CAST(id AS DECIMAL(12,2)) AS d",
            "timestamp_seconds(id) AS at",
            "date_add(DATE'2024-01-01', CAST(id AS INT)) AS day",
        )

    rows(0, 200).coalesce(2).write.format("delta").mode("append").save(path)
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", format="delta", path=path, key=["id"])
    db.execute(VIEW)
    db.refresh()
    agrees(engine, db, path)
    engine.sql(f"DELETE FROM delta.`{path}` WHERE id % 11 = 3")
    engine.sql(f"UPDATE delta.`{path}` SET x = x + 100 WHERE id % 13 = 1")
    run = db.refresh()
    agrees(engine, db, path)
    rows(190, 230).createOrReplaceTempView("more")
    engine.sql(
        f"MERGE INTO delta.`{path}` t USING more m ON t.id = m.id WHEN MATCHED AND m.id % 2 = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET x = m.x + 7 WHEN NOT MATCHED THEN INSERT *"
    )
    engine.sql(f"OPTIMIZE delta.`{path}`")
    engine.sql(f"DELETE FROM delta.`{path}` WHERE id < 5")
    run = db.refresh()
    agrees(engine, db, path)
    if kind in ("feed", "partitioned", "rewritten"):
        assert "change feed" in str(run.notes)
    engine.sql(f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 1")
    db.refresh()
    agrees(engine, db, path)
    if kind in ("mapped", "by_id", "feed"):
        engine.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN more STRING")
        engine.sql(f"INSERT INTO delta.`{path}` SELECT 1000, 'z', 1, 1, NULL, NULL, 'new'")
        db.refresh()
        agrees(engine, db, path)
    assert db.verify()
    assert not any(s.files for s in db._core.present.table_rows("t").segments)


def test_types_that_become_wider(engine: SparkSession, tmp_path: Path, reader: str) -> None:
    path = str(tmp_path / "lake")
    engine.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, g STRING, x INT, d DECIMAL(10,2)) USING delta "
        "TBLPROPERTIES ('delta.enableTypeWidening'='true', 'delta.enableDeletionVectors'='true')"
    )
    engine.sql(f"INSERT INTO delta.`{path}` VALUES (1, 'a', 1, 1.5), (2, 'b', 2, 2.5), (3, 'a', 3, 3.5)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", format="delta", path=path)
    db.execute(VIEW)
    db.refresh()
    engine.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN x TYPE BIGINT")
    engine.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN d TYPE DECIMAL(14,2)")
    engine.sql(f"INSERT INTO delta.`{path}` VALUES (4, 'c', 5000000000, 99999999999.5)")
    engine.sql(f"DELETE FROM delta.`{path}` WHERE id = 2")
    run = db.refresh()
    assert "wider columns" in str(run.notes)
    agrees(engine, db, path)
    assert db.verify()


def test_a_vacuum_of_its_engine(engine: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    engine.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, g STRING, x INT) USING delta")
    engine.sql(f"INSERT INTO delta.`{path}` SELECT id, 'a', 1 FROM range(100)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", format="delta", path=path)
    db.execute(VIEW)
    db.refresh()
    engine.sql(f"INSERT OVERWRITE delta.`{path}` SELECT id, 'b', 2 FROM range(10)")
    engine.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    engine.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    with pytest.raises(ec.StorageError, match="vacuumed") as caught:
        db.refresh()
    assert "refresh(full=['t'])" in str(caught.value)
    db.refresh(full=["t"])
    agrees(engine, db, path)


def test_its_engine_reads_published_views(engine: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    engine.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, g STRING, x INT) USING delta")
    engine.sql(f"INSERT INTO delta.`{path}` SELECT id, concat('g', id % 3), CAST(id AS INT) FROM range(100)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", format="delta", path=path)
    db.execute(VIEW)
    for step in range(3):
        db.refresh()
        found = engine.read.format("delta").load(str(tmp_path / "w" / "views" / "per")).collect()
        assert sorted(tuple(r) for r in found) == sorted(db.view("per").rows())
        engine.sql(f"UPDATE delta.`{path}` SET x = x + {step + 1} WHERE id % 5 = {step}")


def test_its_engine_reads_the_change_feed_of_a_published_view(engine: SparkSession, tmp_path: Path) -> None:
    """Each version of the feed is the net change of the view: added to the rows before it, it is the rows after it."""
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, g STRING, x INT)")
    db.execute(VIEW)
    place = str(tmp_path / "w" / "views" / "per")
    db.table("t").insert([(i, f"g{i % 3}", i) for i in range(30)])
    first = int(delta.DeltaTable.forPath(engine, place).history(1).collect()[0]["version"])
    before = Counter(db.view("per").rows())
    known = {first: before}
    for change in (
        "UPDATE t SET x = x + 1 WHERE id = 4",  # one row of the view
        "DELETE FROM t WHERE g = 'g2'",  # a row leaves
        "INSERT INTO t VALUES (100, 'g7', 1), (101, 'g0', 2)",  # one comes, one changes
    ):
        db.execute(change)
        known[len(known) + first] = Counter(db.view("per").rows())
    feed = (
        engine.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", first + 1)
        .load(place)
        .select("g", "n", "s", "m", "_change_type", "_commit_version")
        .collect()
    )
    assert {r["_commit_version"] for r in feed} == set(known) - {first}
    for version in sorted(known)[1:]:
        own = [r for r in feed if r["_commit_version"] == version]
        gone = Counter(tuple(r)[:4] for r in own if r["_change_type"] in ("delete", "update_preimage"))
        come = Counter(tuple(r)[:4] for r in own if r["_change_type"] in ("insert", "update_postimage"))
        assert not gone - known[version - 1], "what leaves was there"
        assert known[version - 1] - gone + come == known[version]
    kinds = [sorted(r["_change_type"] for r in feed if r["_commit_version"] == v) for v in sorted(known)[1:]]
    update = ["update_postimage", "update_preimage"]
    assert kinds == [update, ["delete"], ["insert", *update]]


def has_no_copy(db: Warehouse) -> bool:
    return not any(s.files for s in db._core.present.table_rows("t").segments)


@pytest.mark.parametrize("feed", ["true", "false"])
@pytest.mark.parametrize("named", [False, True])
def test_a_feature_that_only_its_engine_knows(
    engine: SparkSession, tmp_path: Path, feed: str, named: bool
) -> None:
    """A table with a VARIANT, read by reference through the session: by its path, and by its name."""
    path = str(tmp_path / "a lake")
    address = "only_theirs" if named else f"delta.`{path}`"
    engine.sql(f"DROP TABLE IF EXISTS {address}")
    engine.sql(
        f"CREATE TABLE {address} (id BIGINT, g STRING, x INT, v VARIANT) USING delta LOCATION '{path}' "
        f"TBLPROPERTIES ('delta.enableChangeDataFeed'='{feed}')"
    )
    engine.sql(
        f"INSERT INTO {address} SELECT id, concat('g', id % 3), CAST(id AS INT), "
        "parse_json(concat('{\"n\": ', id, '}')) FROM range(50)"
    )
    db = ec.connect(spark=engine, path=tmp_path / "w")
    place: dict[str, Any] = {"table": address} if named else {"format": "delta", "path": path}
    db.source("t", key=["id"], **place)
    db.execute(VIEW)
    db.execute("CREATE VIEW texts AS SELECT id, v FROM t WHERE x < 3")

    def same() -> None:
        theirs = engine.sql(f"SELECT id, g, x, to_json(v) FROM {address}").collect()
        assert sorted(db.table("t").rows()) == sorted(tuple(r) for r in theirs)
        per = engine.sql(VIEW.split(" AS ", 1)[1].replace("FROM t", f"FROM {address}")).collect()
        assert sorted(db.view("per").rows()) == sorted(tuple(r) for r in per)
        texts = engine.sql(f"SELECT id, to_json(v) FROM {address} WHERE x < 3").collect()
        assert sorted(db.view("texts").rows()) == sorted(tuple(r) for r in texts)
        assert db.verify() and has_no_copy(db)

    db.refresh()
    same()
    first, rows = db.version, sorted(db.table("t").rows())
    engine.sql(f"DELETE FROM {address} WHERE id = 2")
    engine.sql(f"UPDATE {address} SET v = parse_json('[1]') WHERE id IN (0, 7)")
    run = db.refresh()
    assert ("change feed of 1 to 3" in str(run.notes)) == (feed == "true") and run.rows_in == {"t": 5}
    same()
    assert sorted(tuple(r) for r in db.table("t").dataframe(version=first).collect()) == rows
    engine.sql(f"ALTER TABLE {address} ADD COLUMN more STRING")
    engine.sql(f"INSERT INTO {address} VALUES (100, 'g9', 1, NULL, 'new')")
    engine.sql(f"OPTIMIZE {address}")
    run = db.refresh()
    assert "new columns more" in str(run.notes)
    assert [r for r in db.table("t").rows() if r[4]] == [(100, "g9", 1, None, "new")]
    assert db.verify() and has_no_copy(db)
    version = db.version
    assert db.refresh().version == version, "nothing new, no version"
    engine.sql(f"INSERT OVERWRITE {address} SELECT 1, 'z', 1, NULL, NULL")
    engine.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    if feed == "false":  # the files of the version before are gone, and nothing else tells what has changed
        engine.sql(f"VACUUM {address} RETAIN 0 HOURS")
        with pytest.raises(ec.StorageError, match="cannot compare versions"):
            db.refresh()
        db.refresh(full=["t"])
    else:
        db.refresh()
    assert db.table("t").rows() == [(1, "z", 1, None, None)] and db.view("per").rows() == [("z", 1, 1, 1)]
    engine.sql(f"DROP TABLE {address}") if named else None


def test_a_table_that_is_created_again_by_its_engine(engine: SparkSession, tmp_path: Path) -> None:
    engine.sql("CREATE OR REPLACE TABLE again (id BIGINT, g STRING, x INT, v VARIANT) USING delta")
    engine.sql("INSERT INTO again VALUES (1, 'a', 1, NULL), (2, 'b', 2, NULL)")
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", table="again")
    db.execute(VIEW)
    db.refresh()
    engine.sql("DROP TABLE again")
    engine.sql("CREATE TABLE again (id BIGINT, g STRING, x INT, v VARIANT) USING delta")
    engine.sql("INSERT INTO again VALUES (2, 'b', 2, NULL), (3, 'b', 3, NULL)")
    with pytest.raises(ec.StorageError, match="was created again"):
        db.table("t").rows()
    db.refresh()
    assert db.view("per").rows() == [("b", 2, 5, 3)] and has_no_copy(db) and db.verify()
    engine.sql("DROP TABLE again")


def test_what_is_no_table(tmp_path: Path, engine: SparkSession) -> None:
    db = ec.connect(spark=engine, path=tmp_path / "w")
    with pytest.raises(ec.StorageError, match="is not a Delta table"):
        db.source("u", format="delta", path=str(tmp_path / "none"))
    with pytest.raises(ec.QueryError, match="no name of a table"):
        db.source("u", table="x; DROP TABLE y")
