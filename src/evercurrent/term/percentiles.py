"""Percentiles of a sorted bag.

The continuous one interpolates between the two values around the position `p * (n - 1)`; the discrete one is the first
value at which the share of values so far reaches p.

>>> continuous([1, 2, 4], 0.75), discrete([1, 2, 4], 0.5)
(3.0, 2)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def continuous(values: Sequence[Any], fraction: float) -> float:
    """Interpolated between the neighbours; `values` are sorted numbers, at least one."""
    position = fraction * (len(values) - 1)
    low, high = math.floor(position), math.ceil(position)
    if low == high or values[low] == values[high]:
        return float(values[low])
    return float((high - position) * values[low] + (position - low) * values[high])


def discrete(values: Sequence[Any], fraction: float) -> Any:
    """The value itself; `values` are sorted, at least one."""
    return values[max(0, math.ceil(fraction * len(values)) - 1)]
