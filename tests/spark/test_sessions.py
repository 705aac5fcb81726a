"""What others see of a session that a warehouse uses: nothing. And what a program sees of runs: records, logs, descriptions."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = """CREATE TABLE t (id BIGINT PRIMARY KEY, k INT);
CREATE VIEW v AS SELECT k, count(*) AS n FROM t GROUP BY k;
CREATE VIEW w AS SELECT k FROM v WHERE n > 1"""


def insert(i: int) -> dict[str, Any]:
    return {"_change_type": "insert", "id": i, "k": i % 2}


def test_the_session_of_the_user_is_left_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession as Sessions

    context = spark.sparkContext
    spark.createDataFrame([(1,)], "n int").collect()  # the active session is the user's
    settings = dict(spark.conf.getAll)
    context.setJobGroup("notebook", "the user's cell")
    try:
        heard: list[str | None] = []
        with ec.connect(
            spark=spark,
            path=tmp_path / "w",
            strategy="spark",
            progress=lambda _: heard.append(context.getLocalProperty("spark.jobGroup.id")),
        ) as db:
            db.execute(TABLES)
            db.apply({"t": [insert(i) for i in range(9)]})
            db.query("SELECT sum(n) AS n FROM v").rows()
            assert db.verify()
        assert set(heard) == {"notebook"}  # cancelling the cell cancels our jobs
        assert context.getLocalProperty("spark.job.description") == "the user's cell"
        assert Sessions.getActiveSession() is spark and dict(spark.conf.getAll) == settings
        assert spark.range(3).count() == 3
        with pytest.raises(ec.TransactionError, match="closed"):
            db.query("SELECT 1")
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty("spark.job.description", None)


def test_jobs_say_what_they_are_for(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", strategy="spark")
    db.execute(TABLES)
    said: set[str] = set()
    describe = db._core.progress.door.describe  # type: ignore[union-attr]

    def noted(text: str) -> None:
        describe(text)
        said.add(str(spark.sparkContext.getLocalProperty("spark.job.description")))

    db._core.progress.door.describe = noted  # type: ignore[union-attr, method-assign]
    db.apply({"t": [insert(i) for i in range(9)]})
    db.verify(["v"])
    assert {"evercurrent: updating v, w", "evercurrent: verifying v"} <= said


def test_a_second_thread(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute(TABLES)
    problems: list[BaseException] = []

    def run(first: int) -> None:
        try:
            for i in range(first, first + 4):
                db.apply({"t": [insert(i)]}, batch=f"b{i}")
                db.query("SELECT * FROM w").rows()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(10 * n,)) for n in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not problems and len(db.table("t")) == 12 and sorted(db.view("w").rows()) == [(0,), (1,)]


def test_runs_are_a_table(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute(TABLES)
    for i in range(4):
        run = db.apply({"t": [insert(i)]}, batch=f"b{i}")
    found = db.query(
        "SELECT view, count(*) AS n, sum(rows_changed) AS rows, max(batch) AS b FROM evercurrent_runs "
        "WHERE kind = 'batch' AND strategy <> 'none' GROUP BY view ORDER BY view"
    ).rows()
    assert found == [("v", 4, 6, "b3"), ("w", 4, 2, "b3")]
    by_spark = (
        db.runs().where("kind = 'batch' AND strategy <> 'none'").groupBy("view").count().orderBy("view")
    )
    assert [tuple(r) for r in by_spark.collect()] == [("v", 4), ("w", 4)]
    assert db.runs().sparkSession is spark
    assert {r["version"] for r in db.runs(last=1).collect()} == {db.version}
    newest = db.query(f"SELECT * FROM evercurrent_runs WHERE version = {run.version} AND view = 'v'").rows()
    assert newest[0][5] == run.view("v").strategy and newest[0][8] == run.view("v").reason
    first = db.query("SELECT DISTINCT view FROM evercurrent_runs WHERE code = 'defined' ORDER BY view").rows()
    assert first == [("v",), ("w",)]
    with pytest.raises(ec.QueryError, match="evercurrent_runs is read from the log"):
        db.execute("CREATE VIEW r AS SELECT view FROM evercurrent_runs")
    with pytest.raises(ec.QueryError, match="evercurrent_runs"):
        db.execute("DELETE FROM evercurrent_runs")
    db.execute("CREATE TABLE mine AS SELECT view, seconds FROM evercurrent_runs WHERE view IS NOT NULL")
    assert len(db.table("mine")) > 8


def test_runs_are_logged_with_fields(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "evercurrent"):
        db = ec.connect(spark=spark, path=tmp_path / "w")
        db.execute(TABLES)
        run = db.apply({"t": [insert(1)]}, batch="b1")
    by_event: dict[str, list[Any]] = {}
    for record in caplog.records:
        by_event.setdefault(record.event, []).append(record)  # type: ignore[attr-defined]
    assert by_event["definitions"][0].views == ["v", "w"]
    (whole,) = by_event["run"]
    assert (whole.version, whole.batch, whole.rows) == (run.version, "b1", 1) and whole.seconds > 0
    line = next(r for r in by_event["view"] if r.view == "v")
    assert (line.strategy, line.rows, line.batch) == (run.view("v").strategy, 1, "b1")
    assert line.bytes == run.view("v").bytes_read and line.warehouse == db.path
    assert line.getMessage().startswith("v: ")


def test_files_of_packed_keys_are_not_broadcast(spark: SparkSession, tmp_path: Path) -> None:
    """A few megabytes of files can be millions of keys, for which a broadcast takes the memory of the driver."""
    from evercurrent.engine.spark.private_session import private

    spark.range(0, 400_000, numPartitions=1).selectExpr("xxhash64(id) AS k").write.parquet(
        str(tmp_path / "k")
    )
    size = sum(f.stat().st_size for f in (tmp_path / "k").glob("*.parquet"))
    assert 2 << 20 < size < 10 << 20  # so many bytes are broadcast by default

    def plan(session: SparkSession) -> str:
        keys = session.read.parquet(str(tmp_path / "k"))
        joined = keys.join(session.range(100_000_000).selectExpr("id AS k", "id AS x"), "k")
        return str(joined._jdf.queryExecution().executedPlan().toString())

    assert "BroadcastHashJoin" in plan(spark)
    assert "BroadcastHashJoin" not in plan(private(spark))
