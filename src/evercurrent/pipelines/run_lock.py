"""One run of a pipeline at a time.

The operating system holds the lock for the process that runs the pipeline, so a run that was killed leaves none behind.

    with run_lock(folder): ...       in a second process: RunActive: another run of this pipeline is active: process 4711 on ...
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evercurrent.errors import ConflictError


class RunActive(ConflictError):
    """Another run of the same pipeline is active."""


@contextmanager
def run_lock(folder: Path, wait: float = 0.0) -> Iterator[None]:
    """Holds the lock of a pipeline; waits at most `wait` seconds for another run to end."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "run.lock"
    end = time.monotonic() + wait
    with path.open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise RunActive(
                        f"another run of this pipeline is active: {holder(path)}",
                        hint="wait until it has ended, or let this one wait: --wait SECONDS",
                    ) from None
                time.sleep(min(0.2, max(0.0, end - time.monotonic())))
        file.truncate(0)
        about = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        file.write(json.dumps(about))
        file.flush()
        yield


def holder(path: Path) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        about = json.loads(path.read_text())
        return f"process {about['process']} on {about['host']}, since {about['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return f"see {path}"
