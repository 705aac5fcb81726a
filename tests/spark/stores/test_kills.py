"""Drivers that are killed lose nothing and double nothing, and of twelve one wins: small campaigns (`make kills-stores` runs more)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_killed_drivers_lose_nothing() -> None:
    pytest.importorskip("moto")
    command = [sys.executable, "-m", "tests.spark.stores.killing", "--kills", "8", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sum(json.loads(done.stdout).values()) == 8


@pytest.mark.slow
@pytest.mark.parametrize("place", ["s3", "disk"])
def test_of_twelve_processes_one_wins(place: str) -> None:
    pytest.importorskip("moto")
    command = [sys.executable, "-m", "tests.spark.stores.racing", "--rounds", "2", "--place", place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["conflicts"] == 22
