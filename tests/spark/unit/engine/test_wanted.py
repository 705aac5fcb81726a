"""Values that are asked for: over arrays of integers the same as over Python's values."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pyarrow
import pytest

from evercurrent.engine.spark.storage.lookup import may_hold
from evercurrent.engine.spark.storage.wanted import Wanted

BITS = {8: pyarrow.int8(), 16: pyarrow.int16(), 32: pyarrow.int32(), 64: pyarrow.int64()}


def draw_values(seed: int, bits: int) -> list[int | None]:
    draw = random.Random(seed)
    edge = 2 ** (bits - 1)
    known = [draw.choice([-edge, edge - 1, draw.randint(-20, 20)]) for _ in range(draw.randint(0, 30))]
    kinds: list[Any] = [known, sorted(known), sorted(set(known)), [*known, None]]
    return list(draw.choice(kinds))


@pytest.mark.parametrize("bits", sorted(BITS))
@pytest.mark.parametrize("seed", range(30))
def test_a_range_is_asked_for_if_one_of_the_values_lies_in_it(seed: int, bits: int) -> None:
    values = draw_values(seed, bits)
    known = [v for v in values if v is not None]
    edge = 2 ** (bits - 1)
    chunks = pyarrow.chunked_array([values[:3], values[3:]], BITS[bits])
    for wanted in (Wanted.of("c", values, BITS[bits]), Wanted.among("c", chunks)):
        assert wanted.null == (len(known) < len(values))
        assert set(wanted.keys) == set(known) and wanted.keys == sorted(wanted.keys)
        assert set(wanted.numbers.tolist()) == set(known) and wanted.numbers.dtype == numpy.int64
        for low, high in [
            (-edge, edge - 1),
            (-edge, -edge),
            (3, 3),
            (-5, 4),
            (21, edge - 1),
            (edge - 1, edge - 1),
        ]:
            there = any(low <= v <= high for v in known)
            assert may_hold((low, high, False), wanted) is there
            assert may_hold((low, high, True), wanted) is (there or wanted.null)


def test_of_ascending_integers_no_python_value_is_made() -> None:
    wanted = Wanted.among("c", pyarrow.chunked_array([numpy.arange(1_000_000)]))
    assert wanted.has_between(999_999, 10**7) and not wanted.has_between(10**6, 10**7)
    assert "keys" not in wanted.__dict__ and wanted.plain is None


def test_other_values_are_compared_as_python_does() -> None:
    wanted = Wanted.among("c", pyarrow.chunked_array([["b", None, "a", "b"]]))
    assert wanted.numbers is None and wanted.keys == ["a", "b"] and wanted.null
    assert wanted.has_between("aa", "c") and not wanted.has_between("c", "d")


def test_values_that_repeat_side_by_side_are_asked_for_once() -> None:
    for chunks in ([[1, 1, 2], [2, 5]], [[1], [2, 5]], [[5, 1], [2]], [[], [1, 2, 5]]):
        wanted = Wanted.among("c", pyarrow.chunked_array(chunks, pyarrow.int64()))
        assert sorted(wanted.values.to_pylist()) == [1, 2, 5] and not wanted.null
    assert Wanted.among("c", pyarrow.chunked_array([[1, None]], pyarrow.int64())).null
