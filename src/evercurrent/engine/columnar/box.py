"""Keys of a few integers as places in a box: the range of each integer is one side of it.

    orders 1 to 4,000, lines 1 to 7      a box of 28,000 places, with (1, 1) at place 0 and (4000, 7) at place 27,999

Law. Two keys within the box have one place exactly if they are equal.

>>> box = box_of([numpy.array([3, 9]), numpy.array([-1, 4])])
>>> box.size, box.places([numpy.array([3, 4]), numpy.array([-1, 0])]).tolist()
(42, [0, 7])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy

from evercurrent.engine.columnar.vectors import Ints, Mask

LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class Box:
    """The least and the greatest value of each integer of a key, and how many places that makes."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    spans: tuple[int, ...]
    size: int

    def find_places(self, words: Sequence[Ints]) -> Ints | None:
        """The places of keys, of which there are some; None if one lies outside.

        The distance from the least value, as a number without a sign, is too large on both sides of the range.
        """
        result = None
        for w, low, span in zip(words, self.lows, self.spans, strict=True):
            distance = w - low
            if numpy.maximum.reduce(distance.view(numpy.uint64)) >= span:
                return None
            if result is None:
                result = distance
            else:
                result *= span
                result += distance
        return result

    def inside(self, words: Sequence[Ints]) -> Mask:
        """Whether each key lies within."""
        result = numpy.ones(len(words[0]), bool)
        for w, low, high in zip(words, self.lows, self.highs, strict=True):
            result &= (w >= low) & (w <= high)
        return result

    def places(self, words: Sequence[Ints]) -> Ints:
        """The places of keys that lie within."""
        result = words[0] - self.lows[0]
        for w, low, span in zip(words[1:], self.lows[1:], self.spans[1:], strict=True):
            result *= span
            result += w
            result -= low
        return result

    def union(self, other: Box) -> Box:
        """A box that holds both."""
        return make_box(map(min, self.lows, other.lows), map(max, self.highs, other.highs))

    def widen(self, other: Box, share: int) -> Box:
        """A box that holds both, and more where the other one leaves this one: one in so many places."""
        lows, highs = [], []
        for low, high, least, most in zip(self.lows, self.highs, other.lows, other.highs, strict=True):
            more = (max(high, most) - min(low, least) + 1) // share
            lows.append(low if least >= low else max(least - more, -LIMIT))
            highs.append(high if most <= high else min(most + more, LIMIT - 1))
        return make_box(lows, highs)

    def begins(self, other: Box) -> bool:
        """Whether every key has the same place in the other box."""
        return self.lows == other.lows and self.spans[1:] == other.spans[1:]


def make_box(lows: Iterable[int], highs: Iterable[int]) -> Box:
    least, most = tuple(lows), tuple(highs)
    spans = tuple(high - low + 1 for low, high in zip(least, most, strict=True))
    return Box(least, most, spans, prod(spans))


def box_of(words: Sequence[Ints]) -> Box:
    """The least box that holds these keys, of which there are some."""
    return make_box((int(w.min()) for w in words), (int(w.max()) for w in words))
