"""Intervals as text: `1-2`, `INTERVAL '1 02:03:04.5' DAY TO SECOND`, `3 days`.

>>> from evercurrent.data.types import MICROS, MONTHS
>>> read_interval("INTERVAL '1-2' YEAR TO MONTH", MONTHS), read_interval("1 00:00:01", MICROS)
(14, 86401000000)
"""

from __future__ import annotations

import re

from evercurrent.data.bounds import interval_fits
from evercurrent.data.types import Interval
from evercurrent.limits import DIGITS

MICROS_OF = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}

_QUOTED = re.compile(r"INTERVAL\s*([+-]?)\s*'(.*)'\s*([A-Z]+)(?:\s+TO\s+([A-Z]+))?", re.IGNORECASE)
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d+)")
_DAY_TIME = re.compile(r"([+-]?)(\d+)(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?")
_CLOCK = re.compile(r"([+-]?)(\d+):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?")
_UNIT = re.compile(r"([+-]?\d+)(?:\.(\d{1,9}))?\s*([A-Za-z]+)\s*")


def read_interval(text: str, t: Interval) -> int | None:
    """Months or microseconds, or None if the text is no such interval, or a longer one than the type holds."""
    amount = _read(text, t) if len(text) <= DIGITS else None
    return amount if amount is not None and interval_fits(t, amount) else None


def _read(text: str, t: Interval) -> int | None:
    text = text.strip()
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        body = quoted[2].strip()
        if not quoted[4]:
            body = f"{body} {quoted[3]}"
        value = _read(body, t)
        return -value if value is not None and quoted[1] == "-" else value
    if t.unit == "months":
        found = _YEAR_MONTH.fullmatch(text)
        if found:
            months = int(found[2]) * 12 + int(found[3])
            return -months if found[1] == "-" else months
    else:
        found = _DAY_TIME.fullmatch(text)
        if found:
            return _micros(found[1], found[2], found[3], found[4], found[5], found[6])
        found = _CLOCK.fullmatch(text)
        if found:
            return _micros(found[1], "0", found[2], found[3], found[4], found[5])
    return _read_units(text, t)


def _micros(
    sign: str, days: str, hours: str | None, minutes: str | None, seconds: str | None, part: str | None
) -> int:
    total = int(days) * 86_400_000_000 + int(hours or 0) * 3_600_000_000
    total += int(minutes or 0) * 60_000_000 + int(seconds or 0) * 1_000_000
    total += int((part or "")[:6].ljust(6, "0"))
    return -total if sign == "-" else total


def _read_units(text: str, t: Interval) -> int | None:
    """`1 day 2 hours`: numbers with units."""
    factors = MONTHS_OF if t.unit == "months" else MICROS_OF
    total, rest = 0, re.sub(r"^interval\s+", "", text, flags=re.IGNORECASE)
    if not rest:
        return None
    while rest:
        found = _UNIT.match(rest)
        factor = factors.get(found[3].lower().removesuffix("s")) if found else None
        if found is None or factor is None:
            return None
        total += int(found[1]) * factor
        if found[2]:
            if not found[3].lower().startswith("second"):
                return None
            part = int(found[2][:6].ljust(6, "0"))
            total += -part if found[1].startswith("-") else part
        rest = rest[found.end() :]
    return total
