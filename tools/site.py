"""Build the site from `docs/` into `build/site`, and check the pages that came out.

Sphinx treats every warning as an error. Then each page is read: every link inside the site must lead to a file and to an
anchor in it, and no page may load a script, a style, a font or a picture from another host.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "object": "data", "source": "src"}
NOT_LOADED = {"canonical", "next", "prev", "index", "search"}


class Page(HTMLParser):
    """The anchors of a page, its links, and the addresses that a browser loads by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        address = found.get(LOADED.get(tag, ""), "")
        if address and not NOT_LOADED & set(found.get("rel", "").split()):
            self.loads.append(address)
            self.links.append(address)


def problems(site: Path) -> list[str]:
    """What is wrong with the built pages, one line each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        found += [f"{name} loads {a}" for a in page.loads if urlsplit(a).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{name}: no file for {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: no anchor for {link}")
    for style in sorted(site.rglob("*.css")):
        text = style.read_text(encoding="utf-8", errors="replace")
        if "url(http" in text or "url(//" in text or "@import" in text:
            found.append(f"{style.relative_to(site).as_posix()} loads from another host")
    return found


def main() -> int:
    from sphinx.cmd.build import build_main

    options = ["--quiet", "--fail-on-warning", "--keep-going", "-b", "html"]
    status = build_main([*options, "-d", str(ROOT / "build" / "doctrees"), str(ROOT / "docs"), str(SITE)])
    if status:
        return status
    found = problems(SITE)
    print("\n".join(found) or f"The site is built: {SITE / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
