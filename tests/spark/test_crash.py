"""A driver that is killed at any step of a commit loses nothing and doubles nothing.

A driver in a process of its own applies numbered batches; it kills itself with SIGKILL just before or after a step of the
protocol (writing a segment, writing the snapshot, linking the entry, publishing). It is started again until all batches
are in, sending every batch from the first on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DRIVER = """
import os, signal, sys
import evercurrent.engine.spark.engine as engine
from evercurrent.engine.spark import files, log, publish

path, step, when = sys.argv[1], sys.argv[2], int(sys.argv[3])
engine.private = lambda spark: None          # batches of this size need no cluster
count = 0

def fatal(function, after):
    def wrapped(*args, **options):
        global count
        count += 1
        if count == when and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **options)
        if count == when and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped

target, after = step.split(":")
if target == "write":
    files.Folder.write = fatal(files.Folder.write, after == "after")
elif target == "snapshot":
    log.Log._write = fatal(log.Log._write, after == "after")
elif target == "link":
    os.link = fatal(os.link, after == "after")
elif target == "publish":
    publish.publish_change = fatal(publish.publish_change, after == "after")
elif target == "tidy":
    files.Folder.tidy = fatal(files.Folder.tidy, after == "after")

from evercurrent.warehouse.database import Warehouse
db = Warehouse(None, path)
for i in range(6):
    changes = [{"_change_type": "insert", "id": i, "k": i % 2, "x": i}]
    if i:
        changes.append({"_change_type": "delete", "id": i - 1})
        changes.append({"_change_type": "insert", "id": 100 + i, "k": i % 2, "x": 1})
    db.apply({"t": changes}, batch=f"batch {i}")
print("done")
"""


@pytest.mark.parametrize(
    "step",
    [
        f"{target}:{side}"
        for target in ("write", "snapshot", "link", "publish", "tidy")
        for side in ("before", "after")
    ],
)
def test_killed_at_a_step(spark: SparkSession, tmp_path: Path, step: str) -> None:
    path = tmp_path / "warehouse"
    db = ec.connect(spark=spark, path=path)
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT)")
    db.execute("CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS s FROM t GROUP BY k")
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    killed = 0
    for when in (2, 5, 9, 3, 100_000):
        done = subprocess.run(
            [sys.executable, str(script), str(path), step, str(when)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, -9), done.stderr
        killed += done.returncode == -9
    assert killed, "nobody was killed"
    assert done.stdout.strip() == "done"
    after = ec.connect(spark=spark, path=path)
    expected = {5: (5, 1, 5)} | {100 + i: (100 + i, i % 2, 1) for i in range(1, 6)}
    assert sorted(after.table("t").rows()) == sorted(expected.values())
    assert sorted(after.view("v").rows()) == [(0, 2, 2), (1, 4, 8)]
    table = DeltaTable(str(path / "views" / "v")).to_pyarrow_table().to_pylist()
    assert sorted(tuple(r.values()) for r in table) == sorted(after.view("v").rows())
    batches = [e.batch for e in after._core.engine.log.entries() if e.batch]
    assert batches == [f"batch {i}" for i in range(6)], "every batch is there once"
