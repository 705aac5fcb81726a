"""Only the doors reach into a session: nothing else asks for its context, its JVM or the JVM's objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4] / "src" / "evercurrent"
INSIDE = {"_jvm", "_jdf", "_jsparkSession", "_jsc", "_jconf", "_sc", "_jseq", "sparkContext", "rdd"}
DOORS = "engine/spark/doors/"


def reaches(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a source that reach into a session, with what they ask for."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in INSIDE:
            yield node.lineno, node.attr
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr")
        ):
            names = [a.value for a in node.args if isinstance(a, ast.Constant)]
            yield from ((node.lineno, str(n)) for n in names if n in INSIDE)
    if "import SparkContext" in text:
        yield 0, "SparkContext"


def test_what_reaches_into_a_session_is_found() -> None:
    assert list(reaches("a = spark._jvm\nb = getattr(spark, '_jsparkSession', None)\nframe.count()")) == [
        (1, "_jvm"),
        (2, "_jsparkSession"),
    ]


@pytest.mark.parametrize("area", sorted(p.name for p in ROOT.iterdir() if not p.name.startswith("__")))
def test_sessions_are_reached_through_doors(area: str) -> None:
    place = ROOT / area
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    found = {
        str(f.relative_to(ROOT)): list(reaches(f.read_text("utf-8")))
        for f in files
        if f.suffix == ".py" and not str(f.relative_to(ROOT)).startswith(DOORS)
    }
    assert not {f: lines for f, lines in found.items() if lines}, f"ask through {DOORS}"
