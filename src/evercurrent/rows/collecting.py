"""Takes changes down for a reader on another thread, at the least cost to whoever commits.

    collector = Collector(wake, most=10_000)
    db.view("spend").subscribe(collector)
    orders.insert((1, 7, 950))             appends (12, {(7, 950): 1}, about) to collector.waiting, and wakes the reader if it sleeps

A subscriber is called with a `Change`, through a queue of calls that survives interrupts. That costs a commit of one row more than its
views do. A collector needs none of it: a commit appends what it has at hand, and the reader makes the change of it (`Change.of_entry`).

Law. The reader finds the changes in their order. After an interrupt it may find one twice, with the same number: it drops the second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evercurrent.data.zset import Row
    from evercurrent.rows.subscriptions import Change

About = tuple[str, "Callable[[Row], Row]", tuple[int, ...]]
"""The name of a relation, the function from internal rows to those of users, and the columns that tell rows apart."""

Weights = Mapping["Row", int] | Iterable[tuple["Row", int]]
Entry = tuple[int, Weights, About]
"""The number of a transaction, what it changed, and in which relation."""


class Collector:
    """A subscriber that only takes changes down. It never raises, as long as `wake` does not."""

    __slots__ = ("is_awake", "most", "waiting", "wake")

    def __init__(self, wake: Callable[[], object], most: int) -> None:
        self.waiting: deque[Change | Entry] = deque()
        self.wake = wake
        """Called where the reader sleeps, and where more than `most` entries wait for it."""
        self.most = most
        self.is_awake = False
        """Whether the reader looks by itself. The reader sets it to False, and looks once more after that."""

    def __call__(self, entry: Change | Entry) -> None:
        self.waiting.append(entry)
        if not self.is_awake or len(self.waiting) > self.most:
            self.is_awake = True
            self.wake()


class Collected(list[tuple[Collector, Any]]):
    """The entries of one transaction, each with its collector."""

    def hand_over(self) -> None:
        """Idempotent, since readers drop what they have seen."""
        for take, entry in self:
            take(entry)
