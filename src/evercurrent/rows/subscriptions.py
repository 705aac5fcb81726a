"""Notifies subscribers of changes.

    db.view("spend").subscribe(lambda change: print(change.inserted, change.deleted))
    UPDATE orders SET total = 4 WHERE id = 2        [(7, Decimal('13.50'))] [(7, Decimal('12.50'))]

A subscriber is called once for each transaction that changed what it watches, in the order of subscription, with the
net, minimal change. `when="before"`: inside the transaction, as its last step; a subscriber that raises undoes it.
`when="after"`: after the commit; a subscriber that raises is reported, and the others are notified all the same.

A subscriber that is called after the commit may itself change the database. Its change is committed at once, as the
next transaction; the subscribers are notified of it when all have been notified of the present one. So every subscriber is
notified of all transactions in their order.

Law. A subscriber after the commit is called exactly once for a transaction that is committed, and never for another. If an
interrupt comes between two calls, the others are made after the next transaction.
"""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable
from functools import cached_property
from itertools import starmap
from operator import call
from typing import Any, Literal

from evercurrent.callables import require_callable
from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.awaiting import AsyncCallback, as_callback
from evercurrent.rows.collecting import Collected, Collector, Entry

log = logging.getLogger("evercurrent")

When = Literal["before", "after"]


class SubscriberWarning(UserWarning):
    """A subscriber raised after the commit; the transaction stands."""


class Change:
    """The change of one table or view by one transaction.

    `inserted` and `deleted` are lists of rows, each row as often as it came or went; `transaction` is its number,
    `name` the table or view that changed. No row is in both lists. A change can be pickled.
    """

    def __init__(
        self, name: str, delta: ZSet, transaction: int, give: Callable[[Row], Row], key: tuple[int, ...] = ()
    ) -> None:
        self.name = name
        self.transaction = transaction
        self._delta = delta
        self._give = give
        self._key = key  # where the columns stand that tell rows apart

    @classmethod
    def of_entry(cls, entry: Entry) -> Change:
        """The change that a collector has taken down."""
        transaction, weights, (name, give, key) = entry
        return cls(name, ZSet(weights), transaction, give, key)

    @cached_property
    def size(self) -> int:
        """About how many rows changed: equal rows count once."""
        return len(self._delta)

    @property
    def delta(self) -> ZSet:
        """The change as rows in internal representation with weights. To be read only."""
        return self._delta

    @cached_property
    def inserted(self) -> list[Row]:
        return [self._give(row) for row in self._delta.insertions()]

    @cached_property
    def deleted(self) -> list[Row]:
        return [self._give(row) for row in self._delta.deletions()]

    @cached_property
    def updated(self) -> list[tuple[Row, Row]]:
        """Pairs of an old and a new row with the same key; each is among the deleted and inserted ones, too.

        The key is the primary key of a table, and of a view what tells its rows apart, such as its GROUP BY. Without one there
        are no pairs.
        """
        if not self._key:
            return []
        old = {tuple([row[i] for i in self._key]): row for row in self._delta.deletions()}
        pairs = ((old.get(tuple([row[i] for i in self._key])), row) for row in self._delta.insertions())
        return [(self._give(before), self._give(after)) for before, after in pairs if before is not None]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            type(self),
            self.name,
            self.transaction,
            self.inserted,
            self.deleted,
            self.updated,
            self.size,
        )

    def __repr__(self) -> str:
        return (
            f"<Change of {self.name} in transaction {self.transaction}: "
            f"+{len(self.inserted)} -{len(self.deleted)}>"
        )


def _rebuild(
    cls: type[Change],
    name: str,
    transaction: int,
    inserted: list[Any],
    deleted: list[Any],
    updated: list[Any],
    size: int,
) -> Change:
    """Returns a change that was pickled."""
    made = cls.__new__(cls)
    made.__dict__ |= {
        "name": name,
        "transaction": transaction,
        "inserted": inserted,
        "deleted": deleted,
        "updated": updated,
        "size": size,
        "inside": [],
    }
    return made


Callback = Callable[[Change], object]


