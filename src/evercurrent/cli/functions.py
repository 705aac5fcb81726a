"""Functions that the command line hands over to a warehouse, by the names that were typed.

    rules            all functions and classes at the top level of the module
    rules:score      one of them

These words come from the command line or from the settings of a pipeline, never from a warehouse.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from evercurrent.errors import QueryError


def load_functions(words: Iterable[str], folder: str | None = None) -> list[Any]:
    """The modules and functions of these words; modules are looked for in `folder` too."""
    return [load(word, folder) for word in words]


def load(word: str, folder: str | None) -> Any:
    name, _, path = word.partition(":")
    if folder is not None and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(name)
        for part in path.split(".") if path else ():
            found = getattr(found, part)
    except Exception as problem:  # a module of a user may raise anything
        raise QueryError(
            f"--functions {word}: {type(problem).__name__}: {problem}",
            hint="MODULE, or MODULE:NAME of a function in it; modules are looked for in this folder and on PYTHONPATH",
        ) from problem
    return found
