"""Pathway, and pg_ivm in a server of PostgreSQL of its own: programs of an environment of their own, `.venv-peers`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from bench.history import Missing
from bench.peers.contest import Measured, Peer, by_program
from bench.peers.events_file import Streams

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PATHWAY = "0.33.0"
PSYCOPG = "3.3.9"
EXTENSION = "extension/pg_ivm.control"
FOLDER = "EVERCURRENT_PG_IVM"
"""An environment variable: the folder of programs of a PostgreSQL that has the extension."""


@cache
def installed(package: str, version: str) -> None:
    """Installs a package into the environment, which is made if it is not there."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ROOT / ".venv-peers")], check=True)
    name = package.partition("[")[0]
    look = [str(PYTHON), "-c", f"from importlib.metadata import version; print(version({name!r}))"]
    if subprocess.run(look, capture_output=True, text=True, check=False).stdout.strip() == version:
        return
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, f"{package}=={version}"], capture_output=True, text=True, check=False)
    if done.returncode:
        python = ".".join(map(str, sys.version_info[:2]))
        raise Missing(f"pip cannot install {package} {version} for Python {python}")


def pathway() -> Peer:
    installed("pathway", PATHWAY)
    environment = {**os.environ, "PATHWAY_THREADS": "1", "PYTHONHASHSEED": "0"}

    def measure(query: str, batch: int, streams: Streams) -> Measured:
        return by_program(
            [str(PYTHON), str(PROGRAMS / "pathway_peer.py")], query, batch, streams, environment
        )

    return Peer("Pathway", PATHWAY, measure)


def pg_ivm() -> Peer:
    folder, control = server()
    installed("psycopg[binary]", PSYCOPG)
    found = re.search(r"default_version *= *'([^']+)'", control.read_text())
    postgres = subprocess.run(
        [str(folder / "postgres"), "--version"], capture_output=True, text=True, check=True
    )
    release = re.search(r"\(PostgreSQL\) (\S+)", postgres.stdout)
    version = ", PostgreSQL ".join(match.group(1) for match in (found, release) if match)
    environment = {**os.environ, FOLDER: str(folder)}

    def measure(query: str, batch: int, streams: Streams) -> Measured:
        return by_program([str(PYTHON), str(PROGRAMS / "pg_ivm_peer.py")], query, batch, streams, environment)

    return Peer("pg_ivm", version, measure)


def server() -> tuple[Path, Path]:
    """The folder of a server's programs, and the control file of the extension in it."""
    named = os.environ.get(FOLDER)
    folders = [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        share = folder.parents[3] / "share" / "postgresql" / folder.parent.name / EXTENSION
        if share.exists():
            return folder, share
    if named:
        raise Missing(f"the PostgreSQL in {FOLDER} has no extension pg_ivm")
    if not folders:
        raise Missing("there is no PostgreSQL here (Debian: apt-get install postgresql)")
    return from_apt(folders[0])


def from_apt(folder: Path) -> tuple[Path, Path]:
    """Installs Debian's package of the extension, where there is one for the server and the right to."""
    package = f"postgresql-{folder.parent.name}-pg-ivm"
    policy = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True, check=False)
    if "Candidate: " not in policy.stdout or "Candidate: (none)" in policy.stdout:
        raise Missing(
            f"apt has no {package} for the server installed; with the extension built from its source, name the "
            f"folder of the server's programs in {FOLDER}"
        )
    command = ["apt-get", "install", "-y", "-qq", package]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        raise Missing(f"{package} is not installed: apt-get install {package}")
    return folder, Path("/usr/share/postgresql") / folder.parent.name / EXTENSION
