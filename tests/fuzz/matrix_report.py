"""The matrix of functions and positions, as the campaign `matrix` accounts for it."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

from rich.console import Console

from tests.fuzz.roster import is_written

Cells = Counter[tuple[str, str]]


def matrix() -> Any:
    return import_module("tests.fuzz.campaigns.matrix") if is_written("matrix") else None


def show_matrix(console: Console, cells: Cells) -> None:
    """Prints which functions were drawn in which positions."""
    if cells and (module := matrix()) is not None:
        console.print(module.render(cells))


def missing_cells(cells: Cells) -> list[tuple[str, str]]:
    """Returns the supported cells that were never drawn."""
    module = matrix()
    return [] if module is None else sorted(cell for cell in module.expected_cells() if not cells[cell])
