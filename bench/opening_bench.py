"""The first batches after opening a warehouse beside later ones, each run in a process of its own.

python -m bench.opening_bench FOLDER SF ROWS    opens the warehouse there, and prints what each batch took, as JSON
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import evercurrent as ec
from bench.measure import machine, processor_time
from bench.report import Result, Table
from bench.spark_bench import FIVE
from bench.spark_data import batches, linked, loaded, session
from bench.views_bench import texts

ABOUT = (
    "A warehouse of TPC-H with five views (Q3, Q5, Q6, Q13, Q18) that a new process opens, with a new session of Spark in local mode, and "
    "batches of orders with their lines: seconds by the clock for each, processor time of all processes in brackets. *Later* is the median of "
    "the batches after the first three. Nothing is warmed up by hand; files are in the memory of the system already."
)
COUNT = 8


def run(quick: bool) -> Result:
    sf = 0.1 if quick else 1.0
    sizes = (100, 10_000) if quick else (100, 10_000, 600_000)
    spark = session("2g")
    source = loaded(spark, sf)
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-", dir=source.parent))
    columns = ["changed rows", "opening", "first", "second", "third", "later", "first / later", "run by"]
    table = Table(f"Batches of a new process, SF {sf:g}, seconds", columns)
    try:
        linked(source, place / "w")
        db = ec.connect(spark=spark, path=place / "w")
        for name in FIVE:
            db.execute(f"CREATE VIEW {name.lower()} AS {texts()[name]}")
        db.close()
        spark.stop()
        for rows in sizes:
            copy = (
                place / f"w{rows}"
            )  # by links: files never change, and every process begins with the same batch
            shutil.copytree(place / "w", copy, copy_function=os.link)
            command = [sys.executable, "-m", "bench.opening_bench", str(copy), str(sf), str(rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            clock, used = zip(*found["batches"], strict=True)
            later = statistics.median(clock[3:]), statistics.median(used[3:])
            texts_of = [f"{c:.2f} ({p:.2f})" for c, p in (*found["batches"][:3], later)]
            table.rows.append([rows, found["opening"], *texts_of, clock[0] / later[0], found["how"]])
            print(*table.rows[-1], flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return Result("opening", ABOUT, [table], machine(), quick)


def follow(path: str, sf: float, rows: int) -> dict[str, Any]:
    """What a new process takes to open a warehouse, and for each batch."""
    feed = batches(sf)
    next(feed)
    spark = session("2g")
    begin = time.perf_counter()
    db = ec.connect(spark=spark, path=path)
    opening = time.perf_counter() - begin
    found, how = [], ""
    for _ in range(COUNT):
        batch = feed.send(rows)
        clock, processor = time.perf_counter(), processor_time()
        done = db.apply(batch)
        found.append((time.perf_counter() - clock, processor_time() - processor))
        how = done.notes[0].removeprefix("updated by ").partition(":")[0] if done.notes else ""
    if not db.verify([n.lower() for n in FIVE]):
        raise SystemExit("a view is not what Spark computes, so there is no figure for it")
    return {"opening": opening, "batches": found, "how": how}


if __name__ == "__main__":
    print(json.dumps(follow(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))))
