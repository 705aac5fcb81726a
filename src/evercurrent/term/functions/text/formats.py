"""FORMAT_STRING and FORMAT_NUMBER: the formats of Java's Formatter, as far as they mean the same everywhere.

    %[position$][flags][width][.precision]conversion      with conversions d s x X o f e E g c b n %

>>> from evercurrent.data.types import DOUBLE
>>> format_string("%05d|%-4s|%,.2f", (INT, STRING, DOUBLE), (42, "ab", 1234.5))
'00042|ab  |1,234.50'
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evercurrent.data.types import (
    INT,
    STRING,
    Decimal,
    Float,
    Integer,
    String,
    Type,
)
from evercurrent.errors import UnsupportedError
from evercurrent.term.functions.failures import bad_argument, check_size, within_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types, Unknown
from evercurrent.term.functions.signatures import count, expect, numeric
from evercurrent.term.functions.text.spelling import spelling

_SPEC = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")

Spec = tuple[str | None, str, int, int | None, str]


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[str | Spec, ...]:
    """A format as plain pieces and specifications."""
    parts: list[str | Spec] = []
    at = 0
    while (start := text.find("%", at)) >= 0:
        if start > at:
            parts.append(text[at:start])
        found = _SPEC.match(text, start)
        if not found or found[5] not in "dsSxXofeEgcbBn%":
            raise UnsupportedError(f"the format {text[start : start + 5]!r} is not supported")
        parts.append((found[1], found[2], int(found[3] or 0), int(found[4]) if found[4] else None, found[5]))
        at = found.end()
    parts.append(text[at:])
    return tuple(parts)


def format_string(text: str, types: Types, values: tuple[Any, ...]) -> str:
    out: list[str] = []
    following = size = 0
    for part in parse(text):
        check_size("FORMAT_STRING", size := size + (len(out[-1]) if out else 0))
        if isinstance(part, str):
            out.append(part)
            continue
        position, flags, width, precision, kind = part
        check_size("FORMAT_STRING", max(width, precision or 0))
        if kind in "feE":
            _require_places("FORMAT_STRING", precision or 0)
        if kind == "n":
            out.append("\n")
            continue
        if kind == "%":
            out.append(_pad_text("%", flags, width))
            continue
        i = int(position) - 1 if position else following
        following += position is None
        if not 0 <= i < len(values):
            bad_argument("FORMAT_STRING", f"there is no argument {i + 1}")
        out.append(_pad_text(_conversion(kind, flags, width, precision, types[i], values[i]), flags, width))
    return within_size("FORMAT_STRING", "".join(out))  # type: ignore[no-any-return]


def _pad_text(text: str, flags: str, width: int) -> str:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _conversion(kind: str, flags: str, width: int, precision: int | None, t: Type, value: Any) -> str:
    if kind in "bB":
        text = "false" if value is None or value is False else "true"
        return text.upper() if kind == "B" else text
    if kind in "sS" or value is None:
        text = "null" if value is None else spelling(t)(value)
        text = text if precision is None else text[:precision]
        return text.upper() if kind in "SXE" else text
    match kind, t:
        case "d", Integer():
            return _format_signed(str(abs(value)), value < 0, flags, width)
        case (("x" | "X" | "o"), Integer(bits)):
            return _format_unsigned(kind, value & ((1 << max(32, bits)) - 1), flags, width)
        case "c", Integer():
            return chr(value)
        case "c", String() if len(value) == 1:
            return str(value)
        case (("f" | "e" | "E" | "g"), (Float() | Decimal())):
            return _real(kind, flags, width, 6 if precision is None else precision, t, value)
        case _:
            bad_argument("FORMAT_STRING", f"%{kind} does not fit {t}")


def _format_unsigned(kind: str, value: int, flags: str, width: int) -> str:
    prefix = {"x": "0x", "X": "0X", "o": "0"}[kind] if "#" in flags else ""
    digits = format(value, kind)
    return prefix + (digits.rjust(width - len(prefix), "0") if "0" in flags else digits)


def _real(kind: str, flags: str, width: int, precision: int, t: Type, value: Any) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else ("-" if value < 0 else "+" if "+" in flags else "") + "Infinity"
    exact = decimal.Decimal(spelling(t)(value))
    if kind == "g":
        raise UnsupportedError("the format %g is not supported")
    if kind == "f":
        rounded = exact.quantize(decimal.Decimal(1).scaleb(-precision), decimal.ROUND_HALF_UP, _WIDER)
        return _format_signed(f"{abs(rounded):f}", rounded.is_signed(), flags, width)
    if exact == 0:
        digits, exponent = decimal.Decimal(0).quantize(decimal.Decimal(1).scaleb(-precision)), 0
    else:
        exponent = exact.adjusted()
        unit = decimal.Decimal(1).scaleb(-precision)
        digits = abs(exact).scaleb(-exponent, _WIDER).quantize(unit, decimal.ROUND_HALF_UP, _WIDER)
        if digits >= 10:
            digits, exponent = (digits / 10).quantize(unit, decimal.ROUND_HALF_UP, _WIDER), exponent + 1
    text = f"{digits:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return _format_signed(
        text.upper() if kind == "E" else text, exact.is_signed(), flags.replace(",", ""), width
    )


PLACES = 400
"""Digits after the point that a number is written with at most; a DOUBLE has up to 309 before it."""

_WIDER = decimal.Context(prec=800)


def _require_places(function: str, places: int) -> None:
    if places > PLACES:
        bad_argument(function, f"{places} digits after the point are too many; at most {PLACES} are possible")


def _format_signed(digits: str, negative: bool, flags: str, width: int) -> str:
    if "," in flags:
        whole, dot, fraction = digits.partition(".")
        digits = f"{int(whole):,}{dot}{fraction}"
    if negative and "(" in flags:
        return f"({digits.rjust(width - 2, '0') if '0' in flags else digits})"
    sign = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
    return sign + (digits.rjust(width - len(sign), "0") if "0" in flags else digits)


def _refine_format(types: Types, constants: tuple[Any, ...]) -> Signature:
    count(types, 1, 1000)
    first = expect(types[0], STRING, 0)
    if not isinstance(constants[0], Unknown) and constants[0] is not None:
        parse(constants[0])
    return Signature((first, *types[1:]), STRING)


def _implement_format(types: Types, result: Type) -> Callable[..., Any]:
    def meaning(text: str | None, *values: Any) -> str | None:
        return None if text is None else format_string(text, types[1:], values)

    return meaning


def _infer_number(types: Types) -> Signature:
    count(types, 2)
    if not isinstance(types[1], Integer):
        raise TypeMismatch("the number of places must be an integer; patterns are not supported")
    t = numeric(types[0])
    return Signature((t, INT), STRING)


def _implement_number(types: Types, result: Type) -> Callable[..., Any]:
    t = types[0]
    spell = spelling(t)

    def format_number(value: Any, places: int) -> str | None:
        if places < 0:
            return None
        check_size("FORMAT_NUMBER", places)
        _require_places("FORMAT_NUMBER", places)
        if isinstance(value, float) and not abs(value) < float("inf"):
            return "NaN" if value != value else "-∞" if value < 0 else "∞"
        exact = decimal.Decimal(value) if isinstance(t, Float) else decimal.Decimal(spell(value))
        rounded = exact.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_EVEN, _WIDER)
        return f"{rounded:,f}"

    return format_number


FUNCTIONS = (
    Function(
        "format_string",
        lambda types: _refine_format(types, (None,) * len(types)),
        _implement_format,
        strict=False,
        fails=True,
        refine=_refine_format,
    ),
    Function("format_number", _infer_number, _implement_number, nullable=True),
)
