"""Makes the history of a difference short, within a limit of time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from tests.fuzz.campaign import minimise

Step = tuple[Any, ...]

PATIENCE = 40.0
"""Seconds that minimising may take."""


def fails_like(
    error: Exception, follow: Callable[[list[Step]], None], seconds: float = PATIENCE
) -> Callable[[list[Step]], bool]:
    """Returns a function that says whether a history still fails as the first one did; False once time is up."""
    end = monotonic() + seconds

    def fails(steps: list[Step]) -> bool:
        if monotonic() > end:
            return False
        try:
            follow(steps)
        except type(error):
            return True
        except Exception:
            return False
        return False

    return fails


def shortened(
    steps: list[Step], fails: Callable[[list[Step]], bool], fixed: tuple[str, ...] = ()
) -> list[Step]:
    """Leaves out steps, then statements of changes, then steps of the kinds that were kept until then."""
    first = [s for s in steps if s[0] in fixed]
    kept = minimise([s for s in steps if s[0] not in fixed], lambda rest: fails(first + rest))
    for at, step in enumerate(kept):
        if step[0] == "change":

            def fails_with(statements: list[Any], at: int = at, step: Step = step) -> bool:
                return fails([*first, *kept[:at], ("change", step[1], statements), *kept[at + 1 :]])

            kept[at] = ("change", step[1], minimise(step[2], fails_with))
    return minimise(first + kept, fails)
