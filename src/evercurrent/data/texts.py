"""Dates, times of day, timestamps and zones as text, read and written as Spark casts them.

A date is `[+-]yyyy[-[m]m[-[d]d]]`, optionally followed by `T` or a blank and anything; a timestamp adds
`[h]h:[m]m:[s]s[.fraction][zone]`. A time of day is `[T][h]h:[m]m[:[s]s[.fraction]]`, or one of twelve hours followed by
AM or PM. What is left out is the first: month, day, midnight. Python's calendar ends at the
years 1 and 9999, and so does ours.

>>> read_date("2024-2"), read_timestamp("2024-02-03 4:05:06.7Z")
(datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 3, 4, 5, 6, 700000))
"""

from __future__ import annotations

import datetime
import re
import zoneinfo

BLANKS = " \t\n\r\f\v" + "".join(map(chr, range(32)))
"""What Spark trims around a text before it reads a value out of it: every control character and the blank."""

_DATE = re.compile(r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
_TIME = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?"
_TIMESTAMP = re.compile(
    rf"([+-]?)(\d{{4,6}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[ T]{_TIME}[ ]?(.*)|[ T]?)?)?)?", re.ASCII
)
_TIME_OF_DAY = re.compile(r"T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?(?: *([AaPp])[Mm])?", re.ASCII)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2})(?::?(\d{2}))?)?", re.ASCII)


def read_date(text: str) -> datetime.date | None:
    """The date that a text says, or None."""
    found = _DATE.fullmatch(text.strip(BLANKS))
    if found is None or found[1] == "-":
        return None
    try:
        return datetime.date(int(found[2]), int(found[3] or 1), int(found[4] or 1))
    except ValueError:
        return None


def read_timestamp(text: str, zone: bool = True) -> datetime.datetime | None:
    """The instant in UTC (`zone`) or the wall-clock time that a text says, or None.

    A text without a zone is in UTC. A wall-clock time ignores the zone that a text names.
    """
    found = _TIMESTAMP.fullmatch(text.strip(BLANKS))
    if found is None or found[1] == "-":
        return None
    try:
        fraction = (found[8] or "")[:6].ljust(6, "0")
        result = datetime.datetime(
            int(found[2]),
            int(found[3] or 1),
            int(found[4] or 1),
            int(found[5] or 0),
            int(found[6] or 0),
            int(found[7] or 0),
            int(fraction),
        )
        name = found[9] or ""
        if not name:
            return result
        where = read_zone(name)
        if where is None:
            return None
        if not zone:
            return result
        return result.replace(tzinfo=where).astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def read_time(text: str) -> datetime.time | None:
    """The time of day that a text says, or None; digits after the sixth are cut off.

    >>> read_time("9:05"), read_time("T12:00:00.5 AM"), read_time("24:00")
    (datetime.time(9, 5), datetime.time(0, 0, 0, 500000), None)
    """
    found = _TIME_OF_DAY.fullmatch(text.strip(BLANKS))
    if found is None:
        return None
    hour = int(found[1])
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[5] in "pP" else 0)
    try:
        return datetime.time(hour, int(found[2]), int(found[3] or 0), int((found[4] or "")[:6].ljust(6, "0")))
    except ValueError:
        return None


def cut_time(t: datetime.time, precision: int) -> datetime.time:
    """A time of day with no more digits after the second than the precision."""
    if precision >= 6:
        return t
    unit: int = 10 ** (6 - precision)
    return t.replace(microsecond=t.microsecond // unit * unit)


def write_time(t: datetime.time) -> str:
    """As Spark casts it to a string: the fraction of a second without zeros at its end.

    >>> write_time(datetime.time(4, 5, 6, 700000)), write_time(datetime.time(0, 0))
    ('04:05:06.7', '00:00:00')
    """
    text = f"{t.hour:02d}:{t.minute:02d}:{t.second:02d}"
    return f"{text}.{t.microsecond:06d}".rstrip("0") if t.microsecond else text


def read_zone(name: str) -> datetime.tzinfo | None:
    """A zone by its name (`Europe/Paris`), its offset (`+02:00`, `UTC-3`) or `Z`; None if there is none such."""
    name = name.strip()
    if name in ("Z", "UTC", "GMT", "UT"):
        return datetime.UTC
    found = _OFFSET.fullmatch(name)
    if found is not None:
        minutes, seconds = int(found[3] or 0), int(found[4] or 0)
        size = datetime.timedelta(hours=int(found[2]), minutes=minutes, seconds=seconds)
        if size > datetime.timedelta(hours=18) or minutes > 59 or seconds > 59:
            return None
        return datetime.timezone(size if found[1] == "+" else -size)
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def write_timestamp(t: datetime.datetime) -> str:
    """As Spark casts it to a string: the fraction of a second without zeros at its end.

    >>> write_timestamp(datetime.datetime(2024, 2, 3, 4, 5, 6, 700000))
    '2024-02-03 04:05:06.7'
    """
    text = f"{t.year:04d}-{t.month:02d}-{t.day:02d} {t.hour:02d}:{t.minute:02d}:{t.second:02d}"
    return f"{text}.{t.microsecond:06d}".rstrip("0") if t.microsecond else text
