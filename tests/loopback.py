"""Programs on loopback that tests talk to: a free port, and a server for as long as a block.

port = free_port()
with serving([sys.executable, "-m", "http.server", str(port)], port):
    ...                                      # it answers; behind the block it is gone
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

PATIENCE = 60.0
"""Seconds in which a server must answer."""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def serving(command: Sequence[str], port: int) -> Iterator[None]:
    """Runs a program as long as the block, which begins when the program answers on the port."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not answers(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} does not answer on port {port} (exit code {server.poll()})")
            time.sleep(0.1)
        yield
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0
