"""Deltas as generated code hands them on: in order, added up, subtracted.

>>> deletions_first({"new": 1, "old": -1})
[('old', -1), ('new', 1)]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.data.zset import Row

Weights = dict[Row, int]


def deletions_first(delta: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Returns the entries of a delta, deletions before insertions (law L10)."""
    items = list(delta.items())
    if len(items) > 1 and min(delta.values()) < 0:
        items.sort(key=_is_positive)
    return items


def _is_positive(item: tuple[Any, int]) -> bool:
    return item[1] > 0


def gather(out: dict[int, dict[Any, int]], n: int, delta: dict[Any, int]) -> None:
    """Adds a delta to that of a watched relation so far; one inside a loop has a delta in each iteration."""
    if n in out:
        difference(delta, {}, out[n])
    else:
        out[n] = dict(delta)


def difference(new: Weights, old: Weights, into: Weights) -> None:
    """Add `new - old` to a Z-set."""
    for weights, sign in ((old, -1), (new, 1)):
        for row, weight in weights.items():
            total = into.get(row, 0) + sign * weight
            if total:
                into[row] = total
            else:
                into.pop(row, None)
