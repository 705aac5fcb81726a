"""The walks of `docs/architecture.md` name files and functions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

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
