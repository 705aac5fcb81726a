"""Views on Spark: what a batch costs beside recomputing the view and writing it, end to end, in one session.

A batch takes orders with their lines out of the data and puts as many new ones in, spread over all keys. The time of a
batch is that of `db.apply`: intake, constraints, program, commit and publishing.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evercurrent as ec
from bench.measure import machine
from bench.report import RESULTS, Result, Table, save
from bench.spark_data import Recompute, batches, linked, loaded, session
from bench.views_bench import texts

ABOUT = (
    "TPC-H on Spark in local mode, tables with their primary keys, each view alone over the same tables, policy `auto`. A "
    "batch changes orders and lineitem together: half of its rows go, half come, spread over all keys. Recomputing reads the "
    "generated Parquet files and writes the result as Parquet; it does not take in the change. Bytes read are those of "
    "pages of mapped copies, and of row groups and columns where there is no copy; small files stay in memory."
)
SIZES = (100, 10_000, 100_000)
FIVE = ("Q3", "Q5", "Q6", "Q13", "Q18")
CHECKED = ("Q6", "Q4", "Q12", "Q18")
"""The views that are compared with Spark's SQL at SF 10, where that takes long."""
SHAPES = {"Q1": "few groups", "Q3": "join, groups, top 10", "Q13": "outer join, groups of groups"}
SHARES = (0.0001, 0.001, 0.01, 0.03)


def timed(db: Any, feed: Any, rows: int) -> tuple[float, Any]:
    batch = feed.send(rows)
    begin = time.perf_counter()
    run = db.apply(batch)
    return time.perf_counter() - begin, run


def require(db: Any, names: list[str]) -> None:
    report = db.verify(names)
    if not report:
        raise SystemExit(f"an answer is wrong, so there is no figure for it\n{report}")


def bytes_under(folder: Any, stores: Any) -> int:
    """What files and their mapped copies take."""
    files = [f for s in stores for x in s.segments for f in x.files]
    return sum(os.path.getsize(p) for f in files for p in folder.traces(f))


def measured_before(result: Result, columns: list[str], names: list[str]) -> list[list[Any]]:
    """What an earlier run found of other views than these."""
    path = RESULTS / f"{result.name}.json"
    if result.quick or not path.exists():
        return []
    tables = json.loads(path.read_text())["tables"][:1]
    return [row for t in tables if t["columns"] == columns for row in t["rows"] if row[0] not in names]


@dataclass
class Ground:
    """Where a benchmark runs: one warehouse at one scale factor."""

    spark: Any
    sf: float
    place: Path
    db: Any
    recompute: Recompute
    feed: Any
    load: float

    @property
    def runs(self) -> int:
        """How often a recomputation is timed."""
        return 2 if self.sf <= 1 else 1


@contextmanager
def ground(sf: float, memory: str) -> Iterator[Ground]:
    spark = session(memory)
    source = loaded(spark, sf)
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-", dir=source.parent))
    try:
        load = linked(source, place / "w")
        feed = batches(sf)
        next(feed)
        db = ec.connect(spark=spark, path=place / "w")
        yield Ground(spark, sf, place / "w", db, Recompute(spark, sf, place / "recomputed"), feed, load)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def each_view(g: Ground, result: Result, names: list[str], checked: list[str]) -> None:
    """Every view alone: creation, what it keeps, batches of three sizes, recomputation."""
    columns = ["view", "create, s", "state, MB"]
    columns += [f"{n:,} rows, s" for n in SIZES]
    columns += ["MB read, 10,000 rows", "recompute, s"] + [f"ratio, {n:,}" for n in SIZES] + ["recomputed at"]
    table = Table(f"Each view alone, SF {g.sf:g}", columns, measured_before(result, columns, names))
    result.tables.append(table)
    tables = set(g.db._core.snapshot.stores)
    folder = g.db._core.engine.folder
    base = bytes_under(folder, [g.db._core.snapshot.stores[k] for k in tables])
    for name in names:
        text = texts()[name]
        begin = time.perf_counter()
        g.db.execute(f"CREATE VIEW v AS {text}", policy="auto")
        created = time.perf_counter() - begin
        states = [s for k, s in g.db._core.snapshot.stores.items() if k not in tables]
        kept = bytes_under(folder, states)
        timed(g.db, g.feed, 100)  # the first batch of a view opens its files
        found, read, full = [], 0, []
        for n in SIZES:
            took, run = timed(g.db, g.feed, n)
            found.append(took)
            read = run.bytes_read if n == 10_000 else read
            if any(v.strategy == "full" for v in run.views):
                full.append(f"{n:,}")
        again = g.recompute.seconds(text, g.runs)
        if name in checked:
            require(g.db, ["v"])
        table.rows.append(
            [
                name,
                created,
                kept / 1e6,
                *found,
                read / 1e6,
                again,
                *(again / t for t in found),
                ", ".join(full),
            ]
        )
        g.db.execute("DROP VIEW v")
        g.db.vacuum(keep=1, hours=0)
        print(*table.rows[-1], flush=True)
        table.rows.sort(key=lambda row: int(row[0][1:]))
        table.notes[:] = said(table, base, g.load, checked)
        save(result)


