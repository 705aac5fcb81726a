"""Compiling generated source.

The source is registered in `linecache`, so that tracebacks show it and debuggers step through it.

>>> names = {}
>>> filename = load("def double(n): return 2 * n", names, "an example")
>>> names["double"](21), linecache.getline(filename, 1)
(42, 'def double(n): return 2 * n')
>>> forget(filename)
"""

from __future__ import annotations

import itertools
import linecache
from typing import Any

_numbers = itertools.count(1)


def load(source: str, namespace: dict[str, Any], title: str) -> str:
    """Run the source in the namespace; returns the file name under which it is known."""
    filename = f"<evercurrent {next(_numbers)}: {title}>"
    exec(compile(source, filename, "exec"), namespace)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return filename


def forget(filename: str) -> None:
    linecache.cache.pop(filename, None)
