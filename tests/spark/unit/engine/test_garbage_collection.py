"""The collector of cycles is as it was before, however transactions end."""

from __future__ import annotations

import gc

import pytest

from evercurrent.engine.spark.kernel.garbage_collection import YOUNG, rare_collection


def test_thresholds_come_back() -> None:
    before = gc.get_threshold()
    with rare_collection():
        with rare_collection():
            assert gc.get_threshold() == (YOUNG, *before[1:])
        assert gc.get_threshold() == (YOUNG, *before[1:])
    assert gc.get_threshold() == before
    with pytest.raises(ValueError, match="x"), rare_collection():
        raise ValueError("x")
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with rare_collection():
            assert gc.get_threshold()[0] == 0
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
