"""Searches in sorted columns find what looking at every value finds."""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pytest

from evercurrent.engine.spark.kernel.constraint_precheck import distinct
from evercurrent.engine.spark.storage.checksums import BLOCK, find_touched
from evercurrent.engine.spark.storage.sort_order import sort_rows
from evercurrent.engine.spark.storage.wanted import find_equal
from evercurrent.engine.spark.tasks.pieces import below, cut

BOUNDS: list[tuple[Any, ...] | None] = [None, (2,), (None,), (7,), (0,), (2, 3)]


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_blocks_are_those_in_which_a_value_lies(width: int) -> None:
    draw = numpy.random.default_rng(width)
    for most in (5, 3_000, 40_000):
        offset = int(draw.integers(0, 3 * BLOCK))
        places = numpy.sort(draw.integers(0, most, int(draw.integers(1, 60))))
        begins = offset + places * width
        blocks = {*(begins // BLOCK).tolist(), *((begins + width - 1) // BLOCK).tolist()}
        assert find_touched(offset, places, width) == sorted(blocks)


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.uint32, numpy.int64])
def test_equal_values_are_found_from_the_first_to_the_last(kind: Any) -> None:
    draw = numpy.random.default_rng(1)
    for _ in range(60):
        values = numpy.sort(draw.integers(0, 12, int(draw.integers(0, 20)))).astype(kind)
        keys = numpy.unique(draw.integers(0, 14, int(draw.integers(0, 10)))).astype(kind)
        begin, end = find_equal(values, keys)
        assert begin.tolist() == numpy.searchsorted(values, keys, "left").tolist()
        assert end.tolist() == numpy.searchsorted(values, keys, "right").tolist()


def draw_rows(draw: Any, rising: bool, nulls: bool) -> pyarrow.Table:
    size = int(draw.integers(0, 12))
    values = draw.integers(0, 6, size)
    values = numpy.sort(values) if rising else values
    first = pyarrow.array([None if nulls and v == 5 else int(v) for v in values], pyarrow.int64())
    return pyarrow.table({"a": first, "b": numpy.arange(size) % 3})


@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("nulls", [False, True])
def test_a_range_is_cut_from_rows_in_any_order(rising: bool, nulls: bool) -> None:
    draw = numpy.random.default_rng(2)
    for _ in range(20):
        table = draw_rows(draw, rising, nulls)
        for low in BOUNDS:
            for high in BOUNDS:
                wanted = table
                if low is not None:
                    wanted = wanted.filter(pyarrow.compute.invert(below(wanted, ["a", "b"], low)))
                if high is not None:
                    wanted = wanted.filter(below(wanted, ["a", "b"], high))
                assert cut(table, ["a", "b"], low, high).to_pydict() == wanted.to_pydict()


@pytest.mark.parametrize("order", [("a",), ("a", "b"), ("b", "a")])
@pytest.mark.parametrize("nulls", [False, True])
def test_rows_are_sorted_as_arrow_sorts_them(order: tuple[str, ...], nulls: bool) -> None:
    draw = numpy.random.default_rng(3)
    for i in range(30):
        table = draw_rows(draw, i % 3 == 0, nulls)
        table = table.append_column("place", pyarrow.array(range(table.num_rows)))
        wanted = table.sort_by([(name, "ascending") for name in order])
        halves = [table.slice(0, 5), table.slice(5)]
        assert sort_rows(pyarrow.concat_tables(halves), order).to_pydict() == wanted.to_pydict()


def test_distinct_integers_may_lie_anywhere() -> None:
    for values in ([3, 1, 3], [2**63 - 1, -(2**63), 0], [-(2**63), 1 - 2**63, -(2**63)], [5]):
        found = distinct(pyarrow.table({"k": pyarrow.array(values, pyarrow.int64())}))
        assert sorted(found.column("k").to_pylist()) == sorted(set(values))
