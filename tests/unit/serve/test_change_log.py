"""The log of changes: what waits is bounded, whatever the server's thread does, and no change is left lying."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import evercurrent as ec
from evercurrent.serve import change_log
from evercurrent.serve.change_log import ChangeLog
from evercurrent.serve.studio.inspection import inspection_of


@pytest.fixture
def db() -> ec.Database:
    found = ec.connect()
    found.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    return found


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    found = asyncio.new_event_loop()
    yield found
    found.close()


def open_log(db: ec.Database, loop: asyncio.AbstractEventLoop, most: int = 1000) -> ChangeLog:
    return ChangeLog(inspection_of(db), "t", db.table("t"), loop, most_changes=most)


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_waits_is_bounded_while_the_server_has_no_time(
    db: ec.Database, loop: asyncio.AbstractEventLoop
) -> None:
    log = open_log(db, loop, most=5)  # the loop does not run
    for i in range(50):
        db.table("t").insert((i,))
        assert len(log._fresh) <= 6 and len(log.kept) <= 5
    assert [c.inserted for c in log.changes] == [[(i,)] for i in range(45, 50)]
    assert log.since(44) is None and log.begins == 45


def test_a_log_whose_server_is_gone_ends(db: ec.Database, loop: asyncio.AbstractEventLoop) -> None:
    log = open_log(db, loop, most=5)
    db.table("t").insert((0,))  # the thread is thought to be awake, and never looks
    loop.close()
    for i in range(1, 10):
        db.table("t").insert((i,))
    assert not log.subscription.active and not log._fresh
    assert not db._session.subscribers.watched


def test_commits_wake_the_server_after_a_quiet_time(
    db: ec.Database, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "PAUSE", 0.001)
    monkeypatch.setattr(change_log, "QUIET_LOOKS", 3)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        log = open_log(db, loop)
        for i in range(100):
            waiting = asyncio.run_coroutine_threadsafe(log.wait(db.version, 20), loop)
            if i % 10 == 0:
                wait_until(lambda: not log._collector.is_awake and log._looking is None)
            db.table("t").insert((i,))
            if i % 3 == 0:
                assert (
                    log.newest == db.version
                )  # taken in by somebody else: the waiting are woken all the same
            assert waiting.result(20) is True
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_a_change_that_was_handed_over_twice_is_kept_once(
    db: ec.Database, loop: asyncio.AbstractEventLoop
) -> None:
    log = open_log(db, loop)
    db.table("t").insert((1,))
    log._fresh.append(log._fresh[0])
    db.table("t").insert((2,))
    found = log.since(0)
    assert found is not None and [c.inserted for c in found] == [[(1,)], [(2,)]]
