"""The lock of a database: one thread at a time, as often as it likes, and no interrupt can leave it taken for ever.

    lock = Lock(settle)
    with lock.hold():        # waits while another thread is inside; a thread that is inside already just goes on
        ...

Holds form a chain, `first -> second -> third`. Taking the lock is one operation: to become the successor of the last hold,
which only one hold can (`dict.setdefault`). Releasing it is one operation: the last hold says that it is over.

    hold.over        true from the moment on when the lock is free; whoever sets it again changes nothing
    hold.next        empty, or {NEXT: the hold that took the lock after this one}

Law. At every moment the last hold of the chain owns the lock, unless it is over. Neither step has a middle, so an interrupt
falls before or after it. Whoever is interrupted after taking the lock and before the `with` statement guards it, or at the first
instruction of `__exit__`, leaves a hold that is not over though nobody is inside. The next user finds that out: a hold
whose `with` statement has ended for certain (`with_statement`), or whose thread has, is over. Waiting threads look every
`PATIENCE` seconds.

Whoever takes the lock first calls `settle`: an interrupted transaction, whatever it has left behind, is finished or undone
before anybody else sees the database.
"""

from __future__ import annotations

import sys
from _thread import LockType, allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from types import FrameType, TracebackType

from evercurrent.locking.with_statement import Place, innermost

NEXT = "next"
PATIENCE = 0.2
HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()


class Hold:
    """One `with` statement that wants the lock. A second one of the same thread is inside the first: it owns nothing."""

    __slots__ = ("lock", "next", "over", "place", "thread")

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.over = False
        self.next: dict[str, Hold] = {}
        self.thread = 0
        self.place: Place | None = None

    def take(self, frame: FrameType, manager: object) -> None:
        """Waits for the lock, unless this thread is inside. `frame` executes the `with` statement of the manager."""
        thread = get_ident()
        while not self.try_to_take(thread, frame, manager):
            last = self.lock.last()
            if not last.over:
                self.lock.wait(last)
                if last.is_abandoned_by_other():
                    last.release()

    def try_to_take(self, thread: int, frame: FrameType | None, manager: object) -> bool:
        """Takes the lock if no other thread has it; says whether this thread is inside now. Without a frame, see `succeed`."""
        last = self.lock.last()
        if not last.over:
            if last.thread != thread:
                return False
            place = last.place
            if place is None or not place.is_left(sys._getframe()):
                return True
            last.release()
        self.thread = thread
        self.place = None if frame is None else Place(frame, manager)
        if last.next.setdefault(NEXT, self) is not self:
            return False
        self.lock.hint = self
        self.lock.settle()
        return True

    def succeed(self) -> None:
        """Owns the lock from now on in the place of the hold through which this thread is inside; it ends with `release`.

        For a transaction that no `with` statement surrounds: it is over when it is released, or when its thread has ended.
        """
        self.thread, self.place = get_ident(), None
        while self.lock.last().next.setdefault(NEXT, self) is not self:
            pass
        self.lock.hint = self

    def is_abandoned_by_other(self) -> bool:
        """Whether the other thread that owns the lock has ended, or has left the `with` statement."""
        top = innermost(self.thread)
        if top is None:
            return True
        place = self.place
        if place is None or not HAS_GIL:  # without it, the other thread runs on while we look
            return False
        above, at = place.callee(top), place.frame.f_lasti
        if not place.is_left(top):
            return False
        # Look again: what was seen holds if the frame above is still the same, for then the statement's has not moved.
        again = innermost(self.thread)
        return again is None or (place.callee(again) is above and place.frame.f_lasti == at)

    def release(self) -> None:
        """Gives the lock back if this hold owns it. Idempotent."""
        self.over = True
        self.place = None
        self.lock.wake()

    # --- as a context manager ------------------------------------------------------------------------------

    def __enter__(self) -> Hold:
        try:
            self.take(sys._getframe(1), self)
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Lock:
    """The chain of holds, and the threads that wait."""

    def __init__(self, settle: Callable[[], object] = lambda: None) -> None:
        self.settle = settle
        self.hint = Hold(self)  # some hold of the chain, mostly the last
        self.hint.over = True
        self.is_closed = False
        self.waiting: deque[LockType] = deque()
        """The bells of the threads that wait."""

    def hold(self) -> Hold:
        """What a `with` statement takes."""
        return Hold(self)

    def close(self, error: Callable[[], Exception]) -> None:
        """Refuses to be taken from now on, with this error."""

        def refuse() -> Hold:
            raise error()

        self.hold = refuse  # type: ignore[method-assign]
        self.is_closed = True

    def last(self) -> Hold:
        """The last hold of the chain."""
        hold = self.hint
        while True:
            after = hold.next.get(NEXT)
            if after is None:
                return hold
            hold = after

    def is_held(self) -> bool:
        """Whether some thread is inside."""
        return not self.last().over

    def wait(self, hold: Hold) -> None:
        """Sleeps until the hold may be over."""
        bell = allocate_lock()
        bell.acquire()
        self.waiting.append(bell)
        if not hold.over:
            bell.acquire(timeout=PATIENCE)

    def wake(self) -> None:
        """Wakes everybody who waits; one of them will be first."""
        while self.waiting:
            try:
                self.waiting.popleft().release()
            except IndexError:
                return
