"""Which keys are among others, against sets; tables of many chunks."""

from __future__ import annotations

from random import Random

import numpy
import pyarrow
import pytest

from evercurrent.data.types import BIGINT, STRING
from evercurrent.engine.columnar.cancelling import common_places
from evercurrent.engine.columnar.table import MOST_ALIKE, ColumnTable
from evercurrent.engine.columnar.vectors import Pools, Unfit


@pytest.mark.parametrize("seed", range(60))
def test_common_places_are_those_of_sets(seed: int) -> None:
    draw = Random(seed)
    width, span = draw.choice((1, 2, 3)), draw.choice((3, 50, 10**6, 2**62))

    def keys() -> list[tuple[int, ...]]:
        return [
            tuple(draw.randint(-span, span) for _ in range(width)) for _ in range(draw.choice((0, 1, 40)))
        ]

    mine, others = keys(), keys()
    others += draw.sample(mine, len(mine) // 3)

    def words(rows: list[tuple[int, ...]]) -> list[numpy.ndarray]:
        return [numpy.array([r[i] for r in rows], numpy.int64) for i in range(width)]

    found = common_places(words(mine), words(others)).tolist()
    assert found == [i for i, key in enumerate(mine) if key in set(others)]


def rows(ids: list[int]) -> pyarrow.Table:
    return pyarrow.table({"c0": pyarrow.array(ids, pyarrow.int64()), "c1": [f"t{i}" for i in ids]})


def test_rows_are_found_whatever_the_number_of_batches() -> None:
    table = ColumnTable([BIGINT, STRING], [(0,)], [], Pools())
    none = numpy.empty(0, numpy.int64)
    for batch in range(40):
        change = table.change(rows(list(range(10 * batch, 10 * batch + 10))), none)
        assert change is not None
        change.apply()
        if batch % 5 == 4:  # what is undone leaves no row
            change.undo()
            change.apply()
    assert len(table.chunks) < 2 * MOST_ALIKE
    wanted = [399, 0, 17, 250, 3]
    assert table.find_rows(rows(wanted)).tolist() == wanted
    other = rows(wanted).set_column(1, "c1", [["t399", "t0", "t17", "t250", "other"]])
    with pytest.raises(Unfit):
        table.find_rows(other)
    with pytest.raises(Unfit):
        table.find_rows(rows([3, 3]))
