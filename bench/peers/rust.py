"""differential-dataflow and dbsp: built by cargo from the crate in `rust/`, into its folder `target`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from bench.history import Missing
from bench.peers.contest import Measured, Peer, by_program
from bench.peers.events_file import Streams

CRATE = Path(__file__).parent / "rust"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", CRATE / "target"))
PROGRAMS = {"differential-dataflow": ("differential", []), "dbsp": ("dbsp_peer", ["--features", "dbsp"])}


def build(name: str) -> Path:
    """Returns the program of a peer, built."""
    program, features = PROGRAMS[name]
    cargo = shutil.which("cargo")
    if cargo is None:
        raise Missing("there is no cargo here: install Rust 1.93 or newer")
    command = [cargo, "build", "--release", "--quiet", "--bin", program, *features]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    done = subprocess.run(command, cwd=CRATE, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise Missing(f"cargo cannot build it: {last_error(done.stderr)}")
    return TARGET / "release" / program


def last_error(text: str) -> str:
    errors = [line for line in text.splitlines() if line.startswith("error")]
    return errors[-1] if errors else text.strip()[-200:]


def version(name: str) -> str:
    found: Any = tomllib.loads((CRATE / "Cargo.toml").read_text())["dependencies"][name]
    return str(found["version"] if isinstance(found, dict) else found).removeprefix("=")


def peer(name: str) -> Peer:
    program = build(name)

    def measure(query: str, batch: int, streams: Streams) -> Measured:
        return by_program([str(program)], query, batch, streams)

    return Peer(name, version(name), measure)
