"""The lock for the length of one call of a generated function: what `with lock.hold():` does, as lines of the function.

    def insert(row):
        call = Call()           # TAKE: the call becomes the last hold of the chain, or the function returns False
        try:
            ...
        finally:
            call.over = True    # RELEASE

Law. As for any hold: taking the lock and releasing it are one operation each, and an interrupt falls before or after it. The evidence
of whether the owner is still inside is simpler than for a `with` statement: it is, until its call has returned. A call only takes
a lock that is free. If it is not, or if the caller finds that something is to be settled, it must go the long way, by `with`.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from types import FrameType
from typing import Any

from evercurrent.locking.lock import NEXT, Hold
from evercurrent.locking.with_statement import SUSPENDABLE, Place


class CallPlace(Place):
    """The whole call of a function that is no generator."""

    __slots__ = ()

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame

    def is_left(self, top: FrameType | None) -> bool:
        """Whether the call has returned for certain."""
        frame, called = top, None
        while frame is not None and frame is not self.frame:
            frame, called = frame.f_back, frame
        # If the other thread went on while we looked, a generator may have been cut off from its caller.
        return frame is None and called is not None and not called.f_code.co_flags & SUSPENDABLE


class Call(Hold):
    """The hold of one call. The function sets every attribute, as there is no time for another call."""

    __slots__ = ("frame",)
    frame: FrameType | None
    __init__ = object.__init__

    @property
    def place(self) -> Place | None:
        frame = self.frame
        return None if frame is None else CallPlace(frame)

    @place.setter
    def place(self, place: Place | None) -> None:
        self.frame = None if place is None else place.frame


NAMES: dict[str, Any] = {"Call": Call, "NEXT": NEXT, "get_ident": get_ident, "get_frame": sys._getframe}
"""What the lines refer to, beside the local or global `lock`."""

BEGIN = (
    "call = Call()",
    "call.lock = lock",
    "call.over = False",
    "call.next = {}",
    "call.thread = get_ident()",
    "call.frame = get_frame()",
)
TAKE = (
    "last = lock.hint",
    "if lock.is_closed or not last.over or last.next or last.next.setdefault(NEXT, call) is not call:",
    "    return False",
    "lock.hint = call",
)
RELEASE = (
    "call.over = True",
    "call.frame = None",
    "if lock.waiting:",
    "    lock.wake()",
)
