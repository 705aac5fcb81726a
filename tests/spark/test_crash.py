"""A driver that is killed at any moment loses nothing and doubles nothing.

Drivers in processes of their own apply numbered batches and are killed with SIGKILL: just before or after each step of the
protocol, and at random times. They are started again until all batches are in, and send every batch from the first on.
EVERCURRENT_LONG=1 kills many more.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from evercurrent.warehouse.database import Warehouse
from tests.spark.killing import BATCHES, SCHEMA, STEPS, batch, expected_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("EVERCURRENT_LONG"))
SEED = int(os.environ.get("EVERCURRENT_SEED", "1"))


def killing(mode: str, folder: Path, number: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.killing", mode, str(folder), str(number), str(SEED)],
        capture_output=True,
        text=True,
        timeout=3600 if LONG else 600,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


def published(db: Warehouse, view: str) -> list[Any]:
    table = DeltaTable(str(db._core.engine.folder.root / "views" / view)).to_pyarrow_table().to_pylist()
    return sorted(tuple(r.values()) for r in table)


def require_whole(db: Warehouse, batches: list[str]) -> None:
    """Every batch is there once, every view is its query, and every published table is its view."""
    assert [e.batch for e in db._core.engine.log.entries() if e.batch] == batches, "every batch is there once"
    assert db.verify(), str(db.verify())
    for view in db.views:
        assert published(db, view) == sorted(db.view(view).rows()), view


NUMBERED = [f"batch {i}" for i in range(BATCHES)]


def test_killed_at_every_step(spark: SparkSession, tmp_path: Path) -> None:
    deaths = killing("steps", tmp_path, 20 if LONG else 2)
    assert set(deaths) == {f"{s}:{side}" for s in STEPS for side in ("before", "after")}
    assert all(deaths.values()), f"at some step nobody was killed: {deaths}"
    for name in deaths:
        db = Warehouse(spark, tmp_path / name.replace(":", "_"))
        assert sorted(db.table("t").rows()) == expected_rows(), name
        for view in db.views:
            assert published(db, view) == sorted(db.view(view).rows()), (name, view)
        if LONG or name == "link:after":
            require_whole(db, NUMBERED)
        else:
            assert [e.batch for e in db._core.engine.log.entries() if e.batch] == NUMBERED


def test_killed_at_random_times(spark: SparkSession, tmp_path: Path) -> None:
    found = killing("random", tmp_path, 500 if LONG else 15)
    assert found["deaths"] >= (500 if LONG else 15)
    for i in range(found["warehouses"]):
        db = Warehouse(spark, tmp_path / f"random_{i}")
        assert sorted(db.table("t").rows()) == expected_rows()
        if i == 0 or LONG:
            require_whole(db, NUMBERED)


def test_drivers_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """One wins, the others have changed nothing; repeated, every batch gets in."""
    drivers = 4 if LONG else 3
    killing("once", tmp_path, drivers)
    db = Warehouse(spark, tmp_path / "shared")
    wanted = {f"{n} {i}" for n in range(drivers) for i in range(BATCHES)}
    batches = [e.batch for e in db._core.engine.log.entries() if e.batch]
    assert len(batches) == len(wanted) and set(batches) == wanted
    require_whole(db, batches)


BY_SPARK = """
import sys
from evercurrent.engine.spark.private_session import local_session
from evercurrent.warehouse.database import Warehouse
from tests.spark.killing import BATCHES, batch

db = Warehouse(local_session("local[2]", {"spark.driver.bindAddress": "127.0.0.1"}), sys.argv[1], strategy="spark")
print("open", flush=True)
for i in range(BATCHES):
    db.apply(batch(i), batch=f"batch {i}")
    print(i, flush=True)
"""


def test_killed_while_spark_works(spark: SparkSession, tmp_path: Path) -> None:
    """The DataFrame path: the driver and its JVM die at a random moment of a batch that Spark works on."""
    chance = random.Random(SEED)
    path = tmp_path / "w"
    Warehouse(spark, path).execute(SCHEMA)
    killed = 0
    for _ in range(12 if LONG else 1):
        driver = subprocess.Popen(
            [sys.executable, "-c", BY_SPARK, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        assert driver.stdout is not None
        said = driver.stdout.readline().strip()
        assert said == "open", "the driver could not be started"
        begin = time.perf_counter()
        driver.stdout.readline()
        time.sleep(chance.random() * (time.perf_counter() - begin))
        os.killpg(driver.pid, signal.SIGKILL)
        killed += driver.wait() == -signal.SIGKILL
    assert killed
    db = Warehouse(spark, path, strategy="spark")
    done = {e.batch for e in db._core.engine.log.entries() if e.batch}
    assert done, "the driver got somewhere"
    for i in range(BATCHES if LONG else max(int(b.split()[1]) for b in done if b) + 2):
        repeated = db.apply(batch(i), batch=f"batch {i}").repeated
        assert repeated == (f"batch {i}" in done)
    db._core.engine.strategy = "driver"
    for i in range(BATCHES):
        db.apply(batch(i), batch=f"batch {i}")
    assert sorted(db.table("t").rows()) == expected_rows()
    require_whole(db, NUMBERED)
