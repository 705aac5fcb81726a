"""Strict, lazy and hybrid views give the same answers on Spark, whenever they are read and whoever dies in between.

Views in every mode live in one warehouse; they are read at random times, and `verify` runs their texts by Spark itself over
the stored tables. EVERCURRENT_LONG=1 looks at many more worlds, and kills many more drivers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from evercurrent.catalog.nodes import Mode
from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.catch_up import catch_up_view
from evercurrent.warehouse.maintenance.retry import CATCH_UP
from tests.laws.chooser import Seeded
from tests.laws.queries import query
from tests.laws.world import World, perform
from tests.spark.killing import BATCHES, expected_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("EVERCURRENT_LONG"))
SEEDS = range(200 if LONG else 1)
VIEWS, TRANSACTIONS = 4, 4
MODES: tuple[Mode, ...] = ("strict", "lazy", "hybrid", "lazy", "hybrid")


@pytest.mark.parametrize("seed", SEEDS)
def test_random_views_in_random_modes_are_what_sparks_sql_says(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    c = Seeded(9000 + seed)
    world = World(c)
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    for table in world.tables:
        db.execute(table.create())
    texts = [world.query, *(query(c, world.tables, 2) for _ in range(VIEWS - 1))]
    # Over no rows these give the total row, as the standard says and Spark does not.
    texts = [text for text in texts if "ROLLUP" not in text and "CUBE" not in text]
    views = [*world.views, *((f"v{i}", text) for i, text in enumerate(texts))]
    for name, text in views:
        try:
            db.execute(f"CREATE VIEW {name} AS {text}", mode=c.pick(MODES))
        except EvercurrentError:
            continue  # what is refused is another test's matter
    perform(db, world.first)  # type: ignore[arg-type]
    for i in range(TRANSACTIONS):
        perform(db, world.next(8))  # type: ignore[arg-type]
        last = i == TRANSACTIONS - 1
        if last or c.chance(50):
            # What the driver has let wait is worked off by Spark in the end.
            db._core.engine.strategy = "spark" if last else "driver"
            db.view(c.pick(db.views)).rows()
            db._core.engine.strategy = "driver"
    judged = 0
    for view in db.views:
        try:
            report = db.verify([view])
        except AnalysisException:
            continue  # Spark does not accept the query
        assert not report.differing, f"{report}\n{world.story()}\n{views}"
        judged += not any(v.skipped for v in report.views)
    assert judged >= VIEWS // 2, "Spark judged most of them"


def test_what_the_driver_has_let_wait_is_worked_off_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Sums, bags, joins of what was grouped, and windows; each group of views by itself."""
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT, y DOUBLE); CREATE TABLE u (k INT, name STRING)"
    )
    sums = "SELECT k, sum(x) AS s, max(x) AS m FROM t GROUP BY k"
    queries = {
        "groups": "SELECT k, count(*) AS n, min(x) AS least, sum(y) AS f FROM t GROUP BY k",
        "nested": f"SELECT u.name, sum(v.s) AS s, count(*) AS n FROM ({sums}) v JOIN u ON v.k = u.k GROUP BY u.name",
        "ranks": "SELECT id, row_number() OVER (PARTITION BY k ORDER BY x DESC, id) AS r FROM t",
    }
    for mode in MODES[1:3]:
        db.execute(";".join(f"CREATE VIEW {mode}_{n} AS {q}" for n, q in queries.items()), mode=mode)
    insert = [{"_change_type": "insert", "id": i, "k": i % 5, "x": i * 7 % 11, "y": i / 8} for i in range(60)]
    names = [{"_change_type": "insert", "k": i % 4, "name": "ab"[i % 2]} for i in range(6)]
    db.apply({"t": insert, "u": names})
    before = {name: Counter(db.view(name).rows()) for name in db.views}
    since = db.version
    db.apply({"t": [{"_change_type": "delete", "id": i} for i in range(0, 60, 7)]})
    db.apply({"t": [{**row, "id": 100 + i, "x": 12 - i % 3} for i, row in enumerate(insert[:9])]})
    db.table("u").insert((3, "c"))
    db._core.engine.strategy = "spark"
    for name in before:
        assert catch_up_view(db._core, name).stores
    db._core.engine.strategy = "driver"
    caught = [r for r in db.history()[since:] if r.notes and "were deferred" in r.notes[0]]
    assert len(caught) == len(before)
    assert all(r.jobs for r in caught), "Spark has run"
    report = db.verify()
    assert report, str(report)
    for name in ("lazy_nested", "hybrid_nested"):
        total = before[name]
        for *row, change, version in db.view(name).changes(since=since).collect():
            assert version > since
            total[tuple(row)] += 1 if change == "insert" else -1
        assert {r: n for r, n in total.items() if n} == Counter(db.view(name).rows()), name


def test_a_driver_that_is_killed_between_the_commit_and_the_reader(
    spark: SparkSession, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.killing", "reads", str(tmp_path), "20" if LONG else "1", "1"],
        capture_output=True,
        text=True,
        timeout=3600 if LONG else 600,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    deaths = json.loads(done.stdout)
    assert all(deaths.values()), f"at some step nobody was killed: {deaths}"
    for name in deaths:
        db = Warehouse(spark, tmp_path / name.replace(":", "_"))
        entries = list(db._core.engine.log.entries())
        assert [e.batch for e in entries if e.batch] == [f"batch {i}" for i in range(BATCHES)], name
        assert CATCH_UP in [e.kind for e in entries], name
        rows = expected_rows()
        assert sorted(db.table("t").rows()) == rows, name
        wanted: dict[int, tuple[int, int, int, int]] = {}
        for k in {r[1] for r in rows}:
            xs = [r[2] for r in rows if r[1] == k]
            wanted[k] = (k, len(xs), sum(xs), max(xs))
        assert sorted(db.view("lazily").rows()) == sorted(wanted.values()), name
        names = [("n4", wanted[4 % 3][2])]
        assert db.view("partly").rows() == names, name
