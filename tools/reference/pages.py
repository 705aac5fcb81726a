"""All pages of the reference, by file name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.reference.api import api_page
from tools.reference.errors import errors_page
from tools.reference.functions import aggregates_page, functions_page
from tools.reference.options import command_line_page, options_page
from tools.reference.oql import oql_page
from tools.reference.statements import statements_page
from tools.reference.types import types_page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "statements.md": statements_page,
    "types.md": types_page,
    "functions.md": functions_page,
    "aggregates.md": aggregates_page,
    "oql.md": oql_page,
    "options.md": options_page,
    "command-line.md": command_line_page,
    "api.md": api_page,
    "errors.md": errors_page,
}


def write() -> None:
    """Writes the pages that differ from what is there, and removes those that are none any more."""
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in FOLDER.glob("*.md"):
        if path.name not in PAGES:
            path.unlink()
