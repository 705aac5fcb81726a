"""A real cluster: a master and two workers as processes of their own, and an executor that is killed in mid-batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.on_cluster import ROWS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="executors are found through /proc")
def test_an_executor_is_killed_in_mid_batch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.on_cluster", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["master"].startswith("spark://") and found["executors"] == 2
    assert found["killed"] == 1 and found["jobs"] > 0
    assert found["rows"] == ROWS and found["repeated"] and found["verified"]
    sums = {
        name: sum(i % 100 for i in range(ROWS) if i % 5 == k)
        for k, name in ((1, "one"), (2, "two"), (3, "three"))
    }
    assert found["view"] == sorted([name, ROWS // 5, s] for name, s in sums.items())
