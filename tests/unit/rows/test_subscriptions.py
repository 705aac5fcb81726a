"""Subscribers hear of every transaction once, in order."""

from __future__ import annotations

import pytest

from evercurrent.data.zset import ZSet
from evercurrent.rows.subscriptions import Change, Subscribers, SubscriberWarning


def change(number: int, name: str = "v") -> dict[str, Change]:
    return {name: Change(name, ZSet([((number,), 1), ((-number,), -2)]), number, lambda row: row)}


def test_a_change_lists_rows_as_often_as_they_came_and_went() -> None:
    one = change(3)["v"]
    assert (one.inserted, one.deleted, one.transaction) == ([(3,)], [(-3,), (-3,)], 3)
    assert repr(one) == "<Change of v in transaction 3: +1 -2>"


def test_order_kind_and_cancelling() -> None:
    heard: list[str] = []
    subscribers = Subscribers()
    subscribers.add("v", lambda c: heard.append("first"), "after")
    subscribers.add("v", lambda c: heard.append("before"), "before")
    other = subscribers.add("w", lambda c: heard.append("other"), "after")
    last = subscribers.add("v", lambda c: heard.append("last"), "after")
    assert subscribers.watched == {"v", "w"}
    subscribers.before(change(1))
    subscribers.after(change(1))
    last.cancel()
    last.cancel()
    other.cancel()
    subscribers.after(change(2))
    assert heard == ["before", "first", "last", "first"]
    assert not last.active
    assert subscribers.watched == {"v"}


def test_one_that_raises_after_the_commit_is_reported_and_the_others_hear() -> None:
    heard: list[int] = []
    subscribers = Subscribers()
    subscribers.add("v", lambda c: 1 // 0, "after")
    subscribers.add("v", lambda c: heard.append(c.transaction), "after")
    with pytest.warns(SubscriberWarning, match="ZeroDivisionError.*transaction 1 stands"):
        subscribers.after(change(1))
    assert heard == [1]


def test_one_that_raises_before_the_commit_is_heard_by_the_caller() -> None:
    subscribers = Subscribers()
    subscribers.add("v", lambda c: 1 // 0, "before")
    with pytest.raises(ZeroDivisionError):
        subscribers.before(change(1))


def test_what_a_subscriber_does_is_told_after_everyone_heard_of_the_present() -> None:
    heard: list[tuple[str, int]] = []
    subscribers = Subscribers()

    def first(c: Change) -> None:
        heard.append(("first", c.transaction))
        if c.transaction == 1:
            subscribers.after(change(2))

    subscribers.add("v", first, "after")
    subscribers.add("v", lambda c: heard.append(("second", c.transaction)), "after")
    subscribers.after(change(1))
    assert heard == [("first", 1), ("second", 1), ("first", 2), ("second", 2)]


def test_a_subscription_ends_with_its_block() -> None:
    heard: list[int] = []
    subscribers = Subscribers()
    with subscribers.add("v", lambda c: heard.append(c.transaction), "after"):
        subscribers.after(change(1))
    subscribers.after(change(2))
    assert heard == [1]
