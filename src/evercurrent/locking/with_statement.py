"""Whether a `with` statement is still being executed, read off the stack.

A context manager that is written in Python cannot rely on its own `__exit__`: an interrupt may be raised before the first
instruction of it. Whoever finds a lock taken then needs evidence of whether its holder is still inside the statement:

    with lock:          # the place: this frame, and the offset of the instruction that calls `__enter__`
        work()          # inside: an exception raised here comes to the handler of the statement

Law. `is_left(place)` is true only if the statement has ended for certain: its function has returned, or goes on at an
instruction from which an exception would not reach the handler of the statement. In doubt (`__enter__` was not called by a
`with` statement, a generator is suspended inside one) it is false.

CPython tells all of it: where a frame is (`f_lasti`), what it runs (`co_code`), and which instructions are guarded by which
handler (`co_exceptiontable`, the format of Python 3.11 and later).
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType

Range = tuple[int, int, int]
"""Start and end of guarded instructions, and where their handler begins; in bytes."""

SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Place:
    """A `with` statement that `manager` was entered by: the frame, and the offset of the call of `__enter__`."""

    __slots__ = ("frame", "inside", "manager", "offset")

    def __init__(self, frame: FrameType, manager: object) -> None:
        self.frame = frame
        self.manager = manager
        self.offset = frame.f_lasti
        self.inside = -1  # an offset that is known to be inside the statement

    def callee(self, top: FrameType | None) -> FrameType | None:
        """The frame that the statement's frame has called; None: it runs itself, or is not on the stack."""
        frame, called = top, None
        while frame is not None and frame is not self.frame:
            frame, called = frame.f_back, frame
        return None if frame is None else called

    def is_left(self, top: FrameType | None) -> bool:
        """Whether the statement has ended for certain. `top` is the innermost frame of the thread that entered it."""
        frame, called = top, None
        while frame is not None and frame is not self.frame:
            frame, called = frame.f_back, frame
        code = self.frame.f_code
        if frame is None:  # not on the stack: a function has returned, a generator may only be suspended
            handler = handler_of(code, self.offset)
            if handler is None:
                return False
            if code.co_flags & SUSPENDABLE:
                return not is_guarded(code, self.frame.f_lasti, handler)
            # If the other thread went on while we looked, a generator may have been cut off from its caller.
            return called is not None and not called.f_code.co_flags & SUSPENDABLE
        now = frame.f_lasti
        if now == self.inside:
            return False
        handler = handler_of(code, self.offset)
        if handler is None or is_guarded(code, now, handler):
            self.inside = now
            return False
        # Outside the guarded part run only the calls of `__enter__` and `__exit__` themselves.
        return called is None or called.f_locals.get("self") is not self.manager


@lru_cache(maxsize=1024)
def handler_of(code: CodeType, offset: int) -> int | None:
    """Where the handler of a `with` statement begins, by the offset of its call of `__enter__`; None: it is no such call."""
    raw = code.co_code
    if not 0 <= offset < len(raw):
        return None
    name = dis.opname[raw[offset]]
    if name == "CALL":  # since Python 3.14
        if offset < 2 or dis.opname[raw[offset - 2]] != "LOAD_SPECIAL":
            return None
    elif name != "BEFORE_WITH":
        return None
    for start, _, handler in ranges(code):
        if offset < start <= offset + 12:
            return handler
    return None


@lru_cache(maxsize=4096)
def is_guarded(code: CodeType, offset: int, handler: int) -> bool:
    """Whether an exception at an offset comes to a handler, perhaps after other handlers have run."""
    seen: set[int] = set()
    while offset not in seen:
        seen.add(offset)
        found = next((h for start, end, h in ranges(code) if start <= offset < end), None)
        if found is None:
            return False
        if found == handler:
            return True
        offset = found
    return False


@lru_cache(maxsize=1024)
def ranges(code: CodeType) -> tuple[Range, ...]:
    """The table of exceptions of a code object: numbers of six bits in a byte, the first byte of an entry marked."""
    data = iter(code.co_exceptiontable)
    found: list[Range] = []
    while True:
        try:
            start = 2 * _number(data)
        except StopIteration:
            return tuple(found)
        length, handler = 2 * _number(data), 2 * _number(data)
        _number(data)  # the depth of the stack
        found.append((start, start + length, handler))


def _number(data: Iterator[int]) -> int:
    byte = next(data)
    value = byte & 63
    while byte & 64:
        byte = next(data)
        value = value << 6 | byte & 63
    return value


def innermost(thread: int) -> FrameType | None:
    """The innermost frame of a thread; None: the thread has ended."""
    return sys._current_frames().get(thread)
