"""Values of users, taken in: checked against their type and brought to the inside representation.

>>> from evercurrent.data.types import INT, Decimal
>>> take_in(Decimal(12, 2), "9.5"), take_in(INT, 2.0)
(950, 2)
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from evercurrent.data.bounds import WIDE, decimal_fits, float32, integer_fits, interval_fits
from evercurrent.data.representation import FrozenMap, canonical_float
from evercurrent.data.showing import is_text, show_value
from evercurrent.data.texts import cut_time, read_date, read_time, read_timestamp
from evercurrent.data.types import (
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

Row = tuple[Any, ...]


class BadValue(ValueError):
    """A value that does not fit its type. In a row `position` is the field, and `value` what was given for it."""

    position: int | None = None
    value: Any = None


def take_in(t: Type, value: Any) -> Any:
    """The inside representation of a user's value; `BadValue` if it does not fit the type."""
    return taker(t)(value)


MOST_DIGITS = 60
"""No number of any type has so many digits; larger ones are refused before they are written out."""

PLAIN = frozenset(
    {bool, int, float, str, bytes, list, tuple, dict, datetime.date, datetime.datetime, decimal.Decimal}
)
"""Types whose values need no look at where they come from."""


def _plain(value: Any) -> Any:
    """Scalars of numpy and pandas as plain Python ones (found by their shape: neither is imported here)."""
    kind = type(value)
    module = kind.__module__
    if module.startswith("numpy") and hasattr(value, "item") and not getattr(value, "shape", ()):
        if kind.__name__ == "ndarray":
            return _plain(value[()])  # an array of no dimensions holds one value
        if kind.__name__ == "datetime64":
            return _numpy_instant(value)
        if kind.__name__ == "timedelta64":
            micros = int(value.astype("timedelta64[us]").astype("int64"))
            return None if micros == -(1 << 63) else datetime.timedelta(microseconds=micros)
        return value.item()
    if module.startswith("pandas"):
        if kind.__name__ in ("NaTType", "NAType"):
            return None
        if hasattr(value, "to_pydatetime"):
            return value.to_pydatetime(warn=False)
        if hasattr(value, "to_pytimedelta"):
            return value.to_pytimedelta()
    return value


def _numpy_instant(value: Any) -> datetime.datetime | None:
    micros = int(value.astype("datetime64[us]").astype("int64"))
    if micros == -(1 << 63):
        return None
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)


def _bad(t: Type, value: Any, why: str = "") -> BadValue:
    return BadValue(f"{show_value(value)} is not a value of type {t}" + (f": {why}" if why else ""))


_takers: dict[Type, Callable[[Any], Any]] = {}


def taker(t: Type) -> Callable[[Any], Any]:
    """The function that takes in values of a type, NULL too."""
    found = _takers.get(t)
    if found is None:
        found = _takers[t] = _make_taker(t)
    return found


def _make_taker(t: Type) -> Callable[[Any], Any]:
    match t:
        case Null():
            take: Callable[[Any], Any] = _take_null
        case Boolean():
            take = _take_boolean
        case Integer():
            take = lambda v: v if type(v) is int and integer_fits(t, v) else _take_integer(t, v)  # noqa: E731
        case Float():
            take = lambda v: _take_float(t, v)  # noqa: E731
        case Decimal():
            take = decimal_taker(t, lambda v: _take_decimal(t, v))
        case String():
            take = lambda v: _take_string(t, v)  # noqa: E731
        case Binary():
            take = _take_binary
        case Date():
            take = _take_date
        case Time():
            take = lambda v: _take_time(t, v)  # noqa: E731
        case Timestamp():
            take = lambda v: _take_timestamp(t, v)  # noqa: E731
        case Interval():
            take = lambda v: _take_interval(t, v)  # noqa: E731
        case Array(element) | Collection(_, element):
            take = lambda v: _take_array(t, element, v)  # noqa: E731
        case Map():
            take = lambda v: _take_map(t, v)  # noqa: E731
        case Struct():
            take = lambda v: _take_struct(t, v)  # noqa: E731
        case Reference():
            take = lambda v: v  # noqa: E731

    def take_any(value: Any) -> Any:
        try:
            if type(value) not in PLAIN:
                value = None if value is None else _plain(value)
                if value is None:
                    return None
            return take(value)
        except (BadValue, MemoryError):
            raise
        except Exception as problem:
            # Values of users are of any class, and so are the errors of their methods.
            raise _bad(t, value, type(problem).__name__) from problem

    return take_any


def _take_null(v: Any) -> Any:
    raise BadValue(f"only NULL is a value of type VOID, not {show_value(v)}")


def _take_boolean(v: Any) -> bool:
    if isinstance(v, bool):
        return v
    raise _bad(Boolean(), v)


def _take_integer(t: Integer, v: Any) -> int | None:
    if isinstance(v, float) and v != v:
        return None  # a missing integer in a pandas column of floats
    if isinstance(v, bool) or not isinstance(v, int | float | decimal.Decimal):
        raise _bad(t, v)
    if isinstance(v, decimal.Decimal) and (not v.is_finite() or v.adjusted() > MOST_DIGITS):
        raise _bad(t, v, "out of range" if v.is_finite() else "")
    if v != (n := _whole(v)):
        raise _bad(t, v)
    if not integer_fits(t, n):
        raise _bad(t, v, "out of range")
    return n


def _whole(v: int | float | decimal.Decimal) -> int:
    try:
        return int(v)
    except (OverflowError, ValueError):
        return 0


def _take_float(t: Float, v: Any) -> float:
    if isinstance(v, bool) or not isinstance(v, int | float | decimal.Decimal):
        raise _bad(t, v)
    try:
        f = float(v)
    except OverflowError:
        raise _bad(t, v, "out of range") from None
    return canonical_float(f) if t.bits == 64 else float32(f)


