"""Who hears of a change, and when.

A subscriber is called once for each transaction that changed what it watches, in the order of subscription, with the
net, minimal change. `when="before"`: inside the transaction, when everything else has agreed; one that raises undoes
it. `when="after"`: when the transaction stands; one that raises is reported and does not keep the others from hearing.

A subscriber that is called after the commit may itself change the database. What it does is committed at once, as the
next transaction, and is told to everyone when all have heard of the present one. So every subscriber hears of all
transactions in their order.
"""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Literal

from evercurrent.data.zset import Row, ZSet

log = logging.getLogger("evercurrent")

When = Literal["before", "after"]


class SubscriberWarning(UserWarning):
    """A subscriber raised after the commit; the transaction stands."""


class Change:
    """The change of one table or view by one transaction.

    `inserted` and `deleted` are lists of rows, each row as often as it came or went; `transaction` is its number,
    `name` the table or view that changed. No row is in both lists.
    """

    def __init__(self, name: str, delta: ZSet, transaction: int, give: Callable[[Row], Row]) -> None:
        self.name = name
        self.transaction = transaction
        self._delta = delta
        self._give = give

    @cached_property
    def inserted(self) -> list[Row]:
        return [self._give(row) for row in self._delta.inserted()]

    @cached_property
    def deleted(self) -> list[Row]:
        return [self._give(row) for row in self._delta.deleted()]

    def __repr__(self) -> str:
        return (
            f"<Change of {self.name} in transaction {self.transaction}: "
            f"+{sum(w for _, w in self._delta.items() if w > 0)} "
            f"-{-sum(w for _, w in self._delta.items() if w < 0)}>"
        )


Callback = Callable[[Change], object]


class Subscription:
    """What `subscribe` returns: call `cancel()` to hear no more. Also a context manager."""

    def __init__(self, owner: Subscribers, name: str, callback: Callback, when: When) -> None:
        self._owner = owner
        self.name = name
        self.callback = callback
        self.when = when
        self.active = True

    def cancel(self) -> None:
        """Hear no more of changes; a second call does nothing."""
        self._owner.remove(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def __repr__(self) -> str:
        state = "active" if self.active else "cancelled"
        return f"<Subscription to {self.name}, {self.when} commit, {state}>"


class Subscribers:
    """All subscriptions of a database, in the order in which they were made."""

    def __init__(self) -> None:
        self._all: list[Subscription] = []
        self.watched: frozenset[str] = frozenset()
        """The names of the relations that someone watches."""
        self._queue: deque[tuple[Subscription, Change]] = deque()
        self._telling = False

    def add(self, name: str, callback: Callback, when: When) -> Subscription:
        subscription = Subscription(self, name, callback, when)
        self._all.append(subscription)
        self._note()
        return subscription

    def remove(self, subscription: Subscription) -> None:
        subscription.active = False
        if subscription in self._all:
            self._all.remove(subscription)
        self._note()

    def forget(self, name: str) -> None:
        """The relation is gone: so are its subscriptions."""
        for subscription in [s for s in self._all if s.name == name]:
            self.remove(subscription)

    def _note(self) -> None:
        self.watched = frozenset(s.name for s in self._all)

    def before(self, changes: dict[str, Change]) -> None:
        """Ask everyone who wants to be asked before the commit; whatever they raise goes to the caller."""
        for subscription in list(self._all):
            change = changes.get(subscription.name)
            if subscription.when == "before" and change is not None and subscription.active:
                subscription.callback(change)

    def after(self, changes: dict[str, Change]) -> None:
        """Tell everyone else; and first, if we are in the middle of telling, what is still to be told."""
        for subscription in self._all:
            change = changes.get(subscription.name)
            if subscription.when == "after" and change is not None:
                self._queue.append((subscription, change))
        if self._telling or not self._queue:
            return
        self._telling = True
        problems: list[str] = []
        try:
            while self._queue:
                subscription, change = self._queue.popleft()
                if not subscription.active:
                    continue
                try:
                    subscription.callback(change)
                except Exception as problem:
                    said = f"a subscriber to {change.name} raised {type(problem).__name__}: {problem}"
                    log.warning(said, exc_info=True)
                    problems.append(f"{said} (transaction {change.transaction} stands)")
        finally:
            self._telling = False
        # Only now: where warnings are errors, this raises, and by now everyone has heard.
        for text in problems:
            warnings.warn(text, SubscriberWarning, stacklevel=2)
