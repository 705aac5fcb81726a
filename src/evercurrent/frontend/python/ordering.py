"""Sort keys: what `order_by` takes.

order_by(lambda s: s.age)                            ascending, None first
order_by(lambda s: (ec.desc(s.age), s.name))         each key in its own direction
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evercurrent.frontend.python.block import Block, all_hoisted
from evercurrent.frontend.python.capture import capture
from evercurrent.frontend.python.terms import term_of
from evercurrent.term.nodes import SortKey

Key = Callable[..., Any]


@dataclass(frozen=True)
class Directed:
    """A sort key with a direction of its own."""

    value: Any
    descending: bool
    nulls_first: bool
    _symbolic_ = True


def asc(value: Any, *, nulls_first: bool = True) -> Any:
    """Sort by this, ascending."""
    return Directed(value, False, nulls_first)


def desc(value: Any, *, nulls_first: bool = False) -> Any:
    """Sort by this, descending."""
    return Directed(value, True, nulls_first)


asc._knows_symbols_ = True  # type: ignore[attr-defined]
desc._knows_symbols_ = True  # type: ignore[attr-defined]


def sort_keys(block: Block, keys: Sequence[Key], descending: bool) -> tuple[Block, tuple[SortKey, ...]]:
    """The keys that functions return, and the block that they are over."""
    directed = [d for key in keys for d in directions(capture(key, block.rows), descending)]
    block, terms = all_hoisted(block, [term_of(d.value) for d in directed])
    return block, tuple(SortKey(t, d.descending, d.nulls_first) for t, d in zip(terms, directed, strict=True))


def directions(value: Any, descending: bool) -> list[Directed]:
    """One key, or several in a tuple."""
    if isinstance(value, Directed):
        return [value]
    if type(value) is tuple or isinstance(value, list):
        return [d for part in value for d in directions(part, descending)]
    return [Directed(value, descending, not descending)]
