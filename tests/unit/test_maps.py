"""Every package says what lies in it: its docstring has one line for each child, and none for what is not there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "evercurrent"
PACKAGES = sorted(p.parent for p in ROOT.rglob("__init__.py") if p.parent != ROOT)
MOST_FILES = 24
FLAT = {"frontend/sql", "frontend/oql", "frontend/python"}
"""Front ends: every file is one construct of a language."""


def children(package: Path) -> set[str]:
    modules = {p.stem for p in package.glob("*.py") if p.stem != "__init__"}
    return modules | {p.name for p in package.iterdir() if (p / "__init__.py").exists()}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_the_map_of_a_package_lists_its_children(package: Path) -> None:
    doc = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    listed = set(re.findall(r"^(\w+)(?= {2,}\S)", doc, re.MULTILINE))
    assert listed == children(package)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_package_is_a_drawer(package: Path) -> None:
    if package.relative_to(ROOT).as_posix() not in FLAT:
        assert len([p for p in package.glob("*.py") if p.stem != "__init__"]) <= MOST_FILES
