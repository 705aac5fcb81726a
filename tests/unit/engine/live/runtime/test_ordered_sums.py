"""Sums over ranges, compared with a list."""

from __future__ import annotations

import random

import pytest

from evercurrent.engine.live.runtime import ordered_sums
from evercurrent.engine.live.runtime.ordered_sums import OrderedSums

NAN = float("nan")


@pytest.mark.parametrize("most", [2, 5, 512])
@pytest.mark.parametrize("seed", range(6))
def test_sums_are_those_of_a_list(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_sums, "MOST", most)
    chooser = random.Random(seed)
    keys = [*range(12), 2.5, NAN] if seed % 2 else list(range(40))
    sums, rows = OrderedSums(1), []
    for _ in range(400):
        if rows and chooser.random() < 0.45:
            row = rows.pop(chooser.randrange(len(rows)))
            weight = -1
        else:
            row, weight = (chooser.choice(keys), chooser.randint(-5, 5)), 1
            rows.append(row)
        mark = sums.mark(row)
        sums.add(row, weight)
        if chooser.random() < 0.3:  # undo, and do it again
            sums.restore(row, mark)
            sums.add(row, weight)
        low, high = chooser.choice(keys), chooser.choice(keys)
        open_, other = chooser.random() < 0.5, chooser.random() < 0.5
        beyond = [row for row in rows if greater(row[0], low, open_)]
        upto = [row for row in rows if greater(high, row[0], other)]
        both = [row for row in beyond if greater(high, row[0], other)]
        assert [sums.above(i, low, open_) for i in (0, 1)] == totals(beyond)
        assert [sums.below(i, high, other) for i in (0, 1)] == totals(upto)
        assert [sums.within(i, low, open_, high, other) for i in (0, 1)] == totals(both)
    for row in rows:
        sums.add(row, -1)
    assert not sums.buckets and not sums.lasts


def greater(a: float, b: float, strictly: bool) -> bool:
    """NaN is the greatest number, and equal to itself."""
    left, right = (a != a, 0 if a != a else a), (b != b, 0 if b != b else b)
    return left > right or (left == right and not strictly)


def totals(rows: list[tuple[float, int]]) -> list[int]:
    return [len(rows), sum(x for _, x in rows)]
