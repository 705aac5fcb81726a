"""Views on Spark: what a batch costs beside recomputing the view and writing it, end to end, in one session.

A batch takes orders with their lines out of the data and puts as many new ones in, spread over all keys. The time of a
batch is that of `db.apply`: intake, constraints, program, commit and publishing.
"""

from __future__ import annotations

import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

import evercurrent as ec
from bench import queries, tpch
from bench.measure import machine
from bench.report import Result, Table
from bench.views_bench import texts

ABOUT = (
    "TPC-H on Spark in local mode, tables with their primary keys, each view alone over the same tables. A batch changes "
    "orders and lineitem together: half of its rows go, half come. Every view was compared with Spark's own SQL after its "
    "batches, both ways, and was equal. Recomputing reads the generated Parquet files and writes the result as Parquet."
)
SIZES = (100, 10_000, 100_000)
FIVE = ("Q3", "Q5", "Q6", "Q13", "Q18")
SHAPES = {"Q1": "few groups", "Q3": "join, groups, top 10", "Q13": "outer join, groups of groups"}
SHARES = (0.0001, 0.001, 0.01, 0.1)


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


def loaded(spark: Any, sf: float, place: Path) -> tuple[Any, float]:
    """A warehouse with the eight tables, and how long the load took."""
    from pyspark.sql import functions as F

    db = ec.connect(spark=spark, path=place)
    begin = time.perf_counter()
    for name in tpch.NAMES:
        key = re.split(r", (?=FOREIGN)", queries.KNOWLEDGE[name])[0]
        db.execute(f"CREATE TABLE {name} ({queries.COLUMNS[name]}, {key})")
        frame = spark.read.parquet(str(tpch.folder(sf) / f"{name}.parquet"))
        db.apply({name: frame.withColumn("_change_type", F.lit("insert"))})
    return db, time.perf_counter() - begin


def batches(sf: float) -> Iterator[Any]:
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

    def seconds(self, text: str) -> float:
        """The better of two runs."""
        return min(self.once(text) for _ in range(2))

    def once(self, text: str) -> float:
        begin = time.perf_counter()
        self.spark.sql(text).write.mode("overwrite").parquet(str(self.place))
        return time.perf_counter() - begin


def timed(db: Any, feed: Any, rows: int) -> tuple[float, Any]:
    batch = feed.send(rows)
    begin = time.perf_counter()
    run = db.apply(batch)
    return time.perf_counter() - begin, run


def require(db: Any, names: list[str]) -> None:
    report = db.verify(names)
    if not report:
        raise SystemExit(f"an answer is wrong, so there is no figure for it\n{report}")


def bytes_under(place: Path, stores: Any) -> int:
    return sum((place / f).stat().st_size for s in stores for x in s.segments for f in x.files)


def each_view(db: Any, place: Path, recompute: Recompute, feed: Any, sf: float, names: list[str]) -> Table:
    """Every view alone: creation, what it keeps, batches of three sizes, recomputation."""
    columns = ["view", "create, s", "state, MB"]
    columns += [f"{n:,} rows, s" for n in SIZES]
    columns += ["MB read, 10,000 rows", "recompute, s"] + [f"ratio, {n:,}" for n in SIZES]
    table = Table(f"Each view alone, SF {sf:g}", columns)
    ratios: dict[int, list[float]] = {n: [] for n in SIZES}
    tables = {k for k in db._core.snapshot.stores}
    base = bytes_under(place, [db._core.snapshot.stores[k] for k in tables])
    kept = []
    for name in names:
        text = texts()[name]
        begin = time.perf_counter()
        db.execute(f"CREATE VIEW v AS {text}")
        created = time.perf_counter() - begin
        states = [s for k, s in db._core.snapshot.stores.items() if k not in tables]
        kept.append(bytes_under(place, states))
        timed(db, feed, 100)  # the first batch of a view opens its files
        found, read = [], 0
        for n in SIZES:
            took, run = timed(db, feed, n)
            found.append(took)
            read = run.bytes_read if n == 10_000 else read
        again = recompute.seconds(text)
        require(db, ["v"])
        for n, took in zip(SIZES, found, strict=True):
            ratios[n].append(again / took)
        table.rows.append(
            [name, created, kept[-1] / 1e6, *found, read / 1e6, again, *(again / t for t in found)]
        )
        db.execute("DROP VIEW v")
        db.vacuum(keep=1)
        print(*table.rows[-1], flush=True)
    means = ", ".join(f"{statistics.geometric_mean(r):.1f} at {n:,} rows" for n, r in ratios.items())
    table.notes.append(f"Geometric mean of the ratios: {means}.")
    table.notes.append(
        f"The tables take {base / 1e6:,.0f} MB; what is kept for a view takes {max(kept) / 1e6:,.0f} MB at most "
        f"and {statistics.mean(kept) / 1e6:,.0f} MB on average."
    )
    return table


