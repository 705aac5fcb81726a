"""A patch: the change of one dictionary, worked out before it is made.

Law. Applying and undoing are idempotent, and each may begin wherever the other was interrupted: both only say what
stands under a key in the end, never what is to be added to it. So a commit that is stopped at any moment is undone
by undoing every patch.

>>> stock = {"apples": 3}
>>> patch = Patch(stock)
>>> patch.put("apples", 2); patch.put("pears", 1); patch.get("apples"), stock
(2, {'apples': 3})
>>> patch.apply(); stock
{'apples': 2, 'pears': 1}
>>> patch.undo(); stock
{'apples': 3}
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Stands where a dictionary has no entry."""


class Patch:
    """`target` is to hold `after[key]` where it holds `before[key]`."""

    __slots__ = ("after", "before", "target")

    def __init__(self, target: dict[Any, Any]) -> None:
        self.target = target
        self.before: dict[Any, Any] = {}
        self.after: dict[Any, Any] = {}

    def get(self, key: Hashable, default: Any = ABSENT) -> Any:
        """What will stand under the key."""
        value = self.after[key] if key in self.after else self.target.get(key, ABSENT)
        return default if value is ABSENT else value

    def put(self, key: Hashable, value: Any) -> None:
        if key not in self.before:
            self.before[key] = self.target.get(key, ABSENT)
        self.after[key] = value

    def add(self, key: Hashable, amount: int) -> None:
        """Treat the dictionary as counts: an entry that comes to zero goes."""
        total = self.get(key, 0) + amount
        self.put(key, total or ABSENT)

    def apply(self) -> None:
        _write(self.target, self.after)

    def undo(self) -> None:
        _write(self.target, self.before)


def _write(target: dict[Any, Any], values: dict[Any, Any]) -> None:
    for key, value in values.items():
        if value is ABSENT:
            target.pop(key, None)
        else:
            target[key] = value
