"""Partitions of window functions as they are in large tables: scenarios have a few rows, and would always evaluate all of them.

with small_partitions():      chunks hold four rows, and only what a change reaches is evaluated
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evercurrent.engine.live.runtime import chunks, sorting, window_groups


@contextmanager
def small_partitions() -> Iterator[None]:
    """Makes chunks small within the block."""
    before = chunks.MOST, window_groups.MANY
    chunks.MOST, window_groups.MANY = 4, 0
    try:
        yield
    finally:
        chunks.MOST, window_groups.MANY = before


@contextmanager
def short_lists() -> Iterator[None]:
    """Makes sorted sequences of more than three items trees within the block."""
    before = sorting.LONG
    sorting.LONG = 3
    try:
        yield
    finally:
        sorting.LONG = before
