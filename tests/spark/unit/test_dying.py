"""Daemons of a test end with it, even if it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import subprocess, sys, time
from tests.spark.dying import die_with_parent
child = subprocess.Popen(["sh", "-c", "exec sleep 60"], preexec_fn=die_with_parent, start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_child_ends_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    state = Path(f"/proc/{child}/stat")
    assert state.exists()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while state.exists() and ") Z " not in state.read_text():
        assert time.monotonic() < deadline, "the child has outlived its parent"
        time.sleep(0.01)
