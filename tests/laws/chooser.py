"""Where choices come from: hypothesis (which shrinks what fails), or a seed (which finds it again)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Chooser(Protocol):
    def number(self, low: int, high: int) -> int:
        """A number between both, inclusive; small ones are the simple ones."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        ...

    def chance(self, percent: int) -> bool: ...


class Drawn:
    """Choices that hypothesis draws."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.number(1, 100) > 100 - percent


class Seeded:
    """Choices that a seed determines."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent
