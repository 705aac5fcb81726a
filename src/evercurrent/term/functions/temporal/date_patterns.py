"""Patterns of dates and times, in Java's letters: writing and reading.

    y year   M L month   d day   D day of year   Q q quarter   E weekday   a half of the day
    H 0-23   k 1-24   K 0-11   h 1-12   m minute   s second   S fraction   G era
    z O zone   V zone id   X x Z offset   'text' ''   [optional]

The session's zone is UTC. Other letters are refused, and so is reading a weekday.

>>> write(datetime.datetime(2024, 2, 3, 4, 5, 6), "EEE, d MMM yyyy HH:mm")
'Sat, 3 Feb 2024 04:05'
>>> read("03/02/24", "dd/MM/yy")
datetime.datetime(2024, 2, 3, 0, 0)
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import lru_cache

from evercurrent.data.texts import read_zone
from evercurrent.errors import EvaluationError, UnsupportedError
from evercurrent.term.functions.failures import bad_argument

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")

_TOKEN = re.compile(r"([A-Za-z])\1*|'(?:[^']|'')*'|''|\[|\]|[^A-Za-z'\[\]]+")
_NUMBERS = {"y": 6, "u": 6, "M": 2, "L": 2, "d": 2, "D": 3, "H": 2, "k": 2, "K": 2, "h": 2, "m": 2, "s": 2}

Writer = Callable[[datetime.datetime], str]


@lru_cache(maxsize=512)
def tokens(pattern: str) -> tuple[str, ...]:
    """A pattern as runs of one letter, brackets, and text (in quotes)."""
    found: list[str] = []
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise EvaluationError(f"the pattern {pattern!r} has a quote that is not closed")
        at = token.end()
        text = token[0]
        if token[1] is None and text not in ("[", "]"):
            text = "'" + (text[1:-1].replace("''", "'") or "'" if text[0] == "'" else text)
        found.append(text)
    return tuple(found)


def refuse(token: str, pattern: str) -> UnsupportedError:
    return UnsupportedError(f"{token!r} in the date pattern {pattern!r} is not supported")


def time_only(pattern: str) -> str:
    """The pattern, if a time of day has all that it asks for."""
    for token in tokens(pattern):
        if token[0].isalpha() and token[0] not in "HkKhmsSa":
            raise EvaluationError(f"a TIME has no {token!r}, which the pattern {pattern!r} asks for")
    return pattern


# --- writing -----------------------------------------------------------------------------------------------


def write(moment: datetime.datetime, pattern: str) -> str:
    return "".join([part(moment) for part in writers(pattern)])


@lru_cache(maxsize=512)
def writers(pattern: str) -> tuple[Writer, ...]:
    return tuple(_writer(token, pattern) for token in tokens(pattern) if token not in ("[", "]"))


def _writer(token: str, pattern: str) -> Writer:
    letter, n = token[0], len(token)
    if letter == "'":
        text = token[1:]
        return lambda t: text
    match letter:
        case "y" | "u" if n <= 6:
            return (lambda t: f"{t.year % 100:02d}") if n == 2 else lambda t: str(t.year).rjust(n, "0")
        case "M" | "L":
            return _write_name(n, MONTHS, lambda t: t.month, pattern)
        case "d" if n <= 2:
            return lambda t: str(t.day).rjust(n, "0")
        case "D" if n <= 3:
            return lambda t: str(t.timetuple().tm_yday).rjust(n, "0")
        case "Q" | "q" if n <= 4:
            if n <= 2:
                return lambda t: str((t.month + 2) // 3).rjust(n, "0")
            return (lambda t: f"Q{(t.month + 2) // 3}") if n == 3 else lambda t: QUARTERS[(t.month - 1) // 3]
        case "E" if n <= 4:
            return (lambda t: WEEKDAYS[t.weekday()][:3]) if n < 4 else lambda t: WEEKDAYS[t.weekday()]
        case "F" if n == 1:
            return lambda t: str((t.day - 1) % 7 + 1)
        case "a" if n == 1:
            return lambda t: "AM" if t.hour < 12 else "PM"
        case "H" if n <= 2:
            return lambda t: str(t.hour).rjust(n, "0")
        case "k" if n <= 2:
            return lambda t: str(t.hour or 24).rjust(n, "0")
        case "K" if n <= 2:
            return lambda t: str(t.hour % 12).rjust(n, "0")
        case "h" if n <= 2:
            return lambda t: str(t.hour % 12 or 12).rjust(n, "0")
        case "m" if n <= 2:
            return lambda t: str(t.minute).rjust(n, "0")
        case "s" if n <= 2:
            return lambda t: str(t.second).rjust(n, "0")
        case "S" if n <= 9:
            return lambda t: f"{t.microsecond:06d}".ljust(9, "0")[:n]
        case "G" if n <= 4:
            return (lambda t: "AD") if n < 4 else lambda t: "Anno Domini"
        case "z" if n <= 4:
            return (lambda t: "UTC") if n < 4 else lambda t: "Coordinated Universal Time"
        case "V" if n == 2:
            return lambda t: "UTC"
        case "O" if n in (1, 4):
            return lambda t: "GMT"
        case "X" if n <= 5:
            return lambda t: "Z"
        case "x" if n <= 5:
            return lambda t: {1: "+00", 2: "+0000", 4: "+0000"}.get(n, "+00:00")
        case "Z" if n <= 5:
            return lambda t: "+0000" if n <= 3 else "GMT" if n == 4 else "Z"
        case _:
            raise refuse(token, pattern)


def _write_name(n: int, names: list[str], of: Callable[[datetime.datetime], int], pattern: str) -> Writer:
    if n <= 2:
        return lambda t: str(of(t)).rjust(n, "0")
    if n == 3:
        return lambda t: names[of(t) - 1][:3]
    if n == 4:
        return lambda t: names[of(t) - 1]
    raise refuse("M" * n, pattern)


# --- reading -----------------------------------------------------------------------------------------------


def read(text: str, pattern: str) -> datetime.datetime | None:
    """The moment that a text says in a pattern, in UTC, or None if it does not follow the pattern."""
    found = reader(pattern).fullmatch(text)
    if found is None:
        return None
    try:
        return _moment({k.rstrip("_"): v for k, v in found.groupdict().items() if v is not None})
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=512)
def reader(pattern: str) -> re.Pattern[str]:
    """A regular expression with a group for each field."""
    parts = tokens(pattern)
    seen: dict[str, int] = {}
    out: list[str] = []
    for i, token in enumerate(parts):
        if token == "[":
            out.append("(?:")
        elif token == "]":
            out.append(")?")
        elif token[0] == "'":
            out.append(re.escape(token[1:]))
        else:
            beside = i + 1 < len(parts) and parts[i + 1][0] in _NUMBERS | {"S": 9}
            name, source = _field(token, pattern, beside)
            seen[name] = seen.get(name, 0) + 1
            out.append(f"(?P<{name}{'_' * (seen[name] - 1)}>{source})")
    try:
        return re.compile("".join(out), re.ASCII)
    except re.error:
        raise EvaluationError(f"the date pattern {pattern!r} is not well formed") from None


def _field(token: str, pattern: str, beside: bool) -> tuple[str, str]:
    """The field's name and its regular expression. A number beside another number has exactly its letters' width."""
    letter, n = token[0], len(token)
    match letter:
        case "y" | "u" if n == 2:
            return "y2", r"\d{2}"
        case "y" | "u" if n <= 6:
            return "y", rf"\d{{{n}}}" if beside or n == 4 else rf"\d{{{n},6}}"
        case "M" | "L" if n == 3:
            return "b", "|".join(m[:3] for m in MONTHS)
        case "M" | "L" if n == 4:
            return "B", "|".join(MONTHS)
        case "a" if n == 1:
            return "a", "AM|PM|am|pm|Am|Pm|aM|pM"
        case "S" if n <= 9:
            return "S", rf"\d{{1,{n}}}" if not beside else rf"\d{{{n}}}"
        case "X" | "x" | "Z" | "z" | "O" | "V" if n <= 5:
            return "z", r"Z|(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|[A-Za-z]+(?:/[A-Za-z_]+)*"
        case _ if letter in _NUMBERS and n <= _NUMBERS[letter]:
            return ("M" if letter == "L" else letter), (
                rf"\d{{{n}}}" if beside or n > 1 else rf"\d{{1,{_NUMBERS[letter]}}}"
            )
        case _:
            raise refuse(token, pattern)


def _moment(fields: dict[str, str]) -> datetime.datetime | None:
    year = int(fields["y"]) if "y" in fields else 2000 + int(fields["y2"]) if "y2" in fields else 1970
    month = int(fields.get("M", 1))
    if "b" in fields:
        month = [m[:3] for m in MONTHS].index(fields["b"]) + 1
    if "B" in fields:
        month = MONTHS.index(fields["B"]) + 1
    hour = int(fields.get("H", 0))
    if "k" in fields:
        hour = int(fields["k"]) % 24
    if "h" in fields or "K" in fields:
        hour = int(fields.get("h", fields.get("K", "0"))) % 12
        hour += 12 if fields.get("a", "AM").upper() == "PM" else 0
    micros = int(fields.get("S", "0").ljust(9, "0")[:6])
    minute, second = int(fields.get("m", 0)), int(fields.get("s", 0))
    result = datetime.datetime(year, month, int(fields.get("d", 1)), hour, minute, second, micros)
    if "D" in fields:
        result = result.replace(month=1, day=1) + datetime.timedelta(days=int(fields["D"]) - 1)
        if result.year != year:
            return None
    if "z" in fields:
        zone = read_zone(fields["z"])
        if zone is None:
            return None
        result = result.replace(tzinfo=zone).astimezone(datetime.UTC).replace(tzinfo=None)
    return result


def must_read(name: str, text: str, pattern: str) -> datetime.datetime:
    found = read(text, pattern)
    if found is None:
        bad_argument(name, f"{text!r} does not follow the pattern {pattern!r}")
    return found
