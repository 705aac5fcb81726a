"""All functions by name.

A family is a module with a tuple `FUNCTIONS`. `ALIASES` are other names for the same function, resolved when a call is
built, so that terms only ever hold the one name. `NAMES` is what Python source of functions may mention besides its
arguments: whoever executes such source provides them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evercurrent.data.types import Integer, Type
from evercurrent.data.values import NAN, float32
from evercurrent.term.functions import arithmetic, comparison, logic, ring
from evercurrent.term.functions.failures import division_by_zero, overflow
from evercurrent.term.functions.function import Function, Types

FAMILIES = (
    arithmetic.FUNCTIONS,
    comparison.FUNCTIONS,
    logic.FUNCTIONS,
    ring.RING,
)

FUNCTIONS: dict[str, Function] = {f.name: f for family in FAMILIES for f in family}

ALIASES: dict[str, str] = {}


def _overflow(bits: int) -> Callable[[], Any]:
    t = Integer(bits)  # type: ignore[arg-type]
    return lambda: overflow(t)


NAMES: dict[str, Any] = {
    "NAN": NAN,
    "float32": float32,
    "division_by_zero": division_by_zero,
    **{f"overflow{bits}": _overflow(bits) for bits in (8, 16, 32, 64)},
}


def find(name: str) -> Function | None:
    """The function of a name, whatever its case, or None."""
    name = name.lower()
    return FUNCTIONS.get(ALIASES.get(name, name))


@lru_cache(maxsize=65536)
def implementation(name: str, types: Types, result: Type) -> Callable[..., Any]:
    """The Python function that a call stands for; of a strict function, it must not be given None."""
    return FUNCTIONS[name].implement(types, result)
