"""The examples of the documentation run: the Python blocks of README and docs, and the doctests of every module."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import evercurrent

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> list[str]:
    found = pkgutil.walk_packages(evercurrent.__path__, "evercurrent.")
    return ["evercurrent", *(m.name for m in found)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_python_blocks_of_a_page_run(page: Path) -> None:
    """Blocks of one page run one after another, in one namespace: prompts as doctests, others as they are."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    problems: list[str] = []
    for match in BLOCK.finditer(text):
        block, line = match.group(1), text.count("\n", 0, match.start()) + 1
        if ">>>" not in block:
            exec(compile(block, f"{page.name}:{line}", "exec"), names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), line)
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        runner.run(example, out=problems.append, clear_globs=False)
        names = example.globs
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", modules())
def test_the_doctests_of_a_module_hold(name: str) -> None:
    if name.startswith("evercurrent.postgres"):
        pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'evercurrent[postgres]'")
    if ".engine.spark" in name:
        pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'evercurrent[spark]'")
    module = importlib.import_module(name)
    problems: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(example, out=problems.append)
    assert not problems, "\n".join(problems)
