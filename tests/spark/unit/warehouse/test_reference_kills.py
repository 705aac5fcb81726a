"""Drivers that follow a source by reference and are killed lose nothing and double nothing (`make kills-stores` runs more)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.slow
def test_killed_drivers_lose_nothing() -> None:
    command = [sys.executable, "-m", "tests.spark.reference_kills", "--kills", "3", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sum(json.loads(done.stdout).values()) >= 3
