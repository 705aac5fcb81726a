"""A patch: the change of one dictionary, worked out before it is made.

Law. Applying and undoing are idempotent, and each may begin wherever the other was interrupted: both only say what
stands under a key in the end, never what is to be added to it. So a commit that is stopped at any moment is undone
by undoing every patch.

>>> stock = {"apples": 3, "plums": 1}
>>> patch = count_patch(stock, {"apples": -1, "plums": -1, "pears": 1})
>>> patch.before, patch.after
({'apples': 3, 'plums': 1}, {'apples': 2, 'pears': 1})
>>> patch.get("apples"), patch.get("plums")
(2, None)
>>> patch.apply(); stock
{'apples': 2, 'pears': 1}
>>> patch.undo(); stock
{'apples': 3, 'plums': 1}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol


class Undoable(Protocol):
    """A change that can be made and undone, each as often as needed."""

    def apply(self) -> None: ...

    def undo(self) -> None: ...


class Patch:
    """`target` holds the entries `before` and is to hold the entries `after` instead; others stay as they are."""

    __slots__ = ("after", "before", "target")

    def __init__(self, target: dict[Any, Any], before: dict[Any, Any], after: dict[Any, Any]) -> None:
        self.target = target
        self.before = before
        self.after = after

    def get(self, key: Hashable) -> Any:
        """What will stand under the key; None, if nothing will."""
        if key in self.after:
            return self.after[key]
        return None if key in self.before else self.target.get(key)

    def apply(self) -> None:
        _exchange(self.target, self.before, self.after)

    def undo(self) -> None:
        _exchange(self.target, self.after, self.before)


def _exchange(target: dict[Any, Any], old: dict[Any, Any], new: dict[Any, Any]) -> None:
    for key in old:
        if key not in new:
            target.pop(key, None)
    target.update(new)


def count_patch(
    target: dict[Any, int], changes: Mapping[Any, int], key_of: Callable[[Any], Any] | None = None
) -> Patch:
    """The patch that adds to counts, of the things that change or of their keys; counts of zero are removed."""
    before: dict[Any, int] = {}
    after: dict[Any, int] = {}
    for key, change in changes.items():
        if key_of is not None:
            key = key_of(key)
        if key in after:
            after[key] += change
        elif key in target:
            before[key] = count = target[key]
            after[key] = count + change
        else:
            after[key] = change
    if 0 in after.values():
        after = {key: count for key, count in after.items() if count}
    return Patch(target, before, after)