def together(db: Any, recompute: Recompute, feed: Any, sf: float, quick: bool) -> Table:
    """Five views in one warehouse: the floor, and the reading of views with many batches behind them."""
    for name in FIVE:
        db.execute(f"CREATE VIEW {name.lower()} AS {texts()[name]}")
    timed(db, feed, 100)
    table = Table(
        f"Five views together ({', '.join(FIVE)}), SF {sf:g}",
        ["batches before", "100 rows, s", "MB read", "segments of a store, at most", "read of Q18, s"],
    )
    done = 1
    for upto in (1, 10, 30) if quick else (1, 50, 200):
        while done < upto:
            timed(db, feed, 100)
            done += 1
        took, run = timed(db, feed, 100)
        done += 1
        begin = time.perf_counter()
        db.view("q18").rows()
        read = time.perf_counter() - begin
        most = max(len(s.segments) for s in db._core.snapshot.stores.values())
        table.rows.append([upto, took, run.bytes_read / 1e6, most, read])
    require(db, [n.lower() for n in FIVE])
    whole = sum(recompute.seconds(texts()[n]) for n in FIVE)
    table.notes.append(f"Recomputing the five views and writing them took {whole:.1f} s.")
    for name in FIVE:
        db.execute(f"DROP VIEW {name.lower()}")
    return table


def crossover(db: Any, recompute: Recompute, feed: Any, sf: float) -> Table:
    """The time of a batch by the share of orders that it changes."""
    orders = int(1_500_000 * sf)
    columns = ["view", "shape", *(f"{s:.2%} changed" for s in SHARES), "recompute, s"]
    table = Table(f"Ratio of recomputing to refreshing, by share of orders changed, SF {sf:g}", columns)
    for name, shape in SHAPES.items():
        db.execute(f"CREATE VIEW v AS {texts()[name]}")
        timed(db, feed, 100)
        again = recompute.seconds(texts()[name])
        ratios = [again / timed(db, feed, max(10, int(orders * share * 10)))[0] for share in SHARES]
        require(db, ["v"])
        table.rows.append([name, shape, *ratios, again])
        db.execute("DROP VIEW v")
    return table


def run(quick: bool) -> Result:
    names = list(FIVE) if quick else list(texts())
    tables: list[Table] = []
    spark = session("2g" if quick else "8g")
    for sf in (0.1,) if quick else (1.0, 10.0):
        place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-"))
        try:
            db, took = loaded(spark, sf, place / "w")
            recompute = Recompute(spark, sf, place / "recomputed")
            feed = batches(sf)
            next(feed)
            tables.append(each_view(db, place / "w", recompute, feed, sf, names))
            tables[-1].notes.append(f"Loading all tables took {took:.0f} s.")
            if sf <= 1:
                tables.append(together(db, recompute, feed, sf, quick))
                tables.append(crossover(db, recompute, feed, sf))
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return Result("spark", ABOUT, tables, machine(), quick)
