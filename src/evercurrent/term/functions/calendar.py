"""Moving dates and timestamps: by days, by months (to the month's last day at most), by microseconds.

Python's calendar holds the years 1 to 9999; a step out of it is an error of evaluation.

>>> add_months(datetime.date(2024, 1, 31), 1)
datetime.date(2024, 2, 29)
"""

from __future__ import annotations

import calendar
import datetime
from typing import TypeVar

from evercurrent.errors import EvaluationError

Day = TypeVar("Day", datetime.date, datetime.datetime)

EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
EPOCH = datetime.datetime(1970, 1, 1)
MICRO = datetime.timedelta(microseconds=1)
MICROS_PER_DAY = 86_400_000_000


def out_of_calendar() -> EvaluationError:
    return EvaluationError("the date is outside of the years 1 to 9999")


def add_days(day: datetime.date, days: int) -> datetime.date:
    try:
        return datetime.date.fromordinal(day.toordinal() + days)
    except (ValueError, OverflowError):
        raise out_of_calendar() from None


def add_micros(moment: datetime.datetime, micros: int) -> datetime.datetime:
    try:
        return moment + datetime.timedelta(microseconds=micros)
    except OverflowError:
        raise out_of_calendar() from None


def add_months(day: Day, months: int) -> Day:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise out_of_calendar()
    return day.replace(year=year, month=month + 1, day=min(day.day, month_length(year, month + 1)))


def month_length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def days_of(day: datetime.date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - EPOCH_DAY


def micros_of(moment: datetime.datetime) -> int:
    """Microseconds since 1970-01-01 00:00:00."""
    return (moment - EPOCH) // MICRO


def micros_of_day(t: datetime.time) -> int:
    """Microseconds since midnight."""
    return ((t.hour * 60 + t.minute) * 60 + t.second) * 1_000_000 + t.microsecond


def time_of(micros: int) -> datetime.time:
    """The time of day so many microseconds after midnight."""
    if not 0 <= micros < MICROS_PER_DAY:
        raise EvaluationError("the time is outside of 00:00:00 to 23:59:59.999999")
    seconds, fraction = divmod(micros, 1_000_000)
    minutes, second = divmod(seconds, 60)
    return datetime.time(minutes // 60, minutes % 60, second, fraction)


def add_to_time(t: datetime.time, micros: int) -> datetime.time:
    """The time of day moved by an interval; it does not pass midnight."""
    return time_of(micros_of_day(t) + micros)


def moment_of(micros: int) -> datetime.datetime:
    try:
        return EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        raise out_of_calendar() from None


def midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime(day.year, day.month, day.day)
