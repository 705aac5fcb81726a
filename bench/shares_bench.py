"""Large batches at a large scale: a percent, three and ten of all orders with their lines, into each view of TPC-H alone.

A batch deletes orders with their lines and inserts them again under other keys. The next view changes them back, so that the tables
keep their size however many views are measured. Batches are Parquet files that tasks read.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb

import evercurrent as ec
from bench import tpch
from bench.measure import machine, peak_memory, processor_time, reset_peaks
from bench.report import RESULTS, Result, Table, save
from bench.spark_bench import bytes_under
from bench.spark_data import Recompute, linked, loaded, session
from bench.views_bench import tables_of, texts

ABOUT = (
    "TPC-H on Spark in local mode, tables with their primary keys, each view alone over the same tables, policy `incremental`. A batch "
    "deletes a share of all orders with their lines and inserts as many under other keys, spread over all keys, so that it has twice as many "
    "rows as its share says; it comes as Parquet files. A batch is `db.apply`: intake, constraints, the new files of the tables, the view and "
    "the commit. Peaks of memory are those during the three batches, mapped pages of files included. *Without a view* is the same batch into "
    "the same tables with no view over them. Recomputing reads the generated Parquet "
    "files, computes the query and writes its result; it does not take in the change, so that the ratio compares taking in and recomputing "
    "with a batch. Processor time of the driver, the JVM and Python's workers together, and the clock beside it. One run each."
)
SHARES = (0.01, 0.03, 0.1)
FIVE = ("Q1", "Q3", "Q9", "Q17", "Q21")
AIM = 1.5
"""Where creating a view takes at most so many times what Spark takes for the query alone, writing what is kept is not measured."""
ALL_SHARES = ("Q1", "Q3", "Q9", "Q18", "Q21")
"""The views that take the largest batch too at full size, where it takes a minute."""
SHOWS_KEYS = {"Q3": "l_orderkey", "Q18": "o_orderkey"}
"""Queries whose rows have a column with keys of orders, which the batches change."""
SMALL = 1000
"""Stores of at most so many rows are written in no time."""
KEYS = (("orders", "o_orderkey"), ("lineitem", "l_orderkey"))


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Processor time and time by the clock."""
    clock, processor = time.perf_counter(), processor_time()
    run()
    return processor_time() - processor, time.perf_counter() - clock


class Batches:
    """The files of all batches, forwards and backwards."""

    def __init__(self, spark: Any, sf: float, place: Path) -> None:
        self.spark, self.place = spark, place
        self.rows: dict[float, int] = {}
        self.back = dict.fromkeys(SHARES, False)
        folder = tpch.folder(sf)
        with duckdb.connect(":memory:") as con:
            con.execute(
                f"CREATE TABLE o AS SELECT o_orderkey AS k FROM read_parquet('{folder}/orders.parquet')"
            )
            first = 0.0
            for share in SHARES:
                # disjoint parts of all orders, so that a view can take one batch after another
                part = f"hash(k) / 18446744073709551616.0 >= {first} AND hash(k) / 18446744073709551616.0 < {first + share}"
                con.execute(f"CREATE OR REPLACE TABLE picked AS SELECT k FROM o WHERE {part}")
                first += share
                self.rows[share] = sum(self.write(con, folder, share, *pair) for pair in KEYS)

    def write(self, con: Any, folder: Path, share: float, table: str, key: str) -> int:
        """Writes one table's part of a batch, forwards and backwards; returns how many rows it has."""
        for back, (old, new) in enumerate((("delete", "insert"), ("insert", "delete"))):
            source = f"FROM read_parquet('{folder}/{table}.parquet') WHERE {key} IN (FROM picked)"
            # of 32 keys in a row TPC-H uses eight: the next eight are free
            con.execute(
                f"COPY (SELECT *, '{old}' AS _change_type {source} UNION ALL "
                f"SELECT * REPLACE ({key} + 8 AS {key}), '{new}' {source}) "
                f"TO '{self.file(share, table, bool(back))}' (FORMAT parquet, ROW_GROUP_SIZE 500000)"
            )
        counted: int = con.sql(f"SELECT count(*) FROM '{self.file(share, table, False)}'").fetchall()[0][0]
        return counted

    def file(self, share: float, table: str, back: bool) -> Path:
        return self.place / f"{table}-{share:g}{'-back' if back else ''}.parquet"

    def each(self, shares: Iterable[float] = SHARES) -> Iterator[tuple[float, dict[str, Any]]]:
        """The batches of one view; the next of each share goes the other way."""
        read = self.spark.read.parquet
        for share in shares:
            back, self.back[share] = self.back[share], not self.back[share]
            yield share, {t: read(str(self.file(share, t, back))) for t, _ in KEYS}


