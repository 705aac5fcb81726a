"""The greatest magnitudes of bounded factors, and whether amounts made of them can overflow.

A factor's magnitude only grows, by an eighth more than it must where that fits, so a growing factor seldom asks. What
grows is compared with all bounds of the program that mention the factor; if one does not hold, `OutOfBounds` is raised and
nothing has changed. A magnitude that was seen once stays, whether its row is still there or not: that is careful, never wrong.

    Delta            one comparison for each row
    State            one integer for each factor
    Correct because  every value that a state has added up passed the comparison
"""

from __future__ import annotations

from collections.abc import Iterable

from evercurrent.data.types import Integer
from evercurrent.delta.bounds import leaves, magnitude
from evercurrent.delta.program import Bound
from evercurrent.term.functions.numbers.bounds import OutOfBounds


class Magnitude:
    """The greatest magnitude of one factor so far. Generated code reads `high` and calls `grow`."""

    __slots__ = ("bounds", "high", "others")

    def __init__(self, others: dict[str, Magnitude]) -> None:
        self.high = 0
        self.others = others
        self.bounds: list[Bound] = []

    def grow(self, value: int) -> int:
        """Returns the value, which is greater than any before, or raises `OutOfBounds`."""
        before = self.high
        for self.high in (abs(value) * 9 // 8, abs(value)):
            broken = [bound for bound in self.bounds if not holds(bound, self.others)]
            if not broken:
                return value
        self.high = before
        raise OutOfBounds(broken[0].name)


def holds(bound: Bound, known: dict[str, Magnitude]) -> bool:
    return magnitude(bound.amount, lambda name: known[name].high) is not None


def magnitudes(bounds: Iterable[Bound], before: dict[str, Magnitude]) -> dict[str, Magnitude]:
    """The magnitudes that a program needs; those that were known before go on from there."""
    made: dict[str, Magnitude] = {}
    own = [b for b in bounds if isinstance(b.amount.type, Integer)]
    for bound in own:
        for name in dict.fromkeys(leaves(bound.amount)):
            if name not in made:
                made[name] = Magnitude(made)
                made[name].high = before[name].high if name in before else 0
            made[name].bounds.append(bound)
    for bound in own:
        if not holds(bound, made):
            raise OutOfBounds(bound.name)
    return made
