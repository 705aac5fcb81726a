"""The lock of a database: no interrupt leaves it taken, nobody takes it from somebody who is inside."""

from __future__ import annotations

import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.locking import calls
from evercurrent.locking.lock import NEXT, Hold, Lock
from evercurrent.session.transactions import Block
from tests.fuzz.injection import Faults, Interrupted


def taken_elsewhere(lock: Lock, seconds: float = 3.0) -> bool:
    """Whether another thread gets the lock in time."""
    done = threading.Event()

    def take() -> None:
        with lock.hold():
            done.set()

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return done.wait(seconds)


@contextmanager
def skipping(*codes: Any) -> Iterator[None]:
    """Raises at the very first instruction of functions, before any line of them runs."""

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code in codes:
            raise Interrupted
        return None

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


def test_one_thread_at_a_time_as_often_as_it_likes() -> None:
    lock = Lock()
    with lock.hold():
        with lock.hold():
            assert lock.is_held()
        assert not taken_elsewhere(lock, 0.6)
    assert not lock.is_held()
    assert taken_elsewhere(lock)


def test_many_threads_count() -> None:
    lock, total = Lock(), [0]

    def work() -> None:
        for _ in range(200):
            with lock.hold():
                seen = total[0]
                sum(range(20))
                total[0] = seen + 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert total == [1600]


@pytest.mark.parametrize("enter", (Hold.__enter__, Hold.__exit__), ids=("enter", "exit"))
def test_interrupted_before_the_first_instruction(enter: Callable[..., Any]) -> None:
    lock = Lock()

    def interrupted() -> None:
        with skipping(enter.__code__), lock.hold():
            pass

    with pytest.raises(Interrupted) as kept:  # the traceback lives on
        interrupted()
    assert taken_elsewhere(lock)
    assert kept.value is not None


def test_caught_in_the_same_function() -> None:
    lock = Lock()
    for _ in range(3):
        try:
            with skipping(Hold.__exit__.__code__), lock.hold():
                pass
        except Interrupted:
            pass
    settled: list[int] = []
    lock.settle = lambda: settled.append(1)
    with lock.hold():
        assert settled == [1]  # not inside the one that was left
        assert not taken_elsewhere(lock, 0.6)
    assert taken_elsewhere(lock)


def test_who_is_inside_keeps_it() -> None:
    lock = Lock()

    def generator() -> Iterator[int]:
        with lock.hold():
            try:
                yield 1
            finally:
                pass

    suspended = generator()
    next(suspended)
    assert not taken_elsewhere(lock, 0.6)
    with lock.hold():
        pass
    assert lock.is_held()
    suspended.close()
    assert taken_elsewhere(lock)

    with ExitStack() as stack:  # not entered by a `with` statement of its own
        stack.enter_context(lock.hold())
        assert not taken_elsewhere(lock, 0.6)
    assert taken_elsewhere(lock)


def test_a_thread_that_ends_gives_it_up() -> None:
    lock = Lock()
    thread = threading.Thread(target=lambda: lock.hold().__enter__())
    thread.start()
    thread.join()
    assert taken_elsewhere(lock)


def test_nobody_joins_a_transaction_that_was_left() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (x BIGINT)")
    kept = []
    try:
        with skipping(Block.__exit__.__code__), db.transaction():
            db.table("t").insert([(1,)])
    except Interrupted as error:
        kept.append(error)  # the traceback lives on
    with db.transaction():
        db.table("t").insert([(2,)])
    assert db.table("t").rows() == [(2,)]
    assert taken_elsewhere(db._session._lock)


def test_an_inner_call_that_was_never_left_fails_the_transaction() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (x BIGINT)")
    with pytest.raises(ec.TransactionError, match="an inner block of it failed"), db.transaction():
        try:
            with skipping(Block.__exit__.__code__):
                db.table("t").insert([(1,)])
        except Interrupted:
            pass
    assert db.table("t").rows() == []


@pytest.mark.parametrize("where", range(1, 60, 7))
def test_interrupts_inside_the_lock_itself(where: int) -> None:
    lock = Lock()
    try:
        with Faults((where, 2)), lock.hold(), lock.hold():
            pass
    except Interrupted:
        pass
    assert taken_elsewhere(lock)


def called(lock: Lock, inside: str) -> Callable[[], bool]:
    """A function that is inside for the length of its call, and runs a line there."""
    begin, take, release = (
        "\n".join(f"        {line}" for line in lines) for lines in (calls.BEGIN, calls.TAKE, calls.RELEASE)
    )
    names: dict[str, Any] = {
        **calls.NAMES,
        "lock": lock,
        "Interrupted": Interrupted,
        "taken": taken_elsewhere,
    }
    source = f"def call():\n    if True:\n{begin}\n    try:\n{take}\n        {inside}\n        return True\n"
    exec(f"{source}    finally:\n{release}\n", names)
    function: Callable[[], bool] = names["call"]
    return function


def test_a_call_is_inside_until_it_has_returned() -> None:
    lock = Lock()
    assert called(lock, "assert not taken(lock, 0.6)")() and taken_elsewhere(lock)
    with lock.hold():
        assert not called(lock, "pass")(), "it is not alone"
    with pytest.raises(Interrupted):
        called(lock, "raise Interrupted")()
    assert taken_elsewhere(lock)
    lock.close(lambda: ValueError("closed"))
    assert not called(lock, "pass")()


def test_a_call_that_was_interrupted_before_it_could_release_is_over() -> None:
    """Nothing of its handler has run: it is inside as long as it is on the stack, also for other threads."""
    lock = Lock()
    settled: list[int] = []
    lock.settle = lambda: settled.append(1)

    def call(seconds: float) -> None:
        held = calls.Call()
        held.lock, held.over, held.next, held.thread = lock, False, {}, get_ident()
        held.frame = sys._getframe()
        lock.last().next.setdefault(NEXT, held)
        with lock.hold():
            assert not settled and not (seconds and taken_elsewhere(lock, seconds))

    call(0)
    assert lock.is_held() and not settled
    with lock.hold():
        assert settled == [1]
    settled.clear()
    call(0.6)
    assert taken_elsewhere(lock) and settled
