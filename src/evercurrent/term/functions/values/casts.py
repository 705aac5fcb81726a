"""Conversions between types, as CAST does them in ANSI mode: what does not fit is an error, never a wrapped number.

CAST(2.9 AS INT) = 2         fractions are cut when a number becomes an integer, and rounded half up for a DECIMAL
CAST(' 7 ' AS INT) = 7       text is trimmed, and must then be the value and nothing else
CAST(TIME '00:01:00' AS INT) = 60         the seconds since midnight; of a TIMESTAMP those since 1970, and back
a TIME does not become a TIMESTAMP: in Spark it takes the day from the clock
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evercurrent.data.texts import BLANKS, cut_time, read_date, read_time, read_timestamp
from evercurrent.data.types import (
    BIGINT,
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import NAN, WIDE, FrozenMap, canonical_float, float32
from evercurrent.errors import EvaluationError
from evercurrent.term.functions.calendar import MICROS_PER_DAY, micros_of, micros_of_day, midnight, moment_of
from evercurrent.term.functions.exact import POWERS, divide_half_up, rescale, truncate_quotient
from evercurrent.term.functions.failures import bad_cast, overflow
from evercurrent.term.functions.intervals import read_interval
from evercurrent.term.functions.text.spelling import spelling

Conversion = Callable[[Any], Any]

TRUE_WORDS = frozenset(("t", "true", "y", "yes", "1"))
FALSE_WORDS = frozenset(("f", "false", "n", "no", "0"))
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


MOST_DAYS = ((1 << 63) - 1) // MICROS_PER_DAY
"""The longest interval of days, whose microseconds have 64 bits."""


def castable(source: Type, target: Type) -> bool:
    """Whether there is a conversion at all."""
    return conversion(source, target) is not None


def cast_nulls(source: Type, target: Type) -> bool:
    """Whether the conversion of something can be NULL: of NaN and infinities to decimals."""
    return isinstance(source, Float) and isinstance(target, Decimal)


def cast_fails(source: Type, target: Type) -> bool:
    """Whether the conversion can fail for some value."""
    match source, target:
        case _, String(length):
            return length is not None
        case Integer(a), Integer(b):
            return a > b
        case _, (Float() | Boolean()):
            return isinstance(source, String)
        case Integer(bits), Decimal(p, s):
            return p - s < {8: 3, 16: 5, 32: 10, 64: 19}[bits]
        case Decimal(p, s), Decimal(q, t):
            return q - t < p - s + (t < s)
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            return False
        case ((Time() | Timestamp()), Time()):
            return False
        case Time(), Integer(bits):
            return bits < 32
        case (Reference(), _) | (_, Reference()):
            return False
        case Null(), _:
            return False
        case _:
            return source != target


@lru_cache(maxsize=4096)
def conversion(source: Type, target: Type, strict: bool = True) -> Conversion | None:
    """The function that converts values other than NULL, or None if the types do not convert.

    Not `strict`: members of nested values that do not convert become NULL.
    """
    if source == target or isinstance(source, Null):
        return _same
    match source, target:
        case _, String(length):
            spell = spelling(source)
            return spell if length is None else lambda v: _limit_text(spell(v), target)
        case String(), _:
            return _from_string(target)
        case Integer() | Decimal() | Float() | Boolean(), (Integer() | Decimal() | Float() | Boolean()):
            return _number(source, target)
        case ((Integer() | Decimal() | Float()), Timestamp(zone=True)):
            return _number_to_timestamp(source)
        case Timestamp(zone=True), (Integer() | Decimal() | Float()):
            return _timestamp_to_number(target)
        case Time(), (Integer() | Decimal()):
            return _time_to_number(target)
        case Time(p), Time(q):
            return _same if q >= p else lambda v: cut_time(v, q)
        case Timestamp(), Time(p):
            return lambda v: cut_time(v.time(), p)
        case Reference(), Reference():
            return _same
        case (Reference(), Integer(64)) | (Integer(), Reference()):
            return _same
        case Date(), Timestamp():
            return midnight
        case Timestamp(), Date():
            return datetime.datetime.date
        case Timestamp(), Timestamp():
            return _same
        case Interval("micros", days=True), Integer():
            narrow = _number(BIGINT, target)
            return lambda v: narrow(v // MICROS_PER_DAY)
        case Integer(), Interval("micros", days=True):
            return lambda v: v * MICROS_PER_DAY if abs(v) <= MOST_DAYS else overflow(target)
        case Interval(unit=a), Interval(unit=b, days=days) if a == b:
            return (lambda v: truncate_quotient(v, MICROS_PER_DAY) * MICROS_PER_DAY) if days else _same
        case Array(a), Array(b):
            item = _member(a, b, strict)
            return None if item is None else lambda v: tuple(map(item, v))
        case Map(a, c), Map(b, d):
            key, value = _member(a, b, strict), _member(c, d, strict)
            if key is None or value is None:
                return None
            return lambda m: FrozenMap((key(k), value(v)) for k, v in m.items())
        case Struct(xs), Struct(ys) if len(xs) == len(ys):
            items = [_member(x.type, y.type, strict) for x, y in zip(xs, ys, strict=True)]
            known = [item for item in items if item is not None]
            if len(known) < len(items):
                return None
            return lambda v: tuple(f(x) for f, x in zip(known, v, strict=True))
        case _:
            return None


def cast_value(source: Type, target: Type, strict: bool) -> Conversion:
    """The meaning of a `Cast` node, NULLs included."""
    convert = conversion(source, target, strict)
    assert convert is not None, (source, target)
    if strict:
        return lambda v: None if v is None else convert(v)

    def attempt(v: Any) -> Any:
        try:
            return None if v is None else convert(v)
        except EvaluationError:
            return None

    return attempt


def cast_python(source: Type, target: Type, arg: str) -> str | None:
    """Python source of the conversion of a value that is not NULL; None to have `conversion` called."""
    if conversion(source, target) is _same:
        return arg
    match source, target:
        case Integer(a), Integer(b) if a <= b:
            return arg
        case Integer(), Float(64):
            return f"float({arg})"
        case Float(32), Float(64):
            return arg
        case Integer(), Decimal(scale=s) if not cast_fails(source, target):
            return f"({arg} * {POWERS[s]})" if s else arg
        case Decimal(scale=s), Decimal(scale=t) if t >= s and not cast_fails(source, target):
            return f"({arg} * {POWERS[t - s]})" if t > s else arg
        case _:
            return None


def _same(v: Any) -> Any:
    return v


def _member(source: Type, target: Type, strict: bool) -> Conversion | None:
    return cast_value(source, target, strict) if castable(source, target) else None


def _limit_text(text: str, t: String) -> str:
    assert t.length is not None
    if len(text) > t.length and text[t.length :].strip(" "):
        bad_cast(text, t)
    return text[: t.length]


# --- numbers -----------------------------------------------------------------------------------------------


def _number(source: Type, target: Type) -> Conversion:
    match source, target:
        case Boolean(), Integer():
            return int
        case Boolean(), Float():
            return float
        case Boolean(), Decimal():
            return _check_decimal(target, lambda v: int(v) * POWERS[target.scale], source)
        case _, Boolean():
            return lambda v: v != 0
        case Integer(), Integer():
            return _check_integer(target, _same, source)
        case Integer(), Float(bits):
            return float if bits == 64 else lambda v: float32(float(v))
        case Integer(), Decimal(scale=s):
            return _check_decimal(target, lambda v: v * POWERS[s], source)
        case Decimal(scale=s), Integer():
            return _check_integer(target, lambda v: truncate_quotient(v, POWERS[s]), source)
        case Decimal(scale=s), Float(bits):
            # int / int is correctly rounded in Python whatever the sizes
            return (lambda v: v / POWERS[s]) if bits == 64 else lambda v: float32(v / POWERS[s])
        case Decimal(scale=s), Decimal(scale=t):
            return _check_decimal(target, lambda v: rescale(v, s, t), source)
        case Float(), Integer():
            return _check_integer(target, lambda v: _cut(v, target), source)
        case Float(a), Float(b):
            return float32 if b < a else _same
        case Float(), Decimal(scale=s):
            spell = spelling(source)
            convert = _check_decimal(target, lambda v: _scale_text(spell(v), s, target), source)
            # What is no number has no digits, and Spark makes NULL of it even in ANSI mode.
            return lambda v: convert(v) if math.isfinite(v) else None
        case _:
            raise AssertionError((source, target))


def _cut(v: float, target: Type) -> int:
    if v != v or math.isinf(v):
        bad_cast(v, target)
    return int(v)


def _check_integer(t: Integer, f: Callable[[Any], int], source: Type) -> Conversion:
    low, high = -(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1

    def convert(v: Any) -> int:
        n = f(v)
        if not low <= n <= high:
            bad_cast(_show_value(source, v), t)
        return n

    return convert


def _check_decimal(t: Decimal, f: Callable[[Any], int], source: Type) -> Conversion:
    limit = POWERS[t.precision]

    def convert(v: Any) -> int:
        n = f(v)
        if not -limit < n < limit:
            bad_cast(_show_value(source, v), t)
        return n

    return convert


def _show_value(source: Type, v: Any) -> Any:
    return decimal.Decimal(spelling(source)(v)) if isinstance(source, Decimal) else v


def _scale_text(text: str, scale: int, target: Type) -> int:
    """A number's text at a scale, rounded half up."""
    try:
        exact = decimal.Decimal(text)
    except decimal.InvalidOperation:
        bad_cast(text, target)
    if not exact.is_finite() or exact.adjusted() > 60:
        bad_cast(text, target)
    return int(exact.scaleb(scale, WIDE).to_integral_value(decimal.ROUND_HALF_UP, WIDE))