def said(table: Table, base: int, load: float, checked: list[str]) -> list[str]:
    """What the rows of a table of views say together."""
    column = table.columns.index
    ratios = {n: [row[column(f"ratio, {n:,}")] for row in table.rows] for n in SIZES}
    kept = [row[column("state, MB")] for row in table.rows]
    means = ", ".join(f"{statistics.geometric_mean(r):.1f} at {n:,} rows" for n, r in ratios.items())
    notes = [f"Geometric mean of the ratios: {means}."]
    for n, found in ratios.items():
        slower = [row[0] for row, r in zip(table.rows, found, strict=True) if r < 1]
        notes.append(f"Slower than recomputing at {n:,} rows: {', '.join(slower) or 'none'}.")
    notes.append(
        f"The tables take {base / 1e6:,.0f} MB with their mapped copies; what is kept for a view takes {max(kept):,.0f} MB at "
        f"most and {statistics.mean(kept):,.0f} MB on average, copies included. Loading all tables took {load:.0f} s."
    )
    whole = "Every view was" if len(checked) == len(table.rows) else f"{', '.join(checked)} were"
    notes.append(f"{whole} compared with Spark's own SQL after the batches, both ways, and equal.")
    return notes


def growth(result: Result) -> None:
    """The time of a batch here beside that at SF 1, if that was measured."""
    small = RESULTS / "spark.json"
    if not small.exists():
        return
    earlier = {row[0]: row for t in json.loads(small.read_text())["tables"][:1] for row in t["rows"]}
    table = Table(
        "Ten times the data: time of a batch at SF 10 / at SF 1", ["view", *map("{:,} rows".format, SIZES)]
    )
    for row in result.tables[0].rows:
        if row[0] in earlier:
            table.rows.append([row[0], *(a / b for a, b in zip(row[3:6], earlier[row[0]][3:6], strict=True))])
    if table.rows:
        means = [statistics.geometric_mean(r[i] for r in table.rows) for i in (1, 2, 3)]
        table.notes.append(
            "Geometric mean: "
            + ", ".join(f"{m:.1f} at {n:,} rows" for m, n in zip(means, SIZES, strict=True))
            + "."
        )
        result.tables.append(table)


def together(g: Ground, result: Result, quick: bool) -> None:
    """Five views in one warehouse: the floor, and the reading of views with many batches behind them."""
    for name in FIVE:
        g.db.execute(f"CREATE VIEW {name.lower()} AS {texts()[name]}")
    timed(g.db, g.feed, 100)
    table = Table(
        f"Five views together ({', '.join(FIVE)}), SF {g.sf:g}",
        ["batches before", "100 rows, s", "MB read", "segments of a store, at most", "read of Q18, s"],
    )
    done = 1
    for upto in (1, 10, 30) if quick else (1, 50, 200):
        while done < upto:
            timed(g.db, g.feed, 100)
            done += 1
        took, run = timed(g.db, g.feed, 100)
        done += 1
        begin = time.perf_counter()
        g.db.view("q18").rows()
        read = time.perf_counter() - begin
        most = max(len(s.segments) for s in g.db._core.snapshot.stores.values())
        table.rows.append([upto, took, run.bytes_read / 1e6, most, read])
        print(*table.rows[-1], flush=True)
    require(g.db, [n.lower() for n in FIVE])
    whole = sum(g.recompute.seconds(texts()[n]) for n in FIVE)
    table.notes.append(f"Recomputing the five views and writing them took {whole:.1f} s.")
    for name in FIVE:
        g.db.execute(f"DROP VIEW {name.lower()}")
    result.tables.append(table)
    save(result)


def crossover(g: Ground, result: Result) -> None:
    """The time of a batch by the share of orders that it changes."""
    orders = int(1_500_000 * g.sf)
    columns = ["view", "shape", *(f"{s:.2%} changed" for s in SHARES), "recompute, s"]
    title = (
        f"Ratio of recomputing to refreshing, by share of orders changed, SF {g.sf:g}, policy `incremental`"
    )
    table = Table(title, columns)
    for name, shape in SHAPES.items():
        g.db.execute(f"CREATE VIEW v AS {texts()[name]}")
        timed(g.db, g.feed, 100)
        again = g.recompute.seconds(texts()[name])
        ratios = [again / timed(g.db, g.feed, max(10, int(orders * share * 10)))[0] for share in SHARES]
        require(g.db, ["v"])
        table.rows.append([name, shape, *ratios, again])
        print(*table.rows[-1], flush=True)
        g.db.execute("DROP VIEW v")
    result.tables.append(table)
    save(result)


def run(quick: bool, views: list[str] | None = None) -> Result:
    """At SF 1: all views, five together, the share of the data at which recomputing wins; or some views once more."""
    names = views or (list(FIVE) if quick else list(texts()))
    result = Result("spark", ABOUT, [], machine(), quick)
    others = json.loads((RESULTS / "spark.json").read_text())["tables"][1:] if views else []
    with ground(0.1 if quick else 1.0, "2g" if quick else "6g") as g:
        each_view(g, result, names, list(FIVE))
        if views:
            result.tables += [Table(**t) for t in others]
            return result
        together(g, result, quick)
        crossover(g, result)
    return result


def run_large(quick: bool, views: list[str] | None = None) -> Result:
    """At SF 10: all views, or these and what earlier runs found of the others; how the time of a batch has grown."""
    names = list(CHECKED[:2]) if quick else views or list(texts())
    result = Result("spark10", ABOUT, [], machine(), quick)
    with ground(1.0 if quick else 10.0, "8g") as g:
        each_view(g, result, names, list(CHECKED))
        growth(result)
    return result
