"""Links between pages lead to a page and to a heading on it; the check of the built site finds what is broken there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.site import problems

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    """A page without its code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that headings get on GitHub and on the site."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(text_of(page)):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_navigation() -> None:
    listed = {
        line.strip()
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", (ROOT / "docs/index.md").read_text(), re.DOTALL)
        for line in tree.splitlines()
        if line and not line.startswith(":")
    }
    docs = ROOT / "docs"
    pages = {p.relative_to(docs).with_suffix("").as_posix() for p in docs.rglob("*.md")}
    assert listed == pages - {"index"}


def test_the_check_of_the_site_finds_broken_links(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="here">text</p>')
    (tmp_path / "fine.html").write_text(
        '<a href="other.html#here">x</a><a href="https://example.org/y">y</a><a href="#top" id="top">z</a>'
    )
    assert problems(tmp_path) == []
    (tmp_path / "broken.html").write_text(
        '<a href="none.html">x</a><a href="other.html#there">y</a><script src="https://example.org/a.js"></script>'
    )
    (tmp_path / "style.css").write_text("@font-face { src: url(https://example.org/font.woff2) }")
    assert problems(tmp_path) == [
        "broken.html loads https://example.org/a.js",
        "broken.html: no file for none.html",
        "broken.html: no anchor for other.html#there",
        "style.css loads from another host",
    ]