class Bench:
    """One warehouse, its batches, and the tables that are filled."""

    def __init__(self, spark: Any, sf: float, place: Path, db: Any, save_now: Callable[[], None]) -> None:
        self.spark, self.sf, self.place, self.db, self.save_now = spark, sf, place, db, save_now
        self.batches = Batches(spark, sf, place)
        self.recompute = Recompute(spark, sf, place / "recomputed")
        self.base = set(db._core.snapshot.stores)
        shares = [f"{s:.0%}" for s in SHARES]
        self.first_day = Table(
            f"Creating a view, SF {sf:g}, seconds",
            [
                "view",
                "Spark computes",
                "Spark writes what is kept",
                "create",
                "ratio",
                "create, by the clock",
                "ratio by the clock",
                "kept, MB",
            ],
        )
        self.changes = Table(
            f"Batches by share of orders changed, SF {sf:g}: seconds of processor time",
            ["view", "recompute", *shares, *(f"ratio, {s}" for s in shares)],
        )
        self.clock = Table(
            f"The same by the clock, SF {sf:g}: seconds",
            [
                "view",
                "recompute",
                *shares,
                *(f"ratio, {s}" for s in shares),
                "run by",
                "peak of the driver, MB",
                "peak of a task, MB",
            ],
        )
        self.alone: list[tuple[float, float]] = []

    @property
    def tables(self) -> list[Table]:
        return [self.first_day, self.changes, self.clock]

    def without_views(self) -> None:
        """The same batches with no view to update; there and back, the second time counts."""
        for _ in range(2):
            self.alone = [timed(lambda b=batch: self.db.apply(b)) for _, batch in self.batches.each()]
        self.tidy()
        for table, index in ((self.changes, 0), (self.clock, 1)):
            table.rows.append(["without a view", None, *(a[index] for a in self.alone)])
            table.rows[-1] += [None] * (len(table.columns) - len(table.rows[-1]))

    def view(self, name: str) -> None:
        """Creates one view, lets it take all batches, and drops it."""
        text = texts()[name]
        again = timed(lambda: self.recompute.once(text))
        create = timed(lambda: self.db.execute(f"CREATE VIEW v AS {text}", policy="incremental"))
        stores = {k: s for k, s in self.db._core.snapshot.stores.items() if k not in self.base}
        folder = self.db._core.engine.folder
        kept = bytes_under(folder, list(stores.values())) / 1e6
        large = [s for s in stores.values() if s.rows > SMALL and create[0] > AIM * again[0]]
        written = [write_sorted(self.spark, folder, s, self.place) for s in large]
        whole = [again[i] + sum(w[i] for w in written) for i in (0, 1)]
        self.first_day.rows.append(
            [
                name,
                again[0],
                whole[0] - again[0],
                create[0],
                create[0] / whole[0],
                create[1],
                create[1] / whole[1],
                kept,
            ]
        )
        print(*self.first_day.rows[-1], flush=True)
        self.require_equal(name)
        if not tables_of(text) & {table for table, _ in KEYS}:
            for table in (self.changes, self.clock):
                table.rows.append([name, again[table is self.clock], *[None] * (len(table.columns) - 2)])
        else:
            self.change(name, again)
            self.require_equal(name)
        self.db.execute("DROP VIEW v")
        self.tidy()

    def change(self, name: str, again: tuple[float, float]) -> None:
        """The batches of one view."""
        found: list[tuple[float, float]] = []
        how: set[str] = set()
        reset_peaks()
        most = None if self.sf <= 1 or name in ALL_SHARES else -1
        for share, batch in self.batches.each(SHARES[:most]):
            runs: list[Any] = []
            found.append(timed(lambda b=batch, r=runs: r.append(self.db.apply(b))))
            how.update(runs[0].notes)
            steps = {k: round(v, 2) for k, v in runs[0].steps.items()}
            print(name, f"{share:.0%}", *found[-1], steps, *runs[0].notes, flush=True)
        memory = peak_memory()
        for table, i in ((self.changes, 0), (self.clock, 1)):
            ratios = [(again[i] + a[i]) / f[i] for a, f in zip(self.alone, found, strict=False)]
            blank = [None] * (len(SHARES) - len(found))
            table.rows.append([name, again[i], *(f[i] for f in found), *blank, *ratios, *blank])
        ways = sorted({note.removeprefix("updated by ").partition(":")[0] for note in how})
        self.clock.rows[-1] += [", ".join(ways), *memory]

    def require_equal(self, name: str) -> None:
        """Compares the view with what Spark has computed from the generated files; batches change nothing else than keys of orders."""
        rows = self.spark.read.parquet(str(self.place / "recomputed")).collect()
        view = self.db.view("v")
        left_out = SHOWS_KEYS.get(name)
        places = [i for i, c in enumerate(view.columns) if c != left_out]
        ours, theirs = (
            sorted(repr([row[i] for i in places]) for row in some) for some in (view.rows(), rows)
        )
        if ours != theirs:
            raise SystemExit(f"{name} is not what Spark computes, so there is no figure for it")

    def tidy(self) -> None:
        self.db.vacuum(keep=1, hours=0)
        self.save_now()

    def note(self, load: float) -> None:
        """Says what the rows say together."""
        changed = [row for row in self.changes.rows[1:] if row[2] is not None]
        for i, share in enumerate(SHARES):
            column = self.changes.columns.index(f"ratio, {share:.0%}")
            measured = [row for row in changed if row[column] is not None]
            ratios = {row[0]: row[column] for row in measured}
            slower = [name for name, ratio in ratios.items() if ratio < 1]
            added = {row[0]: row[1] / max(row[2 + i] - self.changes.rows[0][2 + i], 0.01) for row in measured}
            dearer = [name for name, ratio in added.items() if ratio < 1]
            self.changes.notes.append(
                f"{share:.0%} of the orders are {self.batches.rows[share]:,} changed rows. Slower than taking in and recomputing: "
                f"{', '.join(slower) or 'none'}; geometric mean of the ratios {statistics.geometric_mean(ratios.values()):.2f}. What a view "
                f"adds to the batch without it costs more than recomputing: {', '.join(dearer) or 'none'}."
            )
        untouched = [row[0] for row in self.changes.rows[1:] if row[2] is None]
        self.changes.notes.append(
            f"{', '.join(untouched) or 'No views'} read neither orders nor lineitem. Every view was compared with what Spark had computed, when it "
            "was created and after its batches, and equal (Q3 and Q18 without the keys of orders, which batches change)."
        )
        rows = sum(tpch_rows(self.sf).values())
        self.clock.notes.append(
            f"Loading the eight tables, {rows:,} rows, took {load:.0f} s by the clock: {rows / load:,.0f} rows a second."
        )
        ratios = [row[4] for row in self.first_day.rows]
        above = [row[0] for row in self.first_day.rows if row[4] > AIM]
        self.first_day.notes.append(
            "*Spark writes what is kept*: it reads the files of the states and writes them once more, sorted by their keys; measured where "
            f"creating the view takes more than {AIM} times computing its query, and part of the ratio then. "
            f"Median of the ratios {statistics.median(ratios):.2f}; above {AIM}: {', '.join(above) or 'none'}."
        )

    def resume(self, earlier: Path, names: list[str]) -> None:
        """Takes over what an earlier run has found of other views."""
        for mine, found in zip(self.tables, json.loads(earlier.read_text())["tables"], strict=True):
            mine.rows += [row for row in found["rows"] if row[0] not in names]
        self.alone = list(zip(self.changes.rows[0][2:5], self.clock.rows[0][2:5], strict=True))


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


