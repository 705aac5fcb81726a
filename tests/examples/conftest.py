"""The Java cases, compiled once: `compiled` is the folder of their class files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

JAVA = Path(__file__).parent / "java"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of the cases, as Java 8 classes: some of what the patterns look for is gone from later runtimes."""
    into = tmp_path_factory.mktemp("classes")
    compile_java(into, *sorted(JAVA.rglob("*.java")))
    return into


def compile_java(into: Path, *sources: Path) -> None:
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("javac is not installed")
    command = [
        javac,
        "--release",
        "8",
        "-nowarn",
        "-g",
        "-cp",
        str(into),
        "-d",
        str(into),
        *map(str, sources),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
