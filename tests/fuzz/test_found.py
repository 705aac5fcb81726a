"""Every difference that a run has found and that was mended stays mended: the scripts in `found/`, replayed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.fuzz.found import FOUND

SCRIPTS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.spark] if "warehouse" in path.stem else [])
    for path in sorted(FOUND.glob("*.py"))
]


@pytest.mark.parametrize("path", SCRIPTS)
def test_stays_mended(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")