class Notice(tuple[Callback, Change]):
    """One call to be made, `callback(change)`, for a subscription."""

    subscription: Subscription

    @classmethod
    def to(cls, subscription: Subscription, change: Change) -> Notice:
        made = cls((subscription.callback, change))
        made.subscription = subscription
        return made


Notices = deque[Notice]
"""The calls for one transaction, in their order."""


class Subscription:
    """What `subscribe` returns: call `cancel()` to end it. Also a context manager."""

    def __init__(self, owner: Subscribers, name: str, callback: Callback, when: When) -> None:
        self._owner = owner
        self.name = name
        self.callback = callback
        self.when = when
        self.active = True

    def cancel(self) -> None:
        """Ends the subscription. Idempotent."""
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
        self._first: tuple[Subscription, ...] = ()  # those that are called before the commit
        self.asks_before = False
        """Whether somebody is called before the commit."""
        self._later: tuple[Subscription, ...] = ()
        self.collects_only = False
        """Whether there are subscriptions, and all of them only take changes down."""
        self._queue: deque[Notices] = deque()
        self.is_delivering = False

    def add(self, name: str, callback: Callback, when: When) -> Subscription:
        callback = as_callback(callback, name, when)
        require_callable(callback, f"subscribe to {name}", "give a function of one argument, the change")
        subscription = Subscription(self, name, callback, when)
        if isinstance(callback, AsyncCallback):
            callback.subscription = subscription
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
        self._first = tuple(s for s in self._all if s.when == "before")
        self.asks_before = bool(self._first)
        self._later = tuple(s for s in self._all if s.when == "after")
        self.watched = frozenset(s.name for s in self._all)
        self.collects_only = bool(self._all) and not self._first and all(map(_collects, self._later))

    def collectors(self, name: str) -> list[Collector]:
        """Those that take down the changes of a relation."""
        return [s.callback for s in self._later if s.name == name and isinstance(s.callback, Collector)]

    @property
    def queue(self) -> deque[Notices]:
        """The calls that are still to be made: after an interrupt, some may wait for the next transaction."""
        return self._queue

    def before(self, changes: dict[str, Change]) -> None:
        """Calls the subscribers before the commit; what they raise is raised here."""
        for subscription in self._first:
            change = changes.get(subscription.name)
            if change is not None and subscription.active:
                subscription.callback(change)

    def notices(self, changes: dict[str, Change]) -> Notices:
        """The calls to be made after the commit."""
        return deque([Notice.to(s, changes[s.name]) for s in self._later if s.name in changes])

    def announce(self, notices: Notices | Collected) -> None:
        """Puts the calls for a transaction into the queue. Idempotent, for the calls that are made are taken out of `notices`."""
        if isinstance(notices, Collected):
            notices.hand_over()
        elif notices:
            self._queue.append(notices)

    def after(self, changes: dict[str, Change]) -> list[str]:
        """Calls the subscribers after the commit; returns what they have raised."""
        self.announce(self.notices(changes))
        return self.deliver()

    def deliver(self) -> list[str]:
        """Makes the calls that are in the queue, unless a call of it is just being made.

        Returns what subscribers have raised, of which it warns too.
        """
        if self.is_delivering or not self._queue:
            return []
        problems: list[str] = []
        try:
            self.is_delivering = True
            while self._queue:
                notices = self._queue[0]
                if not notices:
                    self._queue.popleft()
                elif not notices[0].subscription.active:
                    notices.popleft()
                else:
                    self._call(notices, problems)
        finally:
            self.is_delivering = False
        # Only now: where warnings are errors, this raises, and by now everyone has been notified.
        for text in problems:
            warnings.warn(text, SubscriberWarning, stacklevel=2)
        return problems

    def _call(self, notices: Notices, problems: list[str]) -> None:
        change = notices[0][1]
        try:
            # One step for an interrupt: either the call is still in the queue, or the callback has been entered.
            next(starmap(call, iter(notices.popleft, None)))
        except Exception as problem:
            said = f"a subscriber to {change.name} raised {type(problem).__name__}: {problem}"
            log.warning(said, exc_info=True)
            problems.append(f"{said} (transaction {change.transaction} stands)")


def _collects(subscription: Subscription) -> bool:
    return isinstance(subscription.callback, Collector)
