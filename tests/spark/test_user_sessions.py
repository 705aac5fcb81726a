"""What users of a Spark session expect: frames of their own session, counts of jobs, errors of ours, sources that may change."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_frames_belong_to_the_session_of_the_user(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP); CREATE VIEW v AS SELECT id, at FROM t WHERE id > 1"
    )
    empty = db.view("v").dataframe()
    db.table("t").insert([(1, "1500-01-01 00:00:00"), (2, "1500-01-01 00:00:00")])
    frames = (empty, db.view("v").dataframe(), db.table("t").dataframe(), db.view("v").changes(since=0))
    assert {frame.sparkSession for frame in frames} == {spark}
    frames[1].createOrReplaceTempView("from_evercurrent")
    assert [r[0] for r in spark.sql("SELECT year(at) FROM from_evercurrent").collect()] == [1500]
    spark.catalog.dropTempView("from_evercurrent")


def test_jobs_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", strategy="spark")
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT); CREATE VIEW v AS SELECT k, count(*) AS n FROM t GROUP BY k"
    )
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    before = scheduler.numTotalJobs()
    run = db.apply({"t": [{"_change_type": "insert", "id": i, "k": i % 2} for i in range(9)]})
    assert run.jobs == scheduler.numTotalJobs() - before > 0
    spark.range(3).count()  # what others run is not counted
    db._core.engine.strategy = "driver"
    assert db.apply({"t": [{"_change_type": "insert", "id": 9, "k": 0}]}).jobs == 0


def test_another_key_of_a_source_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, pa.table({"id": [1, 2], "x": [1, 1]}))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.source("t", format="delta", path=lake, key=["ID"])
    for key, said in ((["x"], "with the key x"), ([], "with no key"), (["id", "x"], "with the key id, x")):
        with pytest.raises(
            ec.QueryError, match=f"the source t has the key id; it cannot be declared again {said}"
        ):
            db.source("t", format="delta", path=lake, key=key)


def test_columns_that_become_wider(spark: SparkSession, tmp_path: Path) -> None:
    """INT to BIGINT and DECIMAL(12,2) to DECIMAL(14,2): rows, keys and views follow; a narrower type is refused."""

    def rows(kind: Any, digits: int, *values: tuple[int, str]) -> pa.Table:
        amounts = pa.array([decimal.Decimal(v) for _, v in values], pa.decimal128(digits, 2))
        return pa.table({"id": pa.array([i for i, _ in values], kind), "amount": amounts})

    lake = str(tmp_path / "lake")
    write_deltalake(lake, rows(pa.int32(), 12, (1, "1.50"), (2, "2.25")))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.execute(
        "CREATE VIEW v AS SELECT id % 2 AS odd, sum(amount) AS s, max(id) AS most FROM t GROUP BY id % 2"
    )
    db.refresh()
    big = 2**40
    write_deltalake(
        lake,
        rows(pa.int64(), 14, (1, "1.50"), (2, "2.25"), (big, "999999999999.99")),
        mode="overwrite",
        schema_mode="overwrite",
    )
    run = db.refresh()
    assert "t: wider columns id BIGINT, amount DECIMAL(14,2)" in run.notes
    D = decimal.Decimal
    assert sorted(db.table("t").rows()) == [(1, D("1.50")), (2, D("2.25")), (big, D("999999999999.99"))]
    assert sorted(db.view("v").rows()) == [(0, D("1000000000002.24"), big), (1, D("1.50"), 1)]
    assert db.verify()
    DeltaTable(lake).delete("id = 2")
    db.refresh()
    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert sorted(again.table("t").rows()) == [(1, D("1.50")), (big, D("999999999999.99"))] and again.verify()
    write_deltalake(lake, rows(pa.int32(), 12, (1, "1.50")), mode="overwrite", schema_mode="overwrite")
    with pytest.raises(ec.QueryError, match=r"the column id of .* is INT now; it was BIGINT"):
        db.refresh()


def test_errors_of_spark_are_ours(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    frame = spark.range(3).select(
        F.raise_error(F.lit("not today")).cast("int").alias("id"), F.lit("insert").alias("_change_type")
    )
    with pytest.raises(ec.EvaluationError, match=r"Spark failed: .*not today"):
        db.apply({"t": frame})
    (tmp_path / "gone").mkdir()
    spark.range(3).withColumn("_change_type", F.lit("insert")).write.parquet(str(tmp_path / "gone" / "x"))
    missing = spark.read.parquet(str(tmp_path / "gone" / "x"))
    for file in (tmp_path / "gone" / "x").iterdir():
        file.unlink()
    with pytest.raises(ec.StorageError, match="Spark failed"):
        db.apply({"t": missing})
    assert len(db.table("t")) == 0


def test_views_that_were_not_compared_are_not_verified(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evercurrent.warehouse.integrity import verify

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, x DOUBLE, a ARRAY<DOUBLE>)")
    db.execute("CREATE VIEW plain AS SELECT id, x, a FROM t")
    db.oql("define odd as select distinct r.id from r in t where r.id > 3")
    db.table("t").insert([(i, 0.1 * i, [0.1 * i, float("nan"), None]) for i in range(30)])
    assert db.verify() and str(db.verify(["plain"])) == "plain: 30 rows, as recomputed"
    monkeypatch.setattr(verify, "MOST_ROWS", 10)
    report = db.verify()
    assert not report and not report.differing and [v.view for v in report.unverified] == ["odd"]
    assert (
        "odd: not verified: odd is not written in SQL; the driver evaluates queries over at most 10 rows"
        in str(report)
    )


def test_the_executors_find_what_differs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evercurrent.engine.spark.engine import Engine

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, x INT); CREATE VIEW v AS SELECT x % 2 AS k FROM t")
    db.table("t").insert([(i, i) for i in range(101)])
    frame = Engine.frame

    def damaged(engine: Engine, store: Any, types: Any, **more: Any) -> Any:
        found = frame(engine, store, types, **more)
        return found if len(types) > 1 else found.where("c0 = 1")

    monkeypatch.setattr(Engine, "rows", lambda *given: pytest.fail("the driver holds no rows of the view"))
    monkeypatch.setattr(Engine, "frame", damaged)
    (found,) = db.verify().views
    assert not found and found.counts == (51, 0) and found.missing == [(0,)]
