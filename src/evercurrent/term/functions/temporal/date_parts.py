"""Parts of dates, times of day, timestamps and intervals: year, quarter, weekday, hour; DATE_PART and EXTRACT.

extract(QUARTER FROM DATE '2024-05-01')      2
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    Date,
    Decimal,
    Integer,
    Interval,
    String,
    Time,
    Timestamp,
    Type,
)
from evercurrent.term.functions.exact import truncate_quotient
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.intervals import MICROS_OF
from evercurrent.term.functions.signatures import count, expect, simple, take_exactly
from evercurrent.term.functions.temporal.date_patterns import MONTHS as MONTH_NAMES
from evercurrent.term.functions.temporal.date_patterns import WEEKDAYS

Moment = datetime.datetime
Day = datetime.date

SECONDS = Decimal(8, 6)


def iso_week(d: Day) -> int:
    return d.isocalendar().week


DAY_PARTS: dict[str, Callable[[Day], int]] = {
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "week": iso_week,
    "yearofweek": lambda d: d.isocalendar().year,
    "day": lambda d: d.day,
    "dayofweek": lambda d: d.isoweekday() % 7 + 1,
    "dayofweek_iso": lambda d: d.isoweekday(),
    "weekday": lambda d: d.weekday(),
    "doy": lambda d: d.timetuple().tm_yday,
}
TIME_PARTS: dict[str, Callable[[Moment], int]] = {
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
}
PART_NAMES = {
    "year": "year y years yr yrs",
    "yearofweek": "yearofweek",
    "quarter": "quarter qtr",
    "month": "month mon mons months",
    "week": "week w weeks",
    "day": "day d days",
    "dayofweek": "dayofweek dow",
    "dayofweek_iso": "dayofweek_iso dow_iso",
    "doy": "doy",
    "hour": "hour h hours hr hrs",
    "minute": "minute m min mins minutes",
    "second": "second s sec seconds secs",
}
PARTS = {name: part for part, names in PART_NAMES.items() for name in names.split()}


def _refine_part(types: Types, constants: tuple[Any, ...]) -> Signature:
    count(types, 2)
    if not isinstance(constants[0], str):
        raise TypeMismatch("the field must be a constant")
    part = PARTS.get(constants[0].lower())
    if part is None:
        raise TypeMismatch(f"there is no field {constants[0]}")
    t = types[1]
    if isinstance(t, Interval):
        return Signature((STRING, t), _interval_part(part, t))
    if isinstance(t, Time) and part in ("hour", "minute", "second"):
        return Signature((STRING, t), Decimal(2 + t.precision, t.precision) if part == "second" else INT)
    if isinstance(t, String):
        t = TIMESTAMP
    if not isinstance(t, Date | Timestamp):
        raise TypeMismatch(f"{t} has no field {constants[0]}")
    if part in ("hour", "minute", "second"):
        t = t if isinstance(t, Timestamp) else TIMESTAMP
        return Signature((STRING, t), SECONDS if part == "second" else INT)
    return Signature((STRING, t), INT)


def _interval_part(part: str, t: Interval) -> Type:
    if t.unit == "months" and part in ("year", "month"):
        return INT if part == "year" else Integer(8)
    if t.unit == "micros" and part in ("day", "hour", "minute", "second"):
        return SECONDS if part == "second" else INT if part == "day" else Integer(8)
    raise TypeMismatch(f"{t} has no field {part}")


def _implement_part(types: Types, result: Type) -> Callable[[str, Any], Any]:
    if isinstance(types[1], Interval):
        return lambda name, v: interval_field(PARTS[name.lower()], v)
    # Seconds are counted in the smallest unit that the type of the argument holds.
    unit = 10 ** (6 - types[1].precision) if isinstance(types[1], Time) else 1

    def part(name: str, moment: Any) -> int:
        kind = PARTS[name.lower()]
        if kind == "second":
            return int(moment.second * 1_000_000 + moment.microsecond) // unit
        return DAY_PARTS[kind](moment) if kind in DAY_PARTS else TIME_PARTS[kind](moment)

    return part


def interval_field(part: str, value: int) -> int:
    match part:
        case "year":
            return truncate_quotient(value, 12)
        case "month":
            return value - truncate_quotient(value, 12) * 12
        case "day":
            return truncate_quotient(value, MICROS_OF["day"])
        case "hour":
            return truncate_quotient(
                value - truncate_quotient(value, MICROS_OF["day"]) * MICROS_OF["day"], MICROS_OF["hour"]
            )
        case "minute":
            return truncate_quotient(
                value - truncate_quotient(value, MICROS_OF["hour"]) * MICROS_OF["hour"], MICROS_OF["minute"]
            )
        case _:
            return value - truncate_quotient(value, MICROS_OF["minute"]) * MICROS_OF["minute"]


def _moment_type(types: Types) -> Signature:
    """One argument with a time of day."""
    count(types, 1)
    t = types[0] if isinstance(types[0], Time | Timestamp) else expect(types[0], TIMESTAMP, 0)
    return Signature((t,), INT)


def _day_source(attribute: str) -> Callable[[Types, Type, tuple[str, ...]], str]:
    return lambda types, result, args: f"{args[0]}.{attribute}"


DAY_FUNCTIONS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "weekofyear": "week",
    "day": "day",
    "dayofweek": "dayofweek",
    "weekday": "weekday",
    "dayofyear": "doy",
}


def _day_part(name: str, part: str) -> Function:
    meaning = DAY_PARTS[part]
    source = _day_source(part) if part in ("year", "month", "day") else None
    return Function(name, take_exactly((DATE,), INT), lambda t, r: meaning, python=source)


def _second(t: Moment) -> int:
    return t.second


FUNCTIONS = (
    *(_day_part(name, part) for name, part in DAY_FUNCTIONS.items()),
    Function("hour", _moment_type, lambda t, r: TIME_PARTS["hour"], python=_day_source("hour")),
    Function("minute", _moment_type, lambda t, r: TIME_PARTS["minute"], python=_day_source("minute")),
    Function("second", _moment_type, lambda t, r: _second, python=_day_source("second")),
    simple("monthname", (DATE,), STRING, lambda d: MONTH_NAMES[d.month - 1][:3]),
    simple("dayname", (DATE,), STRING, lambda d: WEEKDAYS[d.weekday()][:3]),
    Function(
        "date_part",
        lambda types: _refine_part(types, ("year", None)),
        _implement_part,
        refine=_refine_part,
    ),
)
