"""Creating a view on Spark, beside Spark's own computation of its query and the writing of what is kept."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evercurrent as ec
from bench.measure import machine, processor_time
from bench.report import Result, Table, save
from bench.spark_bench import bytes_under
from bench.spark_data import Recompute, linked, loaded, session
from bench.views_bench import texts

ABOUT = (
    "Creating a view on Spark beside Spark's own computation of its query, TPC-H, primary keys declared, local mode. Seconds of "
    "processor time of the driver, the JVM and Python's workers together. *Spark computes* reads the generated Parquet files, computes "
    "the query and writes its result; *Spark writes what is kept* reads the files of the states that the view keeps and writes them once "
    "more, sorted by their keys, since states are sorted. The ratio compares creating with both. All three are warm: the second of two runs each."
)
FIVE = ("Q1", "Q3", "Q9", "Q17", "Q21")
SMALL = 1000
"""Stores of at most so many rows are written in no time."""


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Processor time and time by the clock."""
    clock, processor = time.perf_counter(), processor_time()
    run()
    return processor_time() - processor, time.perf_counter() - clock


def run(quick: bool, views: list[str] | None = None) -> Result:
    names = views or list(FIVE if quick else texts())
    sf = 0.1 if quick else 1.0
    columns = [
        "view",
        "Spark computes",
        "Spark writes what is kept",
        "create",
        "ratio",
        "create, by the clock",
    ]
    table = Table(f"Creating a view, SF {sf:g}", [*columns, "ratio by the clock", "kept, MB"])
    result = Result("first-day", ABOUT, [table], machine(), quick)
    spark = session("6g")
    source = loaded(spark, sf)
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-", dir=source.parent))
    try:
        linked(source, place / "w")
        db = ec.connect(spark=spark, path=place / "w")
        recompute = Recompute(spark, sf, place / "recomputed")
        tables = set(db._core.snapshot.stores)
        for name in names:
            table.rows.append(measure(spark, db, recompute, tables, name, place))
            print(*table.rows[-1], flush=True)
            save(result)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return result


def measure(spark: Any, db: Any, recompute: Recompute, tables: set[Any], name: str, place: Path) -> list[Any]:
    """The row of one view; the view is compared with Spark's own answer before it is dropped."""
    text = texts()[name]
    create = f"CREATE VIEW v AS {text}"
    recompute.once(text)
    computed, computed_clock = timed(lambda: recompute.once(text))
    for last in (False, True):
        processor, clock = timed(lambda: db.execute(create, policy="incremental"))
        if not last:
            db.execute("DROP VIEW v")
    stores = {k: s for k, s in db._core.snapshot.stores.items() if k not in tables}
    folder = db._core.engine.folder
    written = [write_sorted(spark, folder, s, place) for s in stores.values() if s.rows > SMALL]
    kept, kept_clock = (sum(w[i] for w in written) for i in (0, 1))
    if not db.verify(["v"]):
        raise SystemExit(f"{name} is not what Spark computes, so there is no figure for it")
    size = bytes_under(folder, list(stores.values())) / 1e6
    db.execute("DROP VIEW v")
    db.vacuum(keep=1, hours=0)
    by_clock = clock / (computed_clock + kept_clock)
    return [name, computed, kept, processor, processor / (computed + kept), clock, by_clock, size]


def write_sorted(spark: Any, folder: Any, store: Any, place: Path) -> tuple[float, float]:
    """What Spark needs to read the files of a store and to write them in the same order; the second of two runs."""
    files = [folder.path(f) for segment in store.segments for f in segment.files]
    order = list(next((s.order for s in store.segments if s.order), ()))

    def write() -> None:
        frame = spark.read.parquet(*files)
        frame = frame.sort(*order) if order else frame
        frame.write.mode("overwrite").parquet(str(place / "kept"))

    write()
    return timed(write)
