"""What the driver chooses of a group: the first rows, ranks or dense ranks."""

from __future__ import annotations

import pytest

from evercurrent.data.types import INT
from evercurrent.delta.program import Ranked
from evercurrent.engine.spark.kernel.keyed_functions import _group_function
from evercurrent.term.nodes import Column, SortKey

POINTS, NAME = Column("points", INT, True), Column("name", INT, False)
GROUP = [(7, 1), (9, 2), (9, 3), (None, 4), (8, 5), (8, 6), (9, 2)]


@pytest.mark.parametrize(
    ("ties", "limit", "expected"),
    [
        ("rows", 2, [2, 2]),
        ("rank", 2, [2, 2, 3]),
        ("rank", 3, [2, 2, 3]),
        ("rank", 4, [2, 2, 3, 5, 6]),
        ("dense_rank", 2, [2, 2, 3, 5, 6]),
        ("dense_rank", 9, [2, 2, 3, 5, 6, 1, 4]),
        ("dense_rank", 0, []),
    ],
)
def test_the_driver_counts_ties(ties: str, limit: int, expected: list[int]) -> None:
    order = (SortKey(POINTS, descending=True, nulls_first=False),)
    function = Ranked(order, limit, 0, (NAME,), ties)  # type: ignore[arg-type]
    assert [name for (name,) in _group_function(function, [POINTS, NAME])(list(GROUP))] == expected
