"""Laws have one numbering: `docs/architecture.md` lists them, tests and comments cite them, and tests cite every one."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CITATION = re.compile(r"\bL([1-9][0-9]?)\b")


def listed() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^- \*\*L(\d+), ", text, re.MULTILINE)


def cited(folder: str) -> set[str]:
    files = (ROOT / folder).rglob("*.py")
    texts = (path.read_text(encoding="utf-8") for path in files if path != Path(__file__))
    return {number for text in texts for number in CITATION.findall(text)}


def test_laws_are_numbered_one_after_another() -> None:
    assert listed() == [str(i + 1) for i in range(len(listed()))]


def test_every_citation_names_a_law_and_tests_cite_every_law() -> None:
    laws = set(listed())
    assert cited("src") <= laws
    assert cited("tests") == laws
