"""A program whose session has a Hive catalog: its tables are sources, and a pipeline writes tables into it.

A process of its own, because a process has one catalog. The metastore is Hive's own, which PySpark contains, over a database
in memory. One line of JSON for each step.

    python -m tests.spark.catalogs.hive FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

SETTINGS = {
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "spark.hadoop.datanucleus.schema.autoCreateTables": "true",
    "spark.hadoop.hive.metastore.schema.verification": "false",
    "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
}
TABLES = {
    "parted": "(id BIGINT, x INT) PARTITIONED BY (g STRING) STORED AS PARQUET",
    "native": "(id BIGINT, x INT, g STRING) USING parquet PARTITIONED BY (g)",
    "lines": "(id BIGINT, x INT) PARTITIONED BY (g STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','",
}
"""Hive's own Parquet; Spark's; and text, which only Hive's reader reads."""


def hive_session(folder: Path) -> SparkSession:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(folder / "hive"))
    builder = builder.config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder}")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.enableHiveSupport().getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def compare(spark: SparkSession, db: Warehouse) -> dict[str, Any]:
    """Refreshes, compares every table and view with Spark's own SQL over Hive's table, and returns the run's notes and rows."""
    run = db.refresh()
    for t in TABLES:
        theirs = sorted((tuple(r) for r in spark.table(f"lake.{t}").collect()), key=repr)
        assert sorted(db.table(t).rows(), key=repr) == theirs, (t, theirs, db.table(t).rows())
        groups = spark.sql(f"SELECT g, count(*), sum(x) FROM lake.{t} GROUP BY g").collect()
        assert sorted(db.view(f"per_{t}").rows(), key=repr) == sorted(map(tuple, groups), key=repr), t
    names = [n.name for n in spark.catalog.listTables("default")]
    assert not names, f"a warehouse leaves nothing in the catalog of the session: {names}"
    return {"rows": run.rows_in, "notes": dict(note.split(": ", 1) for note in run.notes)}


def sources(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Tables that are filled, appended to, overwritten and altered."""
    spark.sql("CREATE DATABASE lake")
    found: dict[str, Any] = {}
    with ec.connect(spark=spark, path=folder / "w") as db:
        for t, columns in TABLES.items():
            spark.sql(f"CREATE TABLE lake.{t} {columns}")
            db.source(t, table=f"lake.{t}", key=["id"])
            db.execute(f"CREATE VIEW per_{t} AS SELECT g, count(*) AS n, sum(x) AS s FROM {t} GROUP BY g")
        for t in TABLES:
            spark.sql(f"INSERT INTO lake.{t} (id, x, g) VALUES (1, 1, 'a'), (2, 2, 'a b'), (3, 3, NULL)")
        found["first"] = compare(spark, db)
        for t in TABLES:
            spark.sql(f"INSERT INTO lake.{t} (id, x, g) VALUES (4, 4, 'a'), (5, 5, 'c')")
        found["appended"] = compare(spark, db)
        for t in TABLES:
            spark.sql(f"INSERT OVERWRITE lake.{t} PARTITION (g = 'a') VALUES (1, 10), (6, 6)")
            spark.sql(f"ALTER TABLE lake.{t} DROP PARTITION (g = 'c')")
        found["overwritten"] = compare(spark, db)
        for t in TABLES:
            spark.sql(f"ALTER TABLE lake.{t} ADD PARTITION (g = 'far') LOCATION '{folder}/far_{t}'")
            spark.sql(f"INSERT INTO lake.{t} PARTITION (g = 'far') VALUES (7, 7)")
        found["elsewhere"] = compare(spark, db)
        found["nothing"] = compare(spark, db)
        assert db.verify()
        found["kept"] = [line for line in str(db.explain("per_parted")).splitlines() if "parted" in line]
    return found


PIPELINE = """
CREATE MATERIALIZED VIEW spend AS SELECT g, sum(x) AS s FROM lake.native GROUP BY g;
CREATE MATERIALIZED VIEW groups AS SELECT count(*) AS n FROM spend;
"""


def a_pipeline(spark: SparkSession, folder: Path) -> Any:
    """Its datasets are tables of Hive, which Spark reads by their names; a second run updates them."""
    from tests.pipelines.project import Project

    project = Project(spark, folder / "project", "kept", {"transformations/a.sql": PIPELINE})
    ways = []
    for i in range(2):
        spark.sql(f"INSERT INTO lake.native (id, x, g) VALUES (2{i}, 5, 'new {i}')")
        ways.append([d.way for d in project.run().datasets])
        wanted = spark.sql("SELECT g, sum(x) FROM lake.native GROUP BY g").collect()
        assert sorted(project.rows("spend"), key=repr) == sorted(map(tuple, wanted), key=repr)
        assert list(project.rows("groups")) == [(len(wanted),)]
    kinds = {r[0]: r[1] for r in spark.sql("DESCRIBE TABLE EXTENDED kept.spend").collect()}
    return {"ways": ways, "catalog": kinds["Catalog"], "provider": kinds["Provider"]}


STEPS: tuple[Callable[[SparkSession, Path], Any], ...] = (sources, a_pipeline)


def main(folder: Path) -> None:
    spark = hive_session(folder)
    assert spark.conf.get("spark.sql.catalogImplementation") == "hive"
    for step in STEPS:
        print(json.dumps({"step": step.__name__, "found": step(spark, folder)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
