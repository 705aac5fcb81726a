"""Functions of times of day: made from numbers and text, taken apart into numbers, their distance, their truncation.

A time of day has no date, so nothing here passes midnight: what would is an error.

>>> time_diff("HOUR", datetime.time(9, 30), datetime.time(8, 0)), time_trunc("minute", datetime.time(9, 30, 5))
(-1, datetime.time(9, 30))
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    DATE,
    INT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Date,
    Decimal,
    Float,
    Integer,
    Time,
    Type,
)
from evercurrent.term.functions.calendar import MICROS_PER_DAY, micros_of_day, time_of
from evercurrent.term.functions.exact import POWERS, truncate_quotient
from evercurrent.term.functions.failures import bad_argument
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import count, expect, numeric, simple, take_exactly
from evercurrent.term.functions.temporal.datetimes import make_timestamp, to_utc

SECONDS = Decimal(16, 6)
UNITS = {
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}


def unit_of(name: str, unit: str) -> int:
    """The microseconds of a unit."""
    found = UNITS.get(unit.upper())
    if found is None:
        bad_argument(name, f"there is no unit {unit}, only {', '.join(UNITS)}")
    return found


def time_diff(unit: str, start: datetime.time, end: datetime.time) -> int:
    """Whole units from start to end, towards zero."""
    return truncate_quotient(micros_of_day(end) - micros_of_day(start), unit_of("TIME_DIFF", unit))


def time_trunc(unit: str, t: datetime.time) -> datetime.time:
    size = unit_of("TIME_TRUNC", unit)
    return time_of(micros_of_day(t) // size * size)


def make_time(hour: int, minute: int, seconds: int) -> datetime.time:
    """`seconds` are scaled, as `SECONDS` are."""
    whole, micros = divmod(seconds, 1_000_000)
    try:
        return datetime.time(hour, minute, whole, micros)
    except (ValueError, OverflowError):
        bad_argument("MAKE_TIME", "an hour is 0 to 23, a minute 0 to 59, and seconds are 0 to less than 60")


def check_time(name: str, micros: int) -> datetime.time:
    if not 0 <= micros < MICROS_PER_DAY:
        bad_argument(name, "a time is 00:00:00 to 23:59:59.999999")
    return time_of(micros)


def _infer_make_time(types: Types) -> Signature:
    count(types, 3)
    if isinstance(types[2], Float):  # Spark reads these seconds as a decimal too
        return Signature((expect(types[0], INT, 0), expect(types[1], INT, 1), SECONDS), TIME)
    return take_exactly((INT, INT, SECONDS), TIME)(types)


def _infer_time_trunc(types: Types) -> Signature:
    count(types, 2)
    t = types[1] if isinstance(types[1], Time) else expect(types[1], TIME, 1)
    return Signature((expect(types[0], STRING, 0), t), t)


def _infer_from_seconds(types: Types) -> Signature:
    count(types, 1)
    return Signature((numeric(types[0]),), TIME)


def _implement_from_seconds(types: Types, result: Type) -> Callable[[Any], datetime.time]:
    name = "TIME_FROM_SECONDS"
    match types[0]:
        case Integer():
            return lambda n: check_time(name, n * 1_000_000)
        case Decimal(scale=s):
            return lambda n: check_time(name, n * 1_000_000 // POWERS[s])
        case Float():

            def from_float(n: float) -> datetime.time:
                if not math.isfinite(n):
                    bad_argument(name, "NaN and infinite numbers are no time")
                return check_time(name, math.floor(n * 1_000_000))

            return from_float
        case t:
            raise AssertionError(t)


# --- timestamps of a day and a time ------------------------------------------------------------------------


def _from_day_and_time(numbers: Function, zoned: bool) -> Function:
    """MAKE_TIMESTAMP of a DATE and a TIME beside the one of six numbers."""

    def infer(types: Types) -> Signature:
        if len(types) < 2 or not isinstance(types[0], Date) or not isinstance(types[1], Time):
            return numbers.infer(types)
        count(types, 2, 3 if zoned else 2)
        zones = tuple(expect(t, STRING, 2) for t in types[2:])
        return Signature((DATE, types[1], *zones), TIMESTAMP if zoned else TIMESTAMP_NTZ)

    def implement(types: Types, result: Type) -> Callable[..., Any]:
        if isinstance(types[0], Date):
            return day_and_time
        return numbers.implement(types, result)

    return Function(numbers.name, infer, implement, fails=True)


def day_and_time(day: datetime.date, time: datetime.time, zone: str | None = None) -> datetime.datetime:
    moment = datetime.datetime.combine(day, time)
    return moment if zone is None else to_utc(moment, zone)


MAKE_TIMESTAMP = simple(
    "make_timestamp",
    (INT, INT, INT, INT, INT, SECONDS, STRING),
    TIMESTAMP,
    make_timestamp,
    least=6,
    fails=True,
)
MAKE_TIMESTAMP_NTZ = simple(
    "make_timestamp_ntz", (INT,) * 5 + (SECONDS,), TIMESTAMP_NTZ, make_timestamp, fails=True
)

# --- the table ---------------------------------------------------------------------------------------------


def _check_unit(name: str, infer: Callable[[Types], Signature]) -> Callable[[Types, Any], Signature]:
    """Look at a constant unit when the call is built."""

    def refine(types: Types, constants: tuple[Any, ...]) -> Signature:
        if constants and isinstance(constants[0], str) and constants[0].upper() not in UNITS:
            raise TypeMismatch(f"there is no unit {constants[0]}, only {', '.join(UNITS)}")
        return infer(types)

    return refine


_infer_time_diff = take_exactly((STRING, TIME, TIME), BIGINT)

FUNCTIONS = (
    Function("make_time", _infer_make_time, lambda t, r: make_time, fails=True),
    Function(
        "time_diff",
        _infer_time_diff,
        lambda t, r: time_diff,
        fails=True,
        refine=_check_unit("time_diff", _infer_time_diff),
    ),
    Function(
        "time_trunc",
        _infer_time_trunc,
        lambda t, r: time_trunc,
        fails=True,
        refine=_check_unit("time_trunc", _infer_time_trunc),
    ),
    Function("time_from_seconds", _infer_from_seconds, _implement_from_seconds, fails=True),
    simple(
        "time_from_millis", (BIGINT,), TIME, lambda n: check_time("TIME_FROM_MILLIS", n * 1_000), fails=True
    ),
    simple("time_from_micros", (BIGINT,), TIME, lambda n: check_time("TIME_FROM_MICROS", n), fails=True),
    simple("time_to_seconds", (TIME,), Decimal(14, 6), micros_of_day),
    simple("time_to_millis", (TIME,), BIGINT, lambda t: micros_of_day(t) // 1_000),
    simple("time_to_micros", (TIME,), BIGINT, micros_of_day),
    _from_day_and_time(MAKE_TIMESTAMP, zoned=True),
    _from_day_and_time(MAKE_TIMESTAMP_NTZ, zoned=False),
)
