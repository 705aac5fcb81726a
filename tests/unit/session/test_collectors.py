"""Collectors: what commits take down for a reader on another thread is what subscribers are told."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec
from evercurrent.rows.collecting import Collector
from evercurrent.rows.subscriptions import Change
from tests.unit.session.test_small_changes import VIEWS, fresh, outcome
from tests.unit.test_interrupts import Interrupted, interrupt_at


def collect(db: ec.Database, *names: str) -> dict[str, Collector]:
    found = {}
    for name in names:
        found[name] = Collector(lambda: None, 1_000_000)
        (db.table(name) if name in db.tables else db.view(name)).subscribe(found[name])
    return found


def read(collector: Collector) -> list[Change]:
    """What a reader makes of it: each transaction once."""
    found: list[Change] = []
    for entry in collector.waiting:
        change = entry if isinstance(entry, Change) else Change.of_entry(entry)
        if not found or change.transaction > found[-1].transaction:
            found.append(change)
    return found


def show(change: Change) -> tuple[Any, ...]:
    rows = [sorted(map(repr, part)) for part in (change.inserted, change.deleted, change.updated)]
    return change.transaction, change.name, *rows


@pytest.mark.parametrize(
    "names", [("spend",), ("visits",), ("people", "ratio", "visited"), (*VIEWS, "people")]
)
def test_collectors_find_what_subscribers_are_told(names: tuple[str, ...]) -> None:
    pair = [fresh(), fresh()]
    for db in pair:
        db.execute("CREATE TABLE idle (x INT); CREATE VIEW visited AS SELECT person, code, days FROM visits")
    followed, collected = pair
    told: list[Change] = []
    for name in names:
        (followed.table(name) if name in followed.tables else followed.view(name)).subscribe(told.append)
    collectors = collect(collected, *names)
    for i in range(300):
        assert outcome(followed, i) == outcome(collected, i)
        if i % 7 == 0:  # no view reads it: nothing of the change before is taken down again
            for db in pair:
                db.table("idle").insert((i,))
    assert collected._session.subscribers.collects_only and collected._session.small
    for name in names:
        found = list(map(show, read(collectors[name])))
        assert found == [show(c) for c in told if c.name == name] and found
        assert any(type(entry) is tuple for entry in collectors[name].waiting)  # the short way was used


def test_an_interrupt_leaves_neither_a_gap_nor_what_was_undone() -> None:
    db = fresh()
    collectors = collect(db, "visits", "total")
    db.table("visits").insert((None, None, 0))
    point, done = 0, False
    while not done:
        point += 1
        done = True
        try:
            with interrupt_at(point):
                db.table("visits").insert((None, None, point))
        except Interrupted:
            done = False
        db.table("visits").insert((None, None, -point))
        rows = [row for change in read(collectors["visits"]) for row in change.inserted]
        assert sorted(map(repr, rows)) == sorted(map(repr, db.table("visits").rows())), point
        assert [c.transaction for c in read(collectors["total"])] == list(range(1, db.version + 1)), point
    assert point > 50 and db._session.small


def test_calls_that_an_interrupt_has_left_come_first() -> None:
    """A change that goes the short way does not overtake one whose notices still wait."""
    db = fresh()
    collectors = collect(db, "visits")
    db.table("visits").insert((None, None, 0))
    with db.transaction():
        db.table("visits").insert((None, None, 1))
    queue = db._session.subscribers.queue
    notices = db._session.subscribers.notices({"visits": read(collectors["visits"])[-1]})
    collectors["visits"].waiting.pop()
    queue.append(notices)  # as if the interrupt had come before the call
    db.table("visits").insert((None, None, 2))
    assert [c.inserted for c in read(collectors["visits"])] == [[(None, None, i)] for i in range(3)]
    assert not queue


def test_other_subscribers_are_told_beside_collectors() -> None:
    db = fresh()
    collectors = collect(db, "total")
    told: list[Change] = []
    db.table("visits").insert((None, None, 1))
    with db.view("total").subscribe(told.append):
        db.table("visits").insert((None, None, 2))
    db.table("visits").insert((None, None, 3))
    assert [c.inserted for c in told] == [[(3, 2)]]
    assert [c.inserted for c in read(collectors["total"])] == [[(1, 1)], [(3, 2)], [(6, 3)]]


def test_the_reader_is_woken_once_and_when_too_much_waits() -> None:
    woken: list[int] = []
    collector = Collector(lambda: woken.append(len(collector.waiting)), 3)
    about = ("t", lambda row: row, ())
    for number in range(1, 6):
        collector((number, {(number,): 1}, about))
    assert woken == [1, 4, 5]
    collector.waiting.clear()
    collector.is_awake = False
    collector((6, {(6,): 1}, about))
    assert woken == [1, 4, 5, 1]
