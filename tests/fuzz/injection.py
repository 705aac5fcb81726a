"""Raises an exception at the n-th line that the package runs, and another one some lines later.

    with Faults((120, 30), KeyboardInterrupt) as faults:
        change(db)              # KeyboardInterrupt at line 120, and again 30 lines after that
    faults.raised               # how many were raised

With `after`, lines count from the first call of a function of this name on: so a fault can be aimed at the end of a commit, however
many lines come before. Lines of generated code count. Python stops tracing when a trace function raises, so a profile function, which it does not
stop, starts it again at the next call, or where a call of C returns: the first moment at which CPython looks for a second interrupt. It
does not look while an exception leaves a frame, nor between plain statements of the handler that catches it.
"""

from __future__ import annotations

import sys
from types import FrameType, TracebackType
from typing import Any

from evercurrent.engine.live.memory import Sparing


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but ours."""


class Faults:
    """Counts lines of the package; raises where it is to. With no places, it only counts."""

    def __init__(
        self, places: tuple[int, ...], error: type[BaseException] = Interrupted, after: str | None = None
    ) -> None:
        self.places = list(places)
        self.error = error
        self.after = after
        self.raised = 0
        self.lines = 0
        self._silent = False  # a fault was raised, and tracing has stopped
        self.trail: list[str] = []

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.places and self.lines >= self.places[0]:
                self.places.pop(0)
                self.lines = 0
                self.raised += 1
                self._silent = bool(self.places)
                self.trail.append(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}")
                raise self.error("injected")
        return self._line

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        if self.after is not None:
            if frame.f_code.co_name != self.after or not is_traced(frame):
                return None
            self.after = None
            self._trace_callers(frame.f_back)
        return self._line if is_traced(frame) else None

    def _trace_callers(self, one: FrameType | None) -> None:
        while one is not None:
            if is_traced(one):
                one.f_trace = self._line
            one = one.f_back

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if self._silent and event in ("call", "c_return"):
            self._silent = False
            sys.settrace(self._call)
            self._trace_callers(frame)

    def __enter__(self) -> Faults:
        if len(self.places) > 1:
            sys.setprofile(self._profile)
        sys.settrace(self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)
        sys.setprofile(None)


def is_traced(frame: FrameType) -> bool:
    """Whether faults may be raised in a frame: in the package, but not where the collector calls it, which ignores all errors."""
    name = frame.f_code.co_filename
    return "evercurrent" in name and "/tests/" not in name and frame.f_code is not Sparing._notice.__code__
