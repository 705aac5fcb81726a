"""Lets small scenarios run over columns: what is a large delta is drawn, before each transaction or for all of a scenario.

A third of the scenarios runs over rows alone, as users of small databases do; a third over columns wherever they can say
it; a third changes from one to the other.
"""

from __future__ import annotations

from random import Random

from evercurrent.engine.live import columns

USUAL = columns.LEAST_ROWS


class Forms:
    """The forms of one scenario, within a `with` block. `draw` decides for the next transaction."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(f"forms {seed}")
        self._share = self._random.choice((0.0, 0.5, 1.0))

    def __enter__(self) -> Forms:
        self.draw()
        return self

    def __exit__(self, *_: object) -> None:
        columns.LEAST_ROWS = USUAL

    def draw(self) -> None:
        columns.LEAST_ROWS = 1 if self._random.random() < self._share else USUAL

    def undoes(self) -> bool:
        """Whether to run a transaction that is taken back, in between."""
        return self._random.random() < 0.1