# --- timestamps as numbers of seconds ------------------------------------------------------------------------


def _number_to_timestamp(source: Type) -> Conversion:
    match source:
        case Integer():
            return lambda v: moment_of(v * 1_000_000)
        case Decimal(scale=s):
            return lambda v: moment_of(truncate_quotient(v * 1_000_000, POWERS[s]))
        case _:

            def from_float(v: float) -> datetime.datetime:
                if v != v or math.isinf(v):
                    bad_cast(v, "TIMESTAMP")
                return moment_of(int(v * 1_000_000))

            return from_float


def _timestamp_to_number(target: Type) -> Conversion:
    match target:
        case Integer():
            return _check_integer(target, lambda v: micros_of(v) // 1_000_000, BIGINT)
        case Decimal(scale=s):
            return _check_decimal(
                target, lambda v: divide_half_up(micros_of(v) * POWERS[s], 1_000_000), Timestamp()
            )
        case Float(bits):
            return (lambda v: micros_of(v) / 1e6) if bits == 64 else lambda v: float32(micros_of(v) / 1e6)
        case _:
            raise AssertionError(target)


def _time_to_number(target: Type) -> Conversion:
    match target:
        case Integer():
            return _check_integer(target, lambda v: micros_of_day(v) // 1_000_000, Time())
        case Decimal(scale=s):
            return _check_decimal(
                target, lambda v: divide_half_up(micros_of_day(v) * POWERS[s], 1_000_000), Time()
            )
        case _:
            raise AssertionError(target)


# --- text --------------------------------------------------------------------------------------------------


def _from_string(target: Type) -> Conversion | None:
    match target:
        case Boolean():
            return _read_boolean
        case Integer():
            return lambda v: _read_integer(v, target)
        case Float():
            return lambda v: _read_float(v, target)
        case Decimal(scale=s):

            def read(v: str) -> int:
                text = v.strip(BLANKS)
                return _scale_text(text, s, target) if _NUMBER.fullmatch(text) else bad_cast(v, target)

            return _check_decimal(target, read, String())
        case Date():
            return lambda v: read_date(v) or bad_cast(v, target)
        case Time(p):
            return lambda v: cut_time(read_time(v) or bad_cast(v, target), p)
        case Timestamp(zone=zone):
            return lambda v: read_timestamp(v, zone) or bad_cast(v, target)
        case Binary():
            return lambda v: v.encode()
        case Interval():
            return lambda v: _require_found(read_interval(v, target), v, target)
        case _:
            return None


def _require_found(found: Any, v: str, target: Type) -> Any:
    return bad_cast(v, target) if found is None else found


def _read_boolean(v: str) -> bool:
    word = v.strip(BLANKS).lower()
    if word in TRUE_WORDS:
        return True
    return False if word in FALSE_WORDS else bad_cast(v, Boolean())


def _read_integer(v: str, target: Integer) -> int:
    text = v.strip(BLANKS)
    if _INTEGER.fullmatch(text) and len(text) < 40:
        n = int(text)
        if -(1 << (target.bits - 1)) <= n < 1 << (target.bits - 1):
            return n
    bad_cast(v, target)


def _read_float(v: str, target: Float) -> float:
    text = v.strip(BLANKS).lower()
    sign = -1.0 if text.startswith("-") else 1.0
    bare = text[1:] if text[:1] in ("+", "-") else text
    if bare in ("inf", "infinity"):
        return sign * math.inf
    if text == "nan":
        return NAN
    if bare[-1:] in ("d", "f"):
        text = text[:-1]
    if not _NUMBER.fullmatch(text):
        bad_cast(v, target)
    return canonical_float(float(text)) if target.bits == 64 else float32(float(text))
