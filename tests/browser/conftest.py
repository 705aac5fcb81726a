"""A real browser for the studio's tests: Chromium, driven by playwright. `make test-browser` installs what is missing.

SCREENSHOTS=pictures make test-browser       keeps pictures of what tests `shoot`, light and dark, to be looked at
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evercurrent.serve.studio.routes import FILES

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs the package playwright: run `make test-browser`"
    )
    if CHROMIUM is None:
        pytest.skip("needs Chromium: run `make test-browser`")
    if not (FILES / "index.html").is_file():
        pytest.skip("the page is not built: run `make studio`")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test if its script raises."""
    found = browser.new_page(viewport={"width": 1400, "height": 860})
    found.set_default_timeout(10_000)
    raised: list[str] = []
    found.on("pageerror", lambda error: raised.append(str(error)))
    yield found
    found.close()
    assert raised == []


@pytest.fixture
def shoot(page: Any) -> Callable[[str], None]:
    """Keeps pictures of what is seen, light and dark, in the folder SCREENSHOTS, if there is one."""

    def keep(name: str) -> None:
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.wait_for_timeout(400)  # what has just changed is drawn, and flashes are over
                page.screenshot(path=Path(folder) / f"{name}-{theme}.png")
            page.emulate_media(color_scheme="light")

    return keep
