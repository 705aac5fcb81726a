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


def pair_rows(
    rows: list[tuple[Row, int]], fixed: tuple[int, ...]
) -> tuple[list[tuple[Row, Row]], list[tuple[Row, int]]]:
    """Returns pairs of a deleted and an inserted row that agree in these positions, and the rows without a partner.

    >>> pair_rows([((1, 10), -1), ((2, 10), -1), ((1, 12), 1)], (0,))
    ([((1, 10), (1, 12))], [((2, 10), -1)])
    """
    if len(rows) < 2 or rows[0][1] > 0 or rows[-1][1] < 0:
        return [], rows
    deleted: dict[Any, list[Row]] = {}
    for row, weight in rows:
        if weight == -1:
            deleted.setdefault(tuple([row[i] for i in fixed]), []).append(row)
    pairs, others = [], [item for item in rows if item[1] < -1]
    for row, weight in rows:
        if weight == 1 and (partners := deleted.get(tuple([row[i] for i in fixed]))):
            pairs.append((partners.pop(), row))
        elif weight > 0:
            others.append((row, weight))
    return pairs, [*((row, -1) for those in deleted.values() for row in those), *others]


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
