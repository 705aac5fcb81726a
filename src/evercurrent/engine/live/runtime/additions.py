"""Sums and counts that only DISTINCT or an unusual type keeps from being plain sums; and the bits of integers.

State:   the exact sum and the number of rows; for bits, how many rows have each
Cost:    O(1) a row
Correct  because they add up: a deleted row subtracts exactly what it has added.

>>> from evercurrent.data.types import DOUBLE
>>> from evercurrent.term.aggregates import aggregate
>>> from evercurrent.term.nodes import Column
>>> total = Total(additive(aggregate("sum", [Column("x", DOUBLE)])))
>>> total.add((1e16,), 1); total.add((1.0,), 1); total.add((1e16,), -1)
>>> total.value()
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evercurrent.data import exact
from evercurrent.data.representation import canonical_float
from evercurrent.data.types import Decimal, Float, Integer, Interval
from evercurrent.data.zset import Row
from evercurrent.term.aggregates import TABLE
from evercurrent.term.functions.exact import POWERS, check_decimal, check_integer, divide_half_up, rescale
from evercurrent.term.nodes import Aggregate


@dataclass(frozen=True, slots=True)
class Additive:
    aggregate: Aggregate
    skips: int
    floats: bool
    counted: bool


def additive(a: Aggregate) -> Additive:
    floats = bool(a.args) and isinstance(a.args[0].type, Float)
    counted = a.function in ("count", "approx_count_distinct")
    return Additive(a, min(TABLE[a.function].skips, len(a.args)), floats, counted)


class Total:
    """A sum, a mean or a count."""

    __slots__ = ("n", "of", "total")

    def __init__(self, of: Additive) -> None:
        self.of = of
        self.n = 0
        self.total: Any = 0

    def add(self, args: Row, weight: int) -> None:
        of = self.of
        if None in args[: of.skips]:
            return
        self.n += weight
        if of.counted:
            return
        self.total = exact.add(self.total, args[0], weight) if of.floats else self.total + args[0] * weight

    def mark(self, args: Row) -> Any:
        return self.n, self.total

    def restore(self, args: Row, mark: Any) -> None:
        self.n, self.total = mark

    def rebuild(self) -> None:
        """Nothing is derived."""

    def value(self) -> Any:
        if self.of.counted:
            return self.n
        if self.n == 0:
            return None
        a = self.of.aggregate
        total: Any = exact.value(self.total) if self.of.floats else self.total
        if a.function == "avg":
            return _mean(a, total, self.n)
        match a.type:
            case Integer():
                return check_integer(a.type, total)
            case Decimal():
                return check_decimal(a.type, total)
            case Interval(unit):
                return check_integer(Integer(32 if unit == "months" else 64), total)
            case _:
                return canonical_float(float(total))


def _mean(a: Aggregate, total: Any, n: int) -> Any:
    match a.args[0].type, a.type:
        case Decimal(scale=s), Decimal(scale=t):
            return check_decimal(a.type, rescale(divide_half_up(total * POWERS[38 - s], n), 38, t))
        case Interval(), _:
            return divide_half_up(total, n)
        case _:
            return canonical_float(total / n)


class Bits:
    """bit_and, bit_or, bit_xor: how many of the n rows have each bit."""

    __slots__ = ("aggregate", "counts", "n")

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate
        self.n = 0
        self.counts: dict[int, int] = {}

    def add(self, args: Row, weight: int) -> None:
        x = args[0]
        if x is None:
            return
        width = self.aggregate.type.bits if isinstance(self.aggregate.type, Integer) else 64
        self.n += weight
        rest = x & ((1 << width) - 1)
        counts = dict(self.counts)  # replaced as a whole, so that a mark is just the old one
        while rest:
            bit = rest & -rest
            counts[bit] = counts.get(bit, 0) + weight
            rest ^= bit
        self.counts = counts

    def mark(self, args: Row) -> Any:
        return self.n, self.counts

    def restore(self, args: Row, mark: Any) -> None:
        self.n, self.counts = mark

    def rebuild(self) -> None:
        """Nothing is derived."""

    def value(self) -> int | None:
        if self.n == 0:
            return None
        width = self.aggregate.type.bits if isinstance(self.aggregate.type, Integer) else 64
        match self.aggregate.function:
            case "bit_and":
                result = sum(bit for bit, c in self.counts.items() if c == self.n)
            case "bit_or":
                result = sum(bit for bit, c in self.counts.items() if c)
            case _:
                result = sum(bit for bit, c in self.counts.items() if c & 1)
        return result - (1 << width) if result >> (width - 1) else result
