"""SEQUENCE: arrays of numbers, dates and timestamps from a start to a stop.

sequence(1, 7, 3)                                            =  [1, 4, 7]
sequence(DATE '2025-01-31', DATE '2025-03-31', INTERVAL 1 MONTH)  =  [2025-01-31, 2025-02-28, 2025-03-31]
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import DAYS, Array, Date, Integer, Interval, Timestamp, Type
from evercurrent.limits import ELEMENTS
from evercurrent.term.functions.calendar import add_days, add_micros, add_months
from evercurrent.term.functions.coerce import common_of_two
from evercurrent.term.functions.failures import bad_argument, check_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.intervals import MICROS_OF
from evercurrent.term.functions.signatures import count


def _infer_sequence(types: Types) -> Signature:
    count(types, 2, 3)
    t = common_of_two(types[0], types[1])
    if isinstance(t, Integer):
        if len(types) == 3:
            t = common_of_two(t, types[2])
        return Signature((t,) * len(types), Array(t))
    if isinstance(t, Date | Timestamp):
        step = types[2] if len(types) == 3 else DAYS
        if not isinstance(step, Interval):
            raise TypeMismatch(f"the step must be an interval, not {step}")
        return Signature((t, t, step)[: len(types)], Array(t))
    raise TypeMismatch(f"there is no sequence of {t}")


def _sequence(types: Types, result: Type) -> Callable[..., tuple[Any, ...]]:
    match types[0]:
        case Integer():
            return number_sequence
        case _:
            months = len(types) == 3 and isinstance(types[2], Interval) and types[2].unit == "months"
            return lambda start, stop, step=None: moment_sequence(start, stop, step, months)


def number_sequence(start: int, stop: int, step: int | None = None) -> tuple[Any, ...]:
    by = step if step is not None else 1 if start <= stop else -1
    _check_step(by, start == stop, start < stop)
    if by:
        check_size("SEQUENCE", abs(stop - start) // abs(by))
    return tuple(range(start, stop + (1 if by > 0 else -1), by)) if by else (start,)


def _check_step(step: int, same: bool, up: bool) -> None:
    if same or (step > 0 and up) or (step < 0 and not up):
        return
    bad_argument("SEQUENCE", "the step must lead from the start to the stop")


def moment_sequence(start: Any, stop: Any, step: int | None, months: bool) -> tuple[Any, ...]:
    by = step if step is not None else MICROS_OF["day"] * (1 if start <= stop else -1)
    _check_step(by, start == stop, start < stop)
    items: list[Any] = []
    while len(items) <= ELEMENTS:
        # Steps are counted from the start, so that a month's last day does not drift.
        at = _shift(start, by * len(items), months)
        if (by > 0 and at > stop) or (by < 0 and at < stop) or (items and at == items[-1]):
            return tuple(items)
        items.append(at)
        if by == 0:
            return tuple(items)
    bad_argument("SEQUENCE", "it would have too many elements")


def _shift(start: Any, by: int, months: bool) -> Any:
    if months:
        return add_months(start, by)
    if isinstance(start, datetime.datetime):
        return add_micros(start, by)
    return add_days(start, by // MICROS_OF["day"])


FUNCTIONS = (Function("sequence", _infer_sequence, _sequence, fails=True),)
