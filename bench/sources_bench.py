"""From declaring sources to the first correct view: Delta tables of TPC-H by reference, beside copies of them.

    python -m bench.sources_bench --sf 1 [--memory 4g] [--ways copy,reference] [--lake DIR]

Each way runs in a warehouse of its own, in the same session, after one small run to warm it up. For each: the time to declare
the three sources, to read them, to create two views (a grouping of lineitem, and a join of all three), a refresh after one
percent of lineitem was deleted (its files are written again), and the bytes in the warehouse. The views are compared with
DuckDB. Steps are printed as they end; `--lake` names a folder for the Delta tables, which are kept there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from bench import tpch
from bench.spark_data import session

TABLES = {"lineitem": ["l_orderkey", "l_linenumber"], "orders": ["o_orderkey"], "customer": ["c_custkey"]}
VIEWS = {
    "pricing": "SELECT l_returnflag, l_linestatus, count(*) AS n, sum(l_quantity) AS q, sum(l_extendedprice) AS p "
    "FROM lineitem GROUP BY l_returnflag, l_linestatus",
    "segments": "SELECT c_mktsegment, count(*) AS n, sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem "
    "JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment",
}


def write_lake(sf: float, place: Path) -> None:
    """The tables as Delta tables, with the row groups and files that their writer chooses."""
    for name in TABLES:
        file = pyarrow.parquet.ParquetFile(tpch.folder(sf) / f"{name}.parquet")
        reader = pyarrow.RecordBatchReader.from_batches(
            file.schema_arrow, file.iter_batches(batch_size=500_000)
        )
        write_deltalake(str(place / name), reader)


def size(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def check(db: Any, lake: Path) -> None:
    """Compare the views with DuckDB over the files that the tables' logs name."""
    with duckdb.connect(":memory:") as con:
        for name in TABLES:
            files = DeltaTable(str(lake / name)).file_uris()
            listed = ", ".join(f"'{f.removeprefix('file://')}'" for f in files)
            con.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet([{listed}])")
        for name, query in VIEWS.items():
            wanted = sorted(con.execute(query).fetchall())
            assert sorted(db.view(name).rows()) == wanted, name


def run(spark: Any, lake: Path, place: Path, copy: bool, shown: bool) -> dict[str, float]:
    shutil.rmtree(place, ignore_errors=True)
    steps: dict[str, float] = {}
    begin = moment = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal moment
        steps[name], moment = time.perf_counter() - moment, time.perf_counter()
        if shown:
            way = "copy" if copy else "reference"
            print(f"  {way:10}{name:10}{steps[name]:8.2f} s   load {os.getloadavg()[0]:.1f}", flush=True)

    db = ec.connect(spark=spark, path=place, progress=False)
    for name, key in TABLES.items():
        db.source(name, format="delta", path=str(lake / name), key=key, copy=copy)
    lap("declare")
    db.refresh()
    lap("read")
    for name, query in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {query}")
        db.view(name).rows()
        lap(name)
    steps["first views"] = time.perf_counter() - begin
    steps["MB"] = size(place / "data") / 1e6
    check(db, lake)
    changed = DeltaTable(str(lake / "lineitem"))
    changed.delete(f"l_orderkey % 100 = {changed.version() + 1}")
    moment = time.perf_counter()
    db.refresh()
    lap("refresh")
    check(db, lake)
    steps["MB then"] = size(place / "data") / 1e6
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sf", type=float, default=1)
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--ways", default="copy,reference")
    parser.add_argument("--lake", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        spark = session(args.memory)
        for sf, shown in ((0.01, False), (args.sf, True)):
            lake = args.lake if shown and args.lake else root / f"lake{sf:g}"
            if not lake.exists():
                write_lake(sf, lake)
            if shown:
                print(f"SF {sf:g}: {size(lake) / 1e6:.0f} MB of Delta tables, load {os.getloadavg()[0]:.1f}")
            for way in args.ways.split(","):
                steps = run(spark, lake, root / "w", way == "copy", shown)
                if shown:
                    print(f"{way:10}", {k: round(v, 2) for k, v in steps.items()}, flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