def decimal_taker(t: Decimal, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Most decimals are finite and far from every limit: those are scaled and rounded at once; `otherwise` takes all others."""
    scale, most = decimal.Decimal(t.scale), decimal.Decimal(10**t.precision - 1)
    least = -most
    scaleb, integral = WIDE.scaleb, WIDE.to_integral_value

    def take(v: Any) -> Any:
        if type(v) is decimal.Decimal:
            try:
                scaled = scaleb(v, scale)
                if least <= scaled <= most:
                    return int(integral(scaled))
            except ArithmeticError:
                pass
        return otherwise(v)

    return take


def _take_decimal(t: Decimal, v: Any) -> int:
    if isinstance(v, bool) or not isinstance(v, int | float | decimal.Decimal | str):
        raise _bad(t, v)
    if type(v) is int:
        scaled: int = v * 10**t.scale
    else:
        try:
            exact = decimal.Decimal(repr(v) if isinstance(v, float) else v)
            if not exact.is_finite() or exact.adjusted() > MOST_DIGITS:
                raise _bad(t, v, "out of range" if exact.is_finite() else "")
            scaled = int(exact.scaleb(t.scale, WIDE).to_integral_value(decimal.ROUND_HALF_UP, WIDE))
        except decimal.InvalidOperation:
            raise _bad(t, v) from None
    if not decimal_fits(t, scaled):
        raise _bad(t, v, "out of range")
    return scaled


def _take_string(t: String, v: Any) -> str:
    if not isinstance(v, str):
        raise _bad(t, v)
    if not is_text(v):
        raise _bad(t, v, "half of a surrogate pair is no character")
    if t.length is not None and len(v) > t.length:
        # Blanks at the end of a value that is too long are dropped, as when Spark writes to a VARCHAR.
        if v[t.length :].strip(" "):
            raise _bad(t, v, f"longer than {t.length}")
        return v[: t.length]
    return v if type(v) is str else str(v)


def _take_binary(v: Any) -> bytes:
    if isinstance(v, bytes | bytearray | memoryview):
        return bytes(v)
    raise _bad(Binary(), v)


def _take_date(v: Any) -> datetime.date:
    if isinstance(v, datetime.datetime):
        if v.time() != datetime.time():
            raise _bad(Date(), v, "it has a time of day")
        return v.date()
    if isinstance(v, datetime.date):
        return v
    if isinstance(v, str):
        found = read_date(v)
        if found is not None:
            return found
    raise _bad(Date(), v)


def _take_time(t: Time, v: Any) -> datetime.time:
    """A time of day; digits that the type does not hold are cut off, as a cast cuts them."""
    if isinstance(v, str):
        found = read_time(v)
        if found is None:
            raise _bad(t, v)
        return cut_time(found, t.precision)
    if isinstance(v, datetime.time):
        if v.tzinfo is not None:
            raise _bad(t, v, "it has a zone")
        return cut_time(datetime.time(v.hour, v.minute, v.second, v.microsecond), t.precision)
    raise _bad(t, v)


def _take_timestamp(t: Timestamp, v: Any) -> datetime.datetime:
    if isinstance(v, str):
        found = read_timestamp(v, zone=t.zone)
        if found is None:
            raise _bad(t, v)
        return found
    if isinstance(v, datetime.datetime):
        if v.tzinfo is None:
            return v if type(v) is datetime.datetime else v.replace(fold=0)
        if not t.zone:
            raise _bad(t, v, "it has a zone")
        return v.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(v, datetime.date):
        return datetime.datetime(v.year, v.month, v.day)
    raise _bad(t, v)


def _take_interval(t: Interval, v: Any) -> int:
    if isinstance(v, int) and not isinstance(v, bool):
        amount = v
    elif isinstance(v, datetime.timedelta) and t.unit == "micros":
        amount = v // datetime.timedelta(microseconds=1)
    else:
        raise _bad(t, v)
    if not interval_fits(t, amount):
        raise _bad(t, v, "out of range")
    return amount


def _take_array(t: Type, element: Type, v: Any) -> Row:
    if isinstance(v, str | bytes | Mapping) or not isinstance(v, Iterable):
        raise _bad(t, v)
    take = taker(element)
    return tuple(take(x) for x in v)


def _take_map(t: Map, v: Any) -> FrozenMap:
    if isinstance(v, Mapping):
        pairs: Iterable[Any] = v.items()
    elif isinstance(v, Iterable) and not isinstance(v, str | bytes):
        pairs = v
    else:
        raise _bad(t, v)
    key, value = taker(t.key), taker(t.value)
    found: dict[Any, Any] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise _bad(t, v)
        k = key(pair[0])
        if k is None:
            raise _bad(t, v, "a key is NULL")
        if k in found:
            raise _bad(t, v, f"the key {show_value(pair[0])} comes twice")
        found[k] = value(pair[1])
    return FrozenMap(found)


def _take_struct(t: Struct, v: Any) -> Row:
    if isinstance(v, Mapping):
        values: Iterator[Any] | Sequence[Any] = [v.get(m.name) for m in t.members]
        unknown = [k for k in v if all(k != m.name for m in t.members)]
        if unknown:
            raise _bad(t, v, f"it has no member {show_value(unknown[0])}")
    elif isinstance(v, tuple | list):
        if len(v) != len(t.members):
            raise _bad(t, v, f"{len(t.members)} members are expected")
        values = v
    elif dataclasses.is_dataclass(v) and not isinstance(v, type):
        return _take_struct(t, {f.name: getattr(v, f.name) for f in dataclasses.fields(v)})
    else:
        raise _bad(t, v)
    return tuple(taker(m.type)(x) for m, x in zip(t.members, values, strict=True))
