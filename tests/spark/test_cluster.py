"""A real cluster: a master and two workers as processes of their own, and an executor that is killed in mid-batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.dying import die_with_parent
from tests.spark.on_cluster import ROWS, expected

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = int(os.environ.get("EXECUTOR_KILLS", "2"))
"""Batches by tasks in which an executor is killed, after one by jobs."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="executors are found through /proc")
def test_an_executor_is_killed_in_mid_batch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.on_cluster", str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        timeout=600 + 30 * KILLS,
        check=False,
        cwd=ROOT,
        preexec_fn=die_with_parent,  # a run that is cut off leaves no daemons
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["master"].startswith("spark://") and found["executors"] == 2
    assert found["killed"] == 1 + KILLS and found["jobs"] > 0
    assert found["rows"] == ROWS and found["repeated"] and found["verified"]
    assert found["notes"] == ["updated by tasks: asked for"]
    assert found["view"] == [list(row) for row in expected(KILLS)]