def tpch_rows(sf: float) -> dict[str, int]:
    folder = tpch.folder(sf)
    with duckdb.connect(":memory:") as con:
        return {
            n: con.sql(f"SELECT count(*) FROM '{folder}/{n}.parquet'").fetchall()[0][0] for n in tpch.NAMES
        }


def run(quick: bool, views: list[str] | None = None) -> Result:
    """All views at SF 1."""
    return measure("shares", 0.1 if quick else 1.0, quick, list(FIVE) if quick else list(texts()), views)


def run_large(quick: bool, views: list[str] | None = None) -> Result:
    """All views, or some, at SF 10."""
    return measure("shares10", 1.0 if quick else 10.0, quick, list(FIVE) if quick else list(texts()), views)


def measure(benchmark: str, sf: float, quick: bool, names: list[str], views: list[str] | None) -> Result:
    names = views or names
    result = Result(benchmark, ABOUT, [], machine(), quick)
    spark = session("6g" if sf > 1 else "2g")
    source = loaded(spark, sf)
    place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-", dir=source.parent))
    try:
        load = linked(source, place / "w")
        db = ec.connect(spark=spark, path=place / "w")
        bench = Bench(spark, sf, place, db, lambda: save(result))
        result.tables = bench.tables
        if views:
            bench.resume(RESULTS / f"{benchmark}.json", names)
        else:
            bench.without_views()
        for name in names:
            bench.view(name)
        bench.note(load)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return result
