"""Sums over a range of an ordered key: what a join by an inequality adds up to.

>>> sums = OrderedSums(1)
>>> sums.add((7, 100), 1); sums.add((9, 5), 2)
>>> sums.above(1, 7, False), sums.above(1, 7, True), sums.above(0, 7, False)
(110, 10, 3)

Delta            the row's key is found, and its weight and sums are added
State            the different keys in order, in buckets of a few hundred, with the weight and the sums at each; a tree of sums
                 over the buckets (Fenwick's)
Cost             a logarithm of the number of keys, and the sum over a part of one bucket
Correct because  the sums over whole buckets, over their ranges, and at the keys of one bucket add up to the range
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from evercurrent.data.zset import Row

MOST = 512
"""A bucket with more keys is split in two."""


class Top:
    """Stands for NaN, which is greater than every number."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self


TOP = Top()


class OrderedSums:
    """The rows of one entry: `args` are the key and the amounts; sum 0 is the weight, and the others follow."""

    __slots__ = ("buckets", "lasts", "tree", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self.buckets: list[list[list[Any]]] = []  # for each bucket: the keys, then the values of each sum
        self.lasts: list[Any] = []  # the greatest key of each bucket
        self.tree: list[list[int]] | None = (
            None  # for each sum a Fenwick tree over the buckets; None: to be built
        )

    # --- changes -------------------------------------------------------------------------------------------

    def add(self, args: Row, weight: int) -> None:
        self._change(args[0], [weight, *(x * weight for x in args[1:])])

    def _change(self, key: Any, amounts: list[int]) -> None:
        if key != key:
            key = TOP
        if not self.buckets:
            self.buckets, self.lasts = [[[key], *([x] for x in amounts)]], [key]
            self.tree = None
            return
        b = min(bisect_left(self.lasts, key), len(self.lasts) - 1)
        bucket = self.buckets[b]
        keys = bucket[0]
        i = bisect_left(keys, key)
        if i < len(keys) and keys[i] == key:
            if bucket[1][i] + amounts[0]:
                for values, x in zip(bucket[1:], amounts, strict=True):
                    values[i] += x
            else:
                for values in bucket:
                    del values[i]
                if not keys:
                    del self.buckets[b], self.lasts[b]
                    self.tree = None
                    return
                self.lasts[b] = keys[-1]
        else:
            for values, x in zip(bucket, (key, *amounts), strict=True):
                values.insert(i, x)
            self.lasts[b] = keys[-1]
            if len(keys) > MOST:
                half = len(keys) // 2
                self.buckets[b : b + 1] = [[v[:half] for v in bucket], [v[half:] for v in bucket]]
                self.lasts[b : b + 1] = [keys[half - 1], keys[-1]]
                self.tree = None
                return
        if self.tree is not None:
            for tree, x in zip(self.tree, amounts, strict=True):
                if x:
                    n = b + 1
                    while n < len(tree):
                        tree[n] += x
                        n += n & -n

    def _at(self, key: Any) -> list[int] | None:
        """The weight and the sums at a key."""
        if key != key:
            key = TOP
        b = bisect_left(self.lasts, key)
        if b < len(self.lasts):
            keys = self.buckets[b][0]
            i = bisect_left(keys, key)
            if keys[i] == key:
                return [values[i] for values in self.buckets[b][1:]]
        return None

    def mark(self, args: Row) -> list[int] | None:
        return self._at(args[0])

    def restore(self, args: Row, mark: list[int] | None) -> None:
        now = self._at(args[0]) or [0] * (self.width + 1)
        change = [x - y for x, y in zip(mark or [0] * (self.width + 1), now, strict=True)]
        if any(change):
            self._change(args[0], change)

    def rebuild(self) -> None:
        self.tree = None

    # --- reading -------------------------------------------------------------------------------------------

    def value(self) -> OrderedSums:
        """The rows themselves: what is read of them is a question of the range."""
        return self

    def above(self, sum_: int, low: Any, open_: bool) -> int:
        """The sum over the keys from `low` on, or beyond it."""
        return self._before(sum_, None, False) - self._before(sum_, low, not open_)

    def below(self, sum_: int, high: Any, open_: bool) -> int:
        """The sum over the keys up to `high`, or before it."""
        return self._before(sum_, high, open_)

    def within(self, sum_: int, low: Any, low_open: bool, high: Any, high_open: bool) -> int:
        before = self._before(sum_, low, not low_open)
        upto = self._before(sum_, high, high_open)
        return upto - before if not self._is_empty(low, low_open, high, high_open) else 0

    def _is_empty(self, low: Any, low_open: bool, high: Any, high_open: bool) -> bool:
        """Whether no key can be in the range."""
        low, high = TOP if low != low else low, TOP if high != high else high
        return bool(high < low or (high == low and (low_open or high_open)))

    def _before(self, sum_: int, key: Any, strictly: bool) -> int:
        """The sum over the keys before `key`, it included unless `strictly`; over all keys if it is None."""
        trees = self.tree or self._plant()
        b, inside = len(self.lasts), 0
        if key is not None:
            find = bisect_left if strictly else bisect_right
            key = TOP if key != key else key
            b = find(self.lasts, key)
            if b < len(self.lasts):
                bucket = self.buckets[b]
                inside = sum(bucket[sum_ + 1][: find(bucket[0], key)])
        tree, total = trees[sum_], inside
        while b:
            total += tree[b]
            b &= b - 1
        return total

    def _plant(self) -> list[list[int]]:
        made = []
        for s in range(1, self.width + 2):
            tree = [0, *(sum(bucket[s]) for bucket in self.buckets)]
            for n in range(1, len(tree)):
                parent = n + (n & -n)
                if parent < len(tree):
                    tree[parent] += tree[n]
            made.append(tree)
        self.tree = made
        return made

    def bytes(self) -> int:
        """About how much memory the rows take."""
        return sum(len(bucket[0]) for bucket in self.buckets) * 40 * (self.width + 2)
