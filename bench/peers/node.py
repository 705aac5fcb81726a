"""TanStack's db-ivm, installed by npm beside its program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from bench.history import Missing
from bench.peers.contest import Measured, Peer, by_program
from bench.peers.events_file import Streams

PROGRAMS = Path(__file__).parent / "programs"
PACKAGE = PROGRAMS / "node_modules" / "@tanstack" / "db-ivm" / "package.json"


def peer() -> Peer:
    found = shutil.which("node")
    npm = shutil.which("npm")
    if found is None or npm is None:
        raise Missing("there is no node or no npm here: install node 18 or newer")
    if not PACKAGE.exists():
        command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"npm cannot install @tanstack/db-ivm: {done.stderr.strip()[-200:]}")
    version = str(json.loads(PACKAGE.read_text())["version"])

    def measure(query: str, batch: int, streams: Streams) -> Measured:
        return by_program([str(found), str(PROGRAMS / "db_ivm.mjs")], query, batch, streams)

    return Peer("TanStack db-ivm", version, measure)
