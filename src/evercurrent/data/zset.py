"""Z-sets: rows with integer multiplicities.

Law (Koch 2010, section 3). Z-sets over a fixed set of columns form an abelian group under pointwise addition,
and `a - a` is the empty Z-set: a row whose weight is zero is not there.

>>> z = ZSet([((1,), 1), ((2,), 1)])
>>> z.add((1,), -1); z
ZSet({(2,): 1})
>>> (z - z) == ZSet()
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = tuple[Any, ...]


class ZSet:
    """A finite map from rows to weights other than zero."""

    __slots__ = ("weights",)

    def __init__(self, entries: Iterable[tuple[Row, int]] | Mapping[Row, int] = ()) -> None:
        self.weights: dict[Row, int] = {}
        if not entries:
            return
        items = entries.items() if isinstance(entries, Mapping) else entries
        for row, weight in items:
            self.add(row, weight)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> ZSet:
        """The Z-set of a bag of rows."""
        return cls((row, 1) for row in rows)

    def add(self, row: Row, weight: int) -> None:
        total = self.weights.get(row, 0) + weight
        if total:
            self.weights[row] = total
        else:
            self.weights.pop(row, None)

    def __add__(self, other: ZSet) -> ZSet:
        result = ZSet(self.weights)
        for row, weight in other.weights.items():
            result.add(row, weight)
        return result

    def __neg__(self) -> ZSet:
        return ZSet((row, -weight) for row, weight in self.weights.items())

    def __sub__(self, other: ZSet) -> ZSet:
        return self + (-other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZSet) and self.weights == other.weights

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def items(self) -> Iterable[tuple[Row, int]]:
        return self.weights.items()

    def insertions(self) -> Iterator[Row]:
        """Every row of positive weight, as often as it says."""
        for row, weight in self.weights.items():
            for _ in range(weight):
                yield row

    def deletions(self) -> Iterator[Row]:
        """Every row of negative weight, as often as it says."""
        for row, weight in self.weights.items():
            for _ in range(-weight):
                yield row

    def __repr__(self) -> str:
        return f"ZSet({self.weights!r})"
