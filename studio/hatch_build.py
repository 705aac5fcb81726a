"""Builds the page of the studio when a package is built, where npm is at hand.

A package that is built without npm, and without a page that was built before, has no page; everything else works, and the
server says what is missing.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSTALL = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")


class StudioHook(BuildHookInterface[Any]):
    """Builds the page, unless it is there already or the sources are used in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = Path(self.root, "src", "evercurrent", "serve", "studio", "files", "index.html")
        if version == "editable" or page.is_file():
            return
        if shutil.which("npm") is None:
            self.app.display_warning("no npm: the package is built without the page of the studio")
            return
        try:
            for command in (INSTALL, ("npm", "run", "build")):
                subprocess.run(command, cwd=Path(self.root, "studio"), check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            self.app.display_warning(f"the page of the studio could not be built: {problem}")
