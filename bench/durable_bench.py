"""What a database in a file costs: a commit in each mode beside SQLite alone, opening a million rows, and the delay from PostgreSQL.

    python -m bench.durable_bench

A commit is ten changed rows of one table under one view. SQLite alone makes the same ten changes by `executemany` in one transaction, in
WAL mode with the same setting of `synchronous`. Both take turns in one run, so that their ratio is one of equal conditions. Wall time.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import evercurrent as ec
from bench.measure import machine
from bench.report import Result, Table, save

ABOUT = (
    "A database in a file (`ec.connect(path)`). A commit changes ten rows under a view with a sum for each of 100 groups; SQLite alone "
    "makes the same changes in one transaction. Both take turns in one run. Wall time, medians; opening in CPU time."
)
VIEW = (
    "CREATE VIEW spend AS SELECT customer, SUM(total) AS total, COUNT(*) AS n FROM orders GROUP BY customer"
)


def shop(path: Path | None, durability: Any) -> ec.Database:
    db = ec.connect(path, durability=durability) if path is not None else ec.connect()
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2), day DATE)")
    db.execute(VIEW)
    return db


def rows_of(start: int, count: int) -> list[tuple[Any, ...]]:
    return [(i, i % 100, f"{i % 1000}.50", "2024-05-01") for i in range(start, start + count)]


def alone(path: Path, durability: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={durability.upper()}")
    connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, total TEXT, day TEXT)")
    return connection


def timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def commits(folder: Path, quick: bool) -> Table:
    table = Table(
        "A commit of ten changes, milliseconds",
        ["durability", "evercurrent", "SQLite alone", "ratio", "without a file", "what the file adds"],
    )
    for durability in ("full", "normal", "off"):
        with shop(folder / f"{durability}.db", durability) as db, shop(None, "full") as memory:
            lone = alone(folder / f"{durability}.sqlite", durability)

            def by_sqlite(rows: list[tuple[Any, ...]], lone: sqlite3.Connection = lone) -> None:
                lone.execute("BEGIN")
                lone.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
                lone.execute("COMMIT")

            ours, theirs, bare = [], [], []
            for n in range(100 if quick else 500):
                rows = rows_of(n * 10, 10)
                ours.append(timed(lambda rows=rows: db.table("orders").insert(rows)))  # type: ignore[misc]
                theirs.append(timed(lambda rows=rows: by_sqlite(rows)))  # type: ignore[misc]
                bare.append(timed(lambda rows=rows: memory.table("orders").insert(rows)))  # type: ignore[misc]
            lone.close()
        a, b, c = (median(t) * 1e3 for t in (ours, theirs, bare))
        table.rows.append([durability, a, b, a / b, c, a - c])
    return table


def opening(folder: Path, quick: bool) -> Table:
    count = 100_000 if quick else 1_000_000
    path = folder / "large.db"
    rows = rows_of(0, count)
    with shop(path, "normal") as db:
        begin = time.process_time()
        db.table("orders").insert(rows)
        load = time.process_time() - begin
    stages: list[tuple[str, float]] = []
    begin = time.process_time()
    db = ec.connect(path, progress=lambda stage: stages.append((stage, time.process_time())))
    end = time.process_time()
    assert len(db.table("orders")) == count
    db.close()
    times = [t for _, t in stages] + [end]
    table = Table(f"Opening a file of {count:,} rows with one view, seconds of CPU time", ["step", "seconds"])
    table.rows.append(["check the file", times[0] - begin])
    table.rows += [[name, times[i + 1] - times[i]] for i, (name, _) in enumerate(stages)]
    table.rows.append(["together", end - begin])
    table.notes.append(
        f"The file has {path.stat().st_size / 2**20:.0f} MiB. To insert the rows in one transaction took {load:.1f} s of CPU time."
    )
    return table


def delay(folder: Path, quick: bool) -> Table | None:
    """From the commit in PostgreSQL to the view, in a loop that refreshes; None where there is no server."""
    try:
        import psycopg

        from tests.postgres.cluster import Cluster, programs
    except ImportError:
        return None
    if programs() is None:
        return None
    place = Path(tempfile.mkdtemp(prefix="evercurrent_pg"))
    place.chmod(0o755)
    cluster = Cluster(place / "server")
    try:
        cluster.execute("CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint, total numeric(12,2))")
        cluster.execute("INSERT INTO orders SELECT i, i % 100, 1.5 FROM generate_series(1, 10000) i")
        with (
            ec.connect(folder / "pg.db", durability="normal") as db,
            psycopg.connect(cluster.address, autocommit=True) as pg,
        ):
            load = timed(lambda: db.source("orders", postgres=cluster.address))
            db.execute(VIEW)
            delays, empty = [], []
            for n in range(30 if quick else 200):
                pg.execute("INSERT INTO orders VALUES (%s, %s, 2)", (20_000 + n, n % 100))
                delays.append(timed(db.refresh))
                empty.append(timed(db.refresh))
            pg.execute("INSERT INTO orders SELECT i, i % 100, 1.5 FROM generate_series(100001, 110000) i")
            many = timed(db.refresh)
    finally:
        cluster.stop()
        shutil.rmtree(place, ignore_errors=True)
    table = Table("From PostgreSQL to the view, milliseconds", ["what", "milliseconds"])
    table.rows += [
        ["a committed row is in the view: one refresh, median", median(delays) * 1e3],
        ["the same, 99th percentile", sorted(delays)[int(len(delays) * 0.99)] * 1e3],
        ["a refresh that finds nothing", median(empty) * 1e3],
        ["one transaction of 10,000 rows", many * 1e3],
        ["declare a source of 10,000 rows, with its first load", load * 1e3],
    ]
    return table


def run(quick: bool = False) -> Result:
    """Measures all three."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [commits(Path(folder), quick), opening(Path(folder), quick)]
        found = delay(Path(folder), quick)
    if found is not None:
        tables.append(found)
    return Result("durable", ABOUT, tables, machine(), quick)


if __name__ == "__main__":
    save(run("--quick" in sys.argv))
