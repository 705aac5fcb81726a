"""The walks of `docs/architecture.md` name functions that are there, and that run in this order."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import evercurrent as ec

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(r"^\| \d+ \| `([\w/]+\.py)`: `([\w.]+)` \|", re.MULTILINE)


def steps() -> list[tuple[str, str]]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return STEP.findall(text)


def names(module: str) -> set[str]:
    """Functions, classes, and methods as `Class.method`."""
    tree = ast.parse((ROOT / "src" / "evercurrent" / module).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
    return found


@pytest.mark.parametrize(("module", "name"), steps(), ids=str)
def test_a_step_is_there(module: str, name: str) -> None:
    assert name in names(module)


def walk(title: str) -> list[tuple[str, str]]:
    """The steps of one walk."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return STEP.findall(text.split(f"\n## {title}\n")[1].split("\n## ")[0])


def first_calls(run: Callable[[], object]) -> list[tuple[str, str]]:
    """The functions that are called, each once, in the order of their first calls."""
    found: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "evercurrent" in frame.f_code.co_filename:
            module = frame.f_code.co_filename.rpartition("src/evercurrent/")[2]
            found.setdefault((module, frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(found)


def test_a_change_in_process_takes_the_steps_in_their_order() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL)")
    db.execute("CREATE VIEW v AS SELECT b, count(*) AS n FROM t GROUP BY b")
    db.view("v").subscribe(lambda change: None, when="before")
    db.view("v").subscribe(lambda change: None)
    found = first_calls(lambda: db.execute("INSERT INTO t VALUES (1, 1), (2, 1)"))
    expected = walk("A change in process")
    assert [step for step in found if step in expected] == expected
