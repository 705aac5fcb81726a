"""TPC-H on Spark: a session, a warehouse that is loaded once for each scale factor, batches of changes, and recomputing."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import duckdb

import evercurrent as ec
from bench import queries, tpch


def session(memory: str) -> Any:
    from pyspark.sql import SparkSession

    built = (
        SparkSession.builder.master("local[*]")
        .appName("evercurrent-bench")
        .config("spark.driver.memory", memory)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    built.sparkContext.setLogLevel("ERROR")
    return built


def loaded(spark: Any, sf: float) -> Path:
    """A warehouse with the eight tables and their primary keys, in the temporary folder; made if it is not there.

    How long the load took lies beside it.
    """
    from pyspark.sql import functions as F

    place = Path(tempfile.gettempdir()) / f"evercurrent-warehouse-{sf:g}"
    if (place / "seconds").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    db = ec.connect(spark=spark, path=place / "warehouse")
    begin = time.perf_counter()
    for name in tpch.NAMES:
        key = re.split(r", (?=FOREIGN)", queries.KNOWLEDGE[name])[0]
        db.execute(f"CREATE TABLE {name} ({queries.COLUMNS[name]}, {key})")
        frame = spark.read.parquet(str(tpch.folder(sf) / f"{name}.parquet"))
        db.apply({name: frame.withColumn("_change_type", F.lit("insert"))})
    db.vacuum(keep=1, hours=0)
    (place / "seconds").write_text(f"{time.perf_counter() - begin:.1f}")
    return place


def linked(place: Path, copy: Path) -> float:
    """A copy of a loaded warehouse by links, since its files never change; gives how long the load took."""
    shutil.copytree(place / "warehouse", copy, copy_function=os.link)
    return float((place / "seconds").read_text())


def batches(sf: float) -> Generator[Any, int, None]:
    """Send a number of rows, get a batch that changes about so many; no order is taken twice."""
    folder = tpch.folder(sf)
    with duckdb.connect(":memory:") as con:
        con.execute(
            "CREATE TABLE picked AS SELECT o_orderkey AS k, row_number() OVER (ORDER BY hash(o_orderkey)) AS n "
            f"FROM read_parquet('{folder}/orders.parquet')"
        )
        used = 0
        made: Any = None
        while True:
            rows = yield made
            count = max(1, rows // 10)
            chosen = f"(SELECT k FROM picked WHERE n > {used} AND n <= {used + count})"
            used += count
            made = {}
            for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
                source = f"FROM read_parquet('{folder}/{table}.parquet') WHERE {key} IN {chosen}"
                # of 32 keys in a row TPC-H uses eight: the next eight are free
                made[table] = con.sql(
                    f"SELECT *, 'delete' AS _change_type {source} UNION ALL "
                    f"SELECT * REPLACE ({key} + 8 AS {key}), 'insert' {source}"
                ).to_arrow_table()


class Recompute:
    """The same queries over plain Parquet files, in the same session."""

    def __init__(self, spark: Any, sf: float, place: Path) -> None:
        self.spark = spark.newSession()
        self.place = place
        for name in tpch.NAMES:
            path = str(tpch.folder(sf) / f"{name}.parquet")
            self.spark.read.parquet(path).createOrReplaceTempView(name)

    def seconds(self, text: str, runs: int = 2) -> float:
        """The best of some runs."""
        return min(self.once(text) for _ in range(runs))

    def once(self, text: str) -> float:
        begin = time.perf_counter()
        self.spark.sql(text).write.mode("overwrite").parquet(str(self.place))
        return time.perf_counter() - begin
