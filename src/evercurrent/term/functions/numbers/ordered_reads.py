"""Reading sums over a range of an ordered group (see `delta.ranges`). Written by the compiler only.

sum_above(rows, i, low, open)      the i-th sum over the keys from `low` on, or beyond it; 0 is the weight
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.types import BIGINT, Type
from evercurrent.term.functions.function import Function, Signature, Types


def _method(name: str) -> Callable[[Types, Type], Callable[..., Any]]:
    return lambda _types, _result: lambda rows, *args: getattr(rows, name)(*args)


def _source(name: str) -> Callable[[Types, Type, tuple[str, ...]], str]:
    return lambda _types, _result, args: f"{args[0]}.{name}({', '.join(args[1:])})"


READS: tuple[Function, ...] = tuple(
    Function(f"sum_{name}", lambda ts: Signature(ts, BIGINT), _method(name), python=_source(name))
    for name in ("above", "below", "within")
)
