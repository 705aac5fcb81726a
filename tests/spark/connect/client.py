"""A client of Spark Connect: uses a warehouse as a user would, and writes down what it sees, one line of JSON for each step.

A process of its own, because PySpark decides once for each process which kind of session it has.

    python -m tests.spark.connect.client sc://127.0.0.1:15002 FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from tests.spark.stores.s3_server import new_bucket, options_for

STEPS: list[Callable[[Any, Path], Any]] = []


def step(function: Callable[[Any, Path], Any]) -> Callable[[Any, Path], Any]:
    STEPS.append(function)
    return function


def refused(function: Callable[[], Any]) -> str:
    try:
        return f"returned {function()!r}"
    except ec.EvercurrentError as problem:
        return f"{type(problem).__name__}: {problem.message}"


@step
def load_and_views(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        db.execute(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2), note STRING)"
        )
        frame = spark.range(1000).selectExpr(
            "id",
            "id % 7 AS customer",
            "cast(id AS decimal(12,2)) AS total",
            "'x' AS note",
            "'insert' AS _change_type",
        )
        run = db.apply({"orders": frame}, batch="first")
        db.execute(
            "CREATE VIEW spend AS SELECT customer, sum(total) AS total, count(*) AS n FROM orders GROUP BY customer"
        )
        db.execute("CREATE VIEW big AS SELECT customer FROM spend WHERE total > 71000")
        db.execute("CREATE VIEW hashed AS SELECT id, hash(note) AS h FROM orders WHERE id < 3", policy="full")
        return {"rows": len(db.table("orders")), "jobs": run.jobs > 0, "spend": len(db.view("spend").rows())}


@step
def batches(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        again = db.apply({"orders": []}, batch="first")
        db.apply(
            {"orders": [{"_change_type": "insert", "id": 5000, "customer": 0, "total": "5", "note": None}]}
        )
        db.execute("DELETE FROM orders WHERE id = 1")
        forced = ec.connect(spark=spark, path=folder / "w", strategy="spark")
        run = forced.apply(
            {"orders": [{"_change_type": "insert", "id": 5001, "customer": 1, "total": "7", "note": None}]}
        )
        db.reload()
        own = spark.sql("SELECT 1").count()
        return {
            "repeated": again.repeated,
            "jobs": run.jobs > 0,
            "spend": [[c, str(t), n] for c, t, n in sorted(db.view("spend").rows())],
            "query": [list(r) for r in db.query("SELECT count(*) AS n FROM orders WHERE note IS NULL")],
            "verified": bool(db.verify()),
            "own": own,
        }


@step
def frames(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        frame = db.view("spend").dataframe()
        frame.createOrReplaceTempView("from_evercurrent")
        total = spark.sql("SELECT sum(n) AS n FROM from_evercurrent").collect()[0][0]
        feed = db.view("spend").changes(since=db.version - 1).collect()
        arrow = db.view("big").dataframe().toArrow().num_rows
        return {"n": total, "feed": sorted(r["_change_type"] for r in feed), "big": arrow}


@step
def sources(spark: Any, folder: Path) -> Any:
    lake, parquet = str(folder / "lake"), str(folder / "parquet")
    write_deltalake(lake, pa.table({"id": [1, 2, 3], "x": [1, 1, 2]}))
    spark.range(5).write.parquet(parquet)
    spark.sql("SELECT 7 AS n, 'a' AS name").write.saveAsTable("of_the_catalog")
    with ec.connect(spark=spark, path=folder / "w2") as db:
        db.source("t", format="delta", path=lake, key=["id"])
        db.source("files", format="parquet", path=parquet)
        db.source("catalogued", table="of_the_catalog")
        db.execute("CREATE VIEW v AS SELECT x, count(*) AS n FROM t GROUP BY x")
        db.refresh()
        first = sorted(map(list, db.view("v").rows()))
        DeltaTable(lake).delete("id = 1")
        write_deltalake(lake, pa.table({"id": [9], "x": [2]}), mode="append")
        run = db.refresh()
        return {
            "first": first,
            "then": sorted(map(list, db.view("v").rows())),
            "rows_in": run.count,
            "files": len(db.table("files")),
            "catalogued": [list(r) for r in db.table("catalogued").rows()],
            "verified": bool(db.verify()),
        }


@step
def publishing(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        path = str(folder / "w" / "views" / "spend")
        before = DeltaTable(path).to_pyarrow_table().num_rows
        db.publish("big", folder / "out")
        db.table("orders").insert([(6000, 99, "1", "n")])
        return [
            before,
            DeltaTable(path).to_pyarrow_table().num_rows,
            DeltaTable(str(folder / "out")).version() >= 0,
        ]


@step
def threads(spark: Any, folder: Path) -> Any:
    """Four threads share a warehouse; every batch is one version, and none is lost."""
    with ec.connect(spark=spark, path=folder / "w") as db:
        before, problems = db.version, []

        def insert(n: int) -> None:
            try:
                for i in range(3):
                    db.table("orders").insert([(7000 + 10 * n + i, n, "1", "t")])
                    db.query("SELECT count(*) FROM spend")
            except Exception as problem:
                problems.append(repr(problem))

        running = [threading.Thread(target=insert, args=(n,)) for n in range(4)]
        for t in running:
            t.start()
        for t in running:
            t.join()
        found = db.query("SELECT count(*) AS n FROM orders WHERE id >= 7000").fetchone()
        return {"rows": found[0], "problems": problems, "versions": db.version - before >= 12}


@step
def settings(spark: Any, folder: Path) -> Any:
    """The session of the user keeps its settings and tags, and works after the warehouse is closed."""
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.addTag("mine")
    db = ec.connect(spark=spark, path=folder / "w", strategy="spark")
    db.table("orders").delete(7000)
    found = [
        spark.conf.get("spark.sql.session.timeZone"),
        sorted(spark.getTags()),
        spark.conf.get("spark.sql.ansi.enabled"),
    ]
    db.close()
    return [*found, spark.range(3).count(), refused(lambda: db.query("SELECT 1"))]


@step
def records(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        asked = db.query("SELECT DISTINCT view FROM evercurrent_runs WHERE view IS NOT NULL").rows()
        frame = db.runs().where("view IS NOT NULL").select("view").distinct().collect()
        return {
            "views": sorted(r[0] for r in asked),
            "same": sorted(r[0] for r in frame) == sorted(r[0] for r in asked),
        }


@step
def object_store(spark: Any, folder: Path) -> Any:
    """A warehouse on S3: the server has no connector for it and no credentials, tasks bring both."""
    endpoint = os.environ["TEST_S3"]
    path, options = f"s3://{new_bucket(endpoint)}/w", options_for(endpoint)
    found: dict[str, Any] = {}
    with ec.connect(spark=spark, path=path, storage_options=options, strategy="spark") as db:
        db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, at TIMESTAMP, tags ARRAY<STRING>)")
        db.execute("CREATE VIEW v AS SELECT k, count(*) AS n, max(at) AS late FROM t GROUP BY k")
        db.execute("CREATE VIEW f AS SELECT id, tags FROM t WHERE k = 1", policy="full")
        frame = spark.range(300).selectExpr(
            "cast(id as int) id",
            "cast(id % 3 as int) k",
            "timestamp'2024-05-06 07:08:09' at",
            "array('a', null) tags",
            "'insert' _change_type",
        )
        found["jobs"] = db.apply({"t": frame}, batch="first").jobs > 0
        db.apply({"t": [{"_change_type": "delete", "id": 1}]})
        db.view("v").dataframe().createOrReplaceTempView("of_the_store")
        found["frame"] = spark.sql("SELECT sum(n) FROM of_the_store").collect()[0][0]
        found["feed"] = db.view("v").changes(since=db.version - 1).count()
        found["verified"] = bool(db.verify())
    with ec.connect(spark=spark, path=path, storage_options=options, strategy="tasks") as db:
        found["repeated"] = db.apply({"t": []}, batch="first").repeated
        db.execute("DELETE FROM t WHERE id = 299")
        found["by tasks"] = sorted([k, n] for k, n, _ in db.view("v").rows())
        found["checked"] = bool(db.check())
    table = DeltaTable(f"{path}/views/v", storage_options=options).to_pyarrow_table()
    found["published"] = sorted(table["n"].to_pylist())
    return found


@step
def store_sources(spark: Any, folder: Path) -> Any:
    """A Delta table on S3 as the source of a warehouse on a disk, read by tasks of the server."""
    from evercurrent.engine.spark.sources import reading, references

    endpoint = os.environ["TEST_S3"]
    os.environ.update(options_for(endpoint))
    lake, out = f"s3://{new_bucket(endpoint)}/lake", f"s3://{new_bucket(endpoint)}/out"
    write_deltalake(lake, pa.table({"id": [1, 2, 3], "x": [1, 1, 2]}))
    reading.DRIVER_BYTES = references.HELD_BYTES = -1
    with ec.connect(spark=spark, path=folder / "w3", strategy="spark") as db:
        db.source("t", format="delta", path=lake, key=["id"])
        db.execute("CREATE VIEW v AS SELECT x, count(*) AS n FROM t GROUP BY x")
        db.refresh()
        DeltaTable(lake).delete("id = 1")
        write_deltalake(lake, pa.table({"id": [9], "x": [2]}), mode="append")
        db.refresh()
        db.publish("v", out)
        return {
            "view": sorted(map(list, db.view("v").rows())),
            "rows": sorted(map(list, db.table("t").rows())),
            "published": DeltaTable(out).to_pyarrow_table().num_rows,
            "verified": bool(db.verify()),
        }


@step
def refusals(spark: Any, folder: Path) -> Any:
    with ec.connect(spark=spark, path=folder / "w") as db:
        stream = spark.readStream.format("rate").load()
        found = {"stream": refused(lambda: db.stream("orders", stream))}
    from evercurrent.engine.spark.private_session import require_seen

    place = folder / "unseen"
    place.mkdir()
    return {**found, "folder": refused(lambda: require_seen(Elsewhere(spark), str(place)))}


class Elsewhere:
    """A session whose server is on a machine without our files."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    @property
    def read(self) -> Elsewhere:
        return self

    def text(self, path: str) -> Any:
        return self.spark.read.text(f"{path}-on-another-machine")


def main(address: str, folder: Path, wanted: str = "") -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    for function in STEPS:
        if wanted and function.__name__ != wanted:
            continue
        try:
            found: Any = function(spark, folder)
        except Exception as problem:
            import traceback

            found = {"error": f"{type(problem).__name__}: {problem}", "where": traceback.format_exc()[-3000:]}
        print(json.dumps({"step": function.__name__, "found": found}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
