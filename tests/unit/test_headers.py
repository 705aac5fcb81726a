"""The header of every module shows an example: one input and what comes of it.

A module's docstring has an example if it has one of these, after its first line:

- a doctest, which `tests/docs/test_examples.py` runs;
- two columns, an input and its output, with three blanks or more between them;
- an indented block, set off by a blank line, in which `=`, `->` or `#` separates the input from the output.

The four lines of a stateful operator (Delta, State, Cost, Correct because) say what it does, and are no example.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "evercurrent"
COLUMNS = re.compile(r"\S {3,}\S")
RESULT = re.compile(r"(^| )(=|->|#) ")
OPERATOR = re.compile(r"(Delta|State|Cost|Correct)\b")


def modules() -> list[Path]:
    return sorted(p for p in ROOT.glob("**/*.py") if p.name != "__init__.py")


def has_example(doc: str) -> bool:
    body = doc.partition("\n")[2]
    if re.search(r"^ *>>> [^#\s]", body, re.MULTILINE):
        return True
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line for line in paragraph.splitlines() if line]
        if any(COLUMNS.search(line) and not OPERATOR.match(line) for line in lines):
            return True
        if all(line.startswith("    ") for line in lines) and any(RESULT.search(x.strip()) for x in lines):
            return True
    return False


@pytest.mark.parametrize("module", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_the_header_of_a_module_shows_an_example(module: Path) -> None:
    doc = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    assert has_example(doc), (
        f"the docstring of {module.relative_to(ROOT)} shows no example: add one input and its output"
    )


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Doubles.\n\n>>> double(2)\n4", True),
        ("Doubles.\n\n    double(2)      4\n\nOf numbers.", True),
        ("Doubles.\n\ndouble(2)      4", True),
        ("Doubles.\n\n      double(2)\n    = 4\n\nOf numbers.", True),
        ("", False),
        ("Doubles `2` = `4`   ... >>> 3", False),
        ("Doubles.\n\n>>> # double(2) is 4", False),
        ("Doubles.\n\nIt is used by all. It = the same.", False),
        ("Doubles.\n\n    Prose that is only indented.\n\nMore prose.", False),
        ("Doubles.\n\nState:   the number\nCost:    O(1)\nCorrect  because it adds up.", False),
    ],
)
def test_what_an_example_is(doc: str, expected: bool) -> None:
    assert has_example(doc) is expected
