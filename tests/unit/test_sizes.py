"""A file holds one concept and a function fits on a screen: at most 400 lines and 60 lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src" / "evercurrent"
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every function of a module, with its number of lines, decorators included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield node.name, (node.end_lineno or first) - first + 1


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_no_file_is_long() -> None:
    assert {name for name, text in modules() if text.count("\n") > MOST_LINES_OF_A_FILE} == set()


def test_no_function_is_long() -> None:
    long = {
        f"{module}: {name}"
        for module, text in modules()
        for name, lines in functions(ast.parse(text))
        if lines > MOST_LINES_OF_A_FUNCTION
    }
    assert long == set()
