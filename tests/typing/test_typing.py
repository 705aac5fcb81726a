"""A type checker accepts right queries and finds wrong fields, as an editor would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def errors() -> dict[tuple[str, int], set[str]]:
    """What mypy finds in both files, by file and line; it is run once."""
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--no-error-summary",
        "--show-error-codes",
    ]
    run = subprocess.run(
        [*command, str(HERE / "good.py"), str(HERE / "bad.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found: dict[tuple[str, int], set[str]] = {}
    for name, line, code in re.findall(r"(\w+\.py):(\d+): error: .*\[([\w-]+)\]", run.stdout):
        found.setdefault((name, int(line)), set()).add(code)
    return found


def test_right_queries_are_accepted(errors: dict[tuple[str, int], set[str]]) -> None:
    assert {place: codes for place, codes in errors.items() if place[0] == "good.py"} == {}


def test_wrong_queries_are_found(errors: dict[tuple[str, int], set[str]]) -> None:
    lines = (HERE / "bad.py").read_text().splitlines()
    marked = {
        ("bad.py", number): {mark.group(1)}
        for number, line in enumerate(lines, 1)
        if (mark := re.search(r"# wrong: ([\w-]+)$", line))
    }
    assert len(marked) == 15
    found = {place: codes for place, codes in errors.items() if place[0] == "bad.py"}
    assert found.keys() == marked.keys()
    for place, codes in marked.items():
        assert codes <= found[place], place


def test_pyright_agrees() -> None:
    pytest.importorskip("pyright", reason="pyright is not installed: pip install pyright")
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", str(HERE / "entities.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if not run.stdout.startswith("{"):
        pytest.skip("pyright cannot run here: it downloads Node.js when it runs for the first time")
    found = {
        d["range"]["start"]["line"] + 1
        for d in json.loads(run.stdout)["generalDiagnostics"]
        if d["severity"] == "error"
    }
    lines = (HERE / "entities.py").read_text().splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if "# wrong" in line}
