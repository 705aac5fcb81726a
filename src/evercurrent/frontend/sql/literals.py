"""Constants: numbers, strings, binary strings, intervals.

A whole number is the narrowest of INT, BIGINT and DECIMAL that holds it, a number with a point is a DECIMAL of just its
digits, one with an exponent a DOUBLE; suffixes (1L, 2.5BD) arrive as casts.

>>> from evercurrent.term.nodes import Literal
>>> number("10.00") == Literal(1000, Decimal(4, 2)), number("3000000000").type
(True, Integer(bits=64))
"""

from __future__ import annotations

import math
from decimal import Context
from decimal import Decimal as Digits

from sqlglot import exp

from evercurrent.data.showing import is_text
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    DAYS,
    DOUBLE,
    INT,
    MICROS,
    MONTHS,
    STRING,
    Decimal,
    Interval,
    Type,
)
from evercurrent.errors import QueryError
from evercurrent.limits import DIGITS
from evercurrent.term.functions.intervals import MICROS_OF, MONTHS_OF, read_interval
from evercurrent.term.nodes import Literal

EXACT = Context(prec=80)


def number(text: str) -> Literal | None:
    """A number, or None if it is larger or has more digits than any type holds."""
    if "e" in text.lower():
        value = float(text)
        return Literal(value, DOUBLE) if math.isfinite(value) else None
    if len(text) > DIGITS:
        return None
    if text.lstrip("-").isdigit():
        whole = int(text)
        if -(2**31) <= whole < 2**31:
            return Literal(whole, INT)
        if -(2**63) <= whole < 2**63:
            return Literal(whole, BIGINT)
    digits = Digits(text)
    exponent = digits.as_tuple().exponent
    scale = max(-exponent if isinstance(exponent, int) else 0, 0)
    unscaled = int(digits.scaleb(scale, EXACT))
    precision = max(len(str(abs(unscaled))), scale, 1)
    if precision > 38:
        return None
    return Literal(unscaled, Decimal(precision, scale))


def string(text: str) -> Literal:
    if not is_text(text):
        raise QueryError("a string has half of a surrogate pair, which is not a character")
    return Literal(text, STRING)


def binary(digits: str) -> Literal | None:
    """X'1F'; an odd number of digits gets a zero in front."""
    try:
        return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), BINARY)
    except ValueError:
        return None


def interval_units(node: exp.Interval) -> list[str]:
    """The units of an interval in lower case and singular: one, or two for `DAY TO SECOND`."""
    unit = node.args.get("unit")
    if unit is None:
        return []
    parts = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
    return [str(p.name if isinstance(p, exp.Expr) else p).lower().removesuffix("s") for p in parts]


def interval_type(units: list[str]) -> Interval | None:
    """The type of an interval of such units; None if they are none, or do not go together."""
    if units and all(u in MONTHS_OF for u in units):
        return MONTHS
    if units and all(u in MICROS_OF for u in units):
        return DAYS if all(u in ("day", "week") for u in units) else MICROS
    return None


def interval(node: exp.Interval) -> Literal | None:
    """A constant interval, or None if its text cannot be read."""
    if not isinstance(node.this, exp.Literal):
        return None
    text, units = node.this.name.strip(), interval_units(node)
    if not units:
        return _read_units(text)
    found = interval_type(units)
    if found is None:
        return None
    if len(units) == 1:
        value = read_interval(f"{text} {units[0]}", found)
    else:
        value = _span(text, units, found)
    return None if value is None else Literal(value, found)


def _read_units(text: str) -> Literal | None:
    """'1 day 2 hours', its units inside the string."""
    types: tuple[Type, ...] = (DAYS, MICROS, MONTHS)
    for t in types:
        assert isinstance(t, Interval)
        value = read_interval(text, t)
        if value is not None and not (t == DAYS and value % MICROS_OF["day"]):
            return Literal(value, t)
    return None


FIELDS = ("day", "hour", "minute", "second")


def _span(text: str, units: list[str], t: Interval) -> int | None:
    """'1 02:03' DAY TO MINUTE: as many fields as the units say, in the form of a clock."""
    if t.unit == "months":
        return read_interval(text, t)
    if not (units[0] in FIELDS and units[1] in FIELDS and FIELDS.index(units[0]) < FIELDS.index(units[1])):
        return None
    wanted = FIELDS[FIELDS.index(units[0]) : FIELDS.index(units[1]) + 1]
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    parts = body.replace(" ", ":", 1).split(":") if wanted[0] == "day" else body.split(":")
    if len(parts) != len(wanted):
        return None
    values = [read_interval(f"{part} {unit}", MICROS) for part, unit in zip(parts, wanted, strict=True)]
    if any(v is None for v in values):
        return None
    return sign * sum(v for v in values if v is not None)
