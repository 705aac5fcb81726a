"""Values as text, the way a cast to STRING spells them.

>>> spell_double(1e7), spell_double(0.1), spell_decimal(-5, 2), spell_interval(MONTHS, 14)
('1.0E7', '0.1', '-0.05', "INTERVAL '1-2' YEAR TO MONTH")
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from evercurrent.data.texts import write_time, write_timestamp
from evercurrent.data.types import (
    MONTHS,
    Array,
    Binary,
    Boolean,
    Collection,
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
from evercurrent.data.values import float32
from evercurrent.term.functions.failures import join_within_size

__all__ = ["MONTHS", "spell_decimal", "spell_double", "spell_float", "spell_interval", "spelling"]


@cache
def spelling(t: Type) -> Callable[[Any], str]:
    """The function that spells values of a type; they are not NULL."""
    match t:
        case String() | Null() | Reference():
            return str
        case Boolean():
            return lambda v: "true" if v else "false"
        case Integer():
            return str
        case Float(bits):
            return spell_double if bits == 64 else spell_float
        case Decimal(scale=scale):
            return lambda v: spell_decimal(v, scale)
        case Binary():
            return lambda v: v.decode("utf-8", errors="replace")
        case Date():
            return lambda v: f"{v.year:04d}-{v.month:02d}-{v.day:02d}"
        case Time():
            return write_time
        case Timestamp():
            return write_timestamp
        case Interval():
            return lambda v: spell_interval(t, v)
        case Array(element) | Collection(_, element):
            item = _member(element)
            return lambda v: f"[{join_within_size('CAST', ', ', map(item, v))}]"
        case Struct(members):
            items = tuple(_member(m.type) for m in members)
            return lambda v: f"{{{', '.join(f(x) for f, x in zip(items, v, strict=True))}}}"
        case Map(key, value):
            k, w = _member(key), _member(value)
            return lambda m: f"{{{', '.join(f'{k(a)} -> {w(b)}' for a, b in m.items())}}}"


def _member(t: Type) -> Callable[[Any], str]:
    spell = spelling(t)
    return lambda v: "null" if v is None else spell(v)


def spell_double(v: float) -> str:
    text = repr(v)
    if len(text.lstrip("-").partition("e")[0].strip(".0")) == 1:
        # Of one digit, Java takes the nearest number of two: 4.9E-324.
        longer = f"{v:.1e}"
        text = longer if float(longer) == v else text
    return _java(v, text)


def spell_float(v: float) -> str:
    """The shortest decimal that reads as the same 32-bit number."""
    if v != v or v in (float("inf"), float("-inf")):
        return _java(v, "")
    for digits in range(2, 10):
        text = f"{v:.{digits}g}"
        if float32(float(text)) == v:
            return _java(v, text)
    return _java(v, repr(struct.unpack("f", struct.pack("f", v))[0]))


def _java(v: float, text: str) -> str:
    """Digits as Java writes a number: plain from a thousandth to ten million, else with an exponent."""
    if v != v:
        return "NaN"
    if v in (float("inf"), float("-inf")):
        return "Infinity" if v > 0 else "-Infinity"
    sign = "-" if text.startswith("-") else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign + "0.0"
    # The number is 0.digits times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0") or "0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def spell_decimal(scaled: int, scale: int) -> str:
    digits = str(abs(scaled)).rjust(scale + 1, "0")
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{text}" if scaled < 0 else text


def spell_interval(t: Interval, value: int) -> str:
    sign, size = ("-", -value) if value < 0 else ("", value)
    if t.unit == "months":
        return f"INTERVAL '{sign}{size // 12}-{size % 12}' YEAR TO MONTH"
    days, rest = divmod(size, 86_400_000_000)
    if t.days:
        return f"INTERVAL '{sign}{days}' DAY"
    hours, rest = divmod(rest, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds, micros = divmod(rest, 1_000_000)
    fraction = f".{micros:06d}".rstrip("0") if micros else ""
    return f"INTERVAL '{sign}{days} {hours:02d}:{minutes:02d}:{seconds:02d}{fraction}' DAY TO SECOND"
