"""Functions and classes by where they are defined: `module:qualname`.

Names of states, and definitions that are kept, hold this instead of an address, so that they are the same tomorrow.

>>> import math
>>> path_of(math.gcd), can_be_found(math.gcd), can_be_found(lambda x: x)
('math:gcd', True, False)
"""

from __future__ import annotations

import sys
from typing import Any


def path_of(thing: Any) -> str:
    """Where a function or class is defined."""
    path = getattr(thing, "path", None)  # it is known by its path alone
    if isinstance(path, str):
        return path
    inner = getattr(thing, "function", None)  # a wrapper of ours
    if callable(inner):
        return f"{type(thing).__name__}({path_of(inner)})"
    name = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    owner = getattr(thing, "__objclass__", None)  # a method of a built-in type
    module = getattr(thing, "__module__", None) or (owner.__module__ if owner is not None else "builtins")
    return f"{module}:{name}"


def can_be_found(thing: Any) -> bool:
    """Whether another process that imports the same modules finds it by its path."""
    if isinstance(getattr(thing, "path", None), str):
        return True
    inner = getattr(thing, "function", None)
    if callable(inner):
        return can_be_found(inner)
    module, _, name = path_of(thing).partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing


def identify(thing: Any) -> str:
    """A text that is the same for the same function, also in another process if it can be found there."""
    return path_of(thing) if can_be_found(thing) else f"{path_of(thing)}#{id(thing):x}"
