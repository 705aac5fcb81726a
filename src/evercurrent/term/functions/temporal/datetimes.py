"""Functions of dates and timestamps: distances, steps and truncation.

date_add(DATE '2024-02-28', 2)      2024-03-01
datediff(DATE '2024-03-01', DATE '2024-02-01')      29
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from evercurrent.data.texts import read_zone
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MICROS,
    MONTHS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Interval,
    Timestamp,
    Type,
)
from evercurrent.term.functions.calendar import (
    EPOCH,
    MICRO,
    add_days,
    add_micros,
    add_months,
    days_of,
    micros_of,
    midnight,
    moment_of,
    month_length,
    out_of_calendar,
)
from evercurrent.term.functions.coerce import common_of_two
from evercurrent.term.functions.exact import check_integer, truncate_quotient
from evercurrent.term.functions.failures import bad_argument
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types, Unknown
from evercurrent.term.functions.intervals import MICROS_OF, MONTHS_OF
from evercurrent.term.functions.signatures import count, expect, numeric, simple, take_exactly
from evercurrent.term.functions.temporal.date_patterns import WEEKDAYS
from evercurrent.term.functions.values.casts import conversion

Moment = datetime.datetime
Day = datetime.date


# --- distances ---------------------------------------------------------------------------------------------


def months_between(a: Moment, b: Moment, rounded: bool = True) -> float:
    """Whole months where both are the same day or both a last day; else a day is a 31st of a month."""
    months = (a.year - b.year) * 12 + a.month - b.month
    last_a = a.day == month_length(a.year, a.month)
    last_b = b.day == month_length(b.year, b.month)
    if a.day == b.day or (last_a and last_b):
        return float(months)
    seconds = (a.day - b.day) * 86400 + _second_of_day(a) - _second_of_day(b)
    difference = months + seconds / (31 * 86400)
    if not rounded:
        return difference
    scaled = difference * 1e8
    return float(round_half_up(scaled)) / 1e8


def _second_of_day(t: Moment) -> int:
    return t.hour * 3600 + t.minute * 60 + t.second


def round_half_up(x: float) -> int:
    return int(x + 0.5) if x >= 0 else -int(-x + 0.5)


def timestampdiff(unit: str, start: Moment, end: Moment) -> int:
    """Whole units from start to end, towards zero."""
    kind = unit_of("TIMESTAMPDIFF", unit)
    if kind in MICROS_OF:
        return truncate_quotient((end - start) // MICRO, MICROS_OF[kind])
    months = (end.year - start.year) * 12 + end.month - start.month
    # A month is whole when the day of the month and the time of day have been reached.
    if months > 0 and _within_month(end) < _within_month(start):
        months -= 1
    elif months < 0 and _within_month(end) > _within_month(start):
        months += 1
    return truncate_quotient(months, MONTHS_OF[kind])


def _within_month(t: Moment) -> tuple[int, datetime.time]:
    return t.day, t.time()


def timestampadd(unit: str, n: int, moment: Moment) -> Moment:
    kind = unit_of("TIMESTAMPADD", unit)
    if kind in MONTHS_OF:
        return add_months(moment, n * MONTHS_OF[kind])
    return add_micros(moment, n * MICROS_OF[kind])


def unit_of(name: str, unit: str) -> str:
    kind = {"dayofyear": "day"}.get(unit.lower(), unit.lower())
    kind = kind if kind in MICROS_OF or kind in MONTHS_OF else kind.removesuffix("s")
    if kind not in MICROS_OF and kind not in MONTHS_OF:
        bad_argument(name, f"there is no unit {unit}")
    return kind


def _moments_of(position: int, args: Types, result: Type | None) -> Callable[[Types], Signature]:
    """Arguments of the given types, those from `position` on with a time of day of one kind."""

    def infer(types: Types) -> Signature:
        count(types, len(args))
        kinds = {t for t in types[position:] if isinstance(t, Timestamp)}
        moment: Type = kinds.pop() if len(kinds) == 1 else TIMESTAMP
        wanted = args[:position] + (moment,) * (len(args) - position)
        coerced = tuple(expect(t, w, i) for i, (t, w) in enumerate(zip(types, wanted, strict=True)))
        return Signature(coerced, moment if result is None else result)

    return infer


# --- steps and truncation ----------------------------------------------------------------------------------


def last_day(d: Day) -> Day:
    return d.replace(day=month_length(d.year, d.month))


def next_day(d: Day, name: str) -> Day:
    short = name.lower()
    for i, weekday in enumerate(WEEKDAYS):
        full = weekday.lower()
        if short in (full, full[:3], full[:2]):
            return add_days(d, (i - d.weekday() - 1) % 7 + 1)
    bad_argument("NEXT_DAY", f"there is no weekday {name}")


def trunc(d: Day, unit: str) -> Day | None:
    match unit.upper():
        case "YEAR" | "YYYY" | "YY":
            return d.replace(month=1, day=1)
        case "QUARTER":
            return d.replace(month=(d.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH" | "MM" | "MON":
            return d.replace(day=1)
        case "WEEK":
            return add_days(d, -d.weekday())
        case _:
            return None


def date_trunc(unit: str, t: Moment) -> Moment | None:
    match unit.upper():
        case "YEAR" | "YYYY" | "YY" | "QUARTER" | "MONTH" | "MM" | "MON" | "WEEK":
            day = trunc(t.date(), unit)
            assert day is not None
            return midnight(day)
        case "DAY" | "DD":
            return midnight(t)
        case "HOUR":
            return t.replace(minute=0, second=0, microsecond=0)
        case "MINUTE":
            return t.replace(second=0, microsecond=0)
        case "SECOND":
            return t.replace(microsecond=0)
        case "MILLISECOND":
            return t.replace(microsecond=t.microsecond // 1000 * 1000)
        case "MICROSECOND":
            return t
        case _:
            return None


def make_date(year: int, month: int, day: int) -> Day:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        bad_argument("MAKE_DATE", f"there is no day {year}-{month}-{day}")


def make_timestamp(
    year: int, month: int, day: int, hour: int, minute: int, seconds: int, zone: str | None = None
) -> Moment:
    """`seconds` are of DECIMAL(16,6); sixty of them are the next minute."""
    whole, micros = divmod(seconds, 1_000_000)
    if whole == 60 and micros:
        bad_argument("MAKE_TIMESTAMP", "sixty seconds must have no fraction")
    try:
        moment = Moment(year, month, day, hour, minute, 0 if whole == 60 else whole, micros)
    except ValueError:
        bad_argument("MAKE_TIMESTAMP", "there is no such time")
    if whole == 60:
        moment = add_micros(moment, 60_000_000)
    return moment if zone is None else to_utc(moment, zone)


def _zone(name: str) -> datetime.tzinfo:
    found = read_zone(name)
    if found is None:
        bad_argument("the time zone", f"there is no zone {name}")
    return found


def from_utc(t: Moment, zone: str) -> Moment:
    try:
        return t.replace(tzinfo=datetime.UTC).astimezone(_zone(zone)).replace(tzinfo=None)
    except OverflowError:
        raise out_of_calendar() from None


def to_utc(t: Moment, zone: str) -> Moment:
    try:
        return t.replace(tzinfo=_zone(zone)).astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        raise out_of_calendar() from None


def convert_timezone(source: str, target: str, t: Moment) -> Moment:
    return from_utc(to_utc(t, source), target)


def _infer_seconds(types: Types) -> Signature:
    count(types, 1)
    return Signature((numeric(types[0]),), TIMESTAMP)


def _implement_seconds(types: Types, result: Type) -> Callable[[Any], Moment]:
    convert = conversion(types[0], TIMESTAMP)
    assert convert is not None
    return convert


def _infer_datediff(types: Types) -> Signature:
    return take_exactly((DATE, DATE), INT)(types)


def _infer_add_months(types: Types) -> Signature:
    count(types, 2)
    if isinstance(types[1], Interval):
        return Signature((expect(types[0], DATE, 0), MONTHS), DATE)
    return take_exactly((DATE, INT), DATE)(types)


def make_ym_interval(years: int = 0, months: int = 0) -> int:
    return check_integer(INT, years * 12 + months)


def make_dt_interval(days: int = 0, hours: int = 0, minutes: int = 0, seconds: int = 0) -> int:
    total = days * MICROS_OF["day"] + hours * MICROS_OF["hour"] + minutes * MICROS_OF["minute"] + seconds
    return check_integer(BIGINT, total)


def _same_unit_check(types: Types, constants: tuple[Any, ...]) -> None:
    if isinstance(constants[0], str):
        unit_of("the unit", constants[0])
    elif isinstance(constants[0], Unknown):
        raise TypeMismatch("the unit must be a constant")


def _with_unit(infer: Callable[[Types], Signature]) -> Callable[[Types, tuple[Any, ...]], Signature]:
    def refine(types: Types, constants: tuple[Any, ...]) -> Signature:
        _same_unit_check(types, constants)
        return infer(types)

    return refine


def _infer_timestampadd(types: Types) -> Signature:
    return _moments_of(2, (STRING, BIGINT, TIMESTAMP), None)(types)


def _infer_timestampdiff(types: Types) -> Signature:
    count(types, 3)
    if isinstance(types[1], Timestamp) and isinstance(types[2], Timestamp):
        t = common_of_two(types[1], types[2])
        return Signature((STRING, t, t), BIGINT)
    return _moments_of(1, (STRING, TIMESTAMP, TIMESTAMP), BIGINT)(types)


FUNCTIONS = (
    simple("date_add", (DATE, INT), DATE, add_days, fails=True),
    simple("date_sub", (DATE, INT), DATE, lambda d, n: add_days(d, -n), fails=True),
    Function("datediff", _infer_datediff, lambda t, r: lambda a, b: a.toordinal() - b.toordinal()),
    Function("add_months", _infer_add_months, lambda t, r: add_months, fails=True),
    simple("months_between", (TIMESTAMP, TIMESTAMP, BOOLEAN), DOUBLE, months_between, least=2),
    simple("last_day", (DATE,), DATE, last_day),
    simple("next_day", (DATE, STRING), DATE, next_day, fails=True),
    simple("trunc", (DATE, STRING), DATE, trunc, nullable=True),
    simple("date_trunc", (STRING, TIMESTAMP), TIMESTAMP, date_trunc, nullable=True),
    Function(
        "timestampadd",
        _infer_timestampadd,
        lambda t, r: timestampadd,
        fails=True,
        refine=_with_unit(_infer_timestampadd),
    ),
    Function(
        "timestampdiff",
        _infer_timestampdiff,
        lambda t, r: timestampdiff,
        refine=_with_unit(_infer_timestampdiff),
    ),
    simple("make_date", (INT, INT, INT), DATE, make_date, fails=True),
    simple("make_ym_interval", (INT, INT), MONTHS, make_ym_interval, least=0, fails=True),
    simple(
        "make_dt_interval", (INT, INT, INT, Decimal(18, 6)), MICROS, make_dt_interval, least=0, fails=True
    ),
    simple("unix_date", (DATE,), INT, days_of),
    simple("unix_seconds", (TIMESTAMP,), BIGINT, lambda t: micros_of(t) // 1_000_000),
    simple("unix_millis", (TIMESTAMP,), BIGINT, lambda t: micros_of(t) // 1_000),
    simple("unix_micros", (TIMESTAMP,), BIGINT, micros_of),
    simple("date_from_unix_date", (INT,), DATE, lambda n: add_days(EPOCH.date(), n), fails=True),
    Function(
        "timestamp_seconds",
        _infer_seconds,
        _implement_seconds,
        fails=True,
    ),
    simple("timestamp_millis", (BIGINT,), TIMESTAMP, lambda n: moment_of(n * 1_000), fails=True),
    simple("timestamp_micros", (BIGINT,), TIMESTAMP, moment_of, fails=True),
    simple("from_utc_timestamp", (TIMESTAMP, STRING), TIMESTAMP, from_utc, fails=True),
    simple("to_utc_timestamp", (TIMESTAMP, STRING), TIMESTAMP, to_utc, fails=True),
    simple("convert_timezone", (STRING, STRING, TIMESTAMP_NTZ), TIMESTAMP_NTZ, convert_timezone, fails=True),
)
