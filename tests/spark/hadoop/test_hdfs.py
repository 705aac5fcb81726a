"""A warehouse on HDFS: a name node and a data node of Hadoop's own, in a process of their own with the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.hadoop.hdfs import jar

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        not os.environ.get("EVERCURRENT_HDFS"),
        reason="a lane of its own: make test-hdfs (EVERCURRENT_HDFS=1)",
    ),
    pytest.mark.skipif(not jar().exists(), reason=f"{jar().name} is not there: make hdfs-jar fetches it"),
]


def test_a_warehouse_on_hdfs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.hadoop.hdfs", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["operations", "race", "warehouse"]
