"""Arrow tables of few rows as stored rows, a column at a time.

    id 1, 2; total decimal128(12, 2) 9.50, NULL        [(1, 950), (2, None)]

Law. The rows are those that `RowReader` makes of the same values one by one. Where that is not certain (a column that is left out, a
value that does not fit) the result is None, and reading one by one finds the default or raises the error.

Decimals are read from their 128 bits as integers, dates and instants as numbers of days and microseconds: of a small batch it would cost
most to make Python's decimals and dates of them by way of Arrow's scalars.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, Literal

from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.data.representation import canonical_float
from evercurrent.data.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    String,
    Timestamp,
    Type,
)
from evercurrent.data.values import BadValue, taker
from evercurrent.data.zset import Row

if TYPE_CHECKING:
    import pyarrow

    from evercurrent.rows.conversion import RowReader

Convert = Callable[[Any], list[Any]]
"""From an Arrow array to stored values; raises an error if one does not fit."""

LOW = (1 << 64) - 1
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class ArrowPlan:
    """How tables of one schema are read: for each column of the row where it stands and its conversion; None: they are not."""

    schema: pyarrow.Schema
    columns: list[tuple[int, Convert]] | None
    kinds: int = -1


def rows_of_arrow(reader: RowReader, source: Any) -> list[Row] | None:
    """The rows of an Arrow table; None if they have to be read one by one."""
    if not is_arrow(source):
        return None
    plan = _plan_of(reader, source.schema, False)
    return None if plan.columns is None else _read(plan.columns, source)


def changes_of_arrow(reader: RowReader, source: Any) -> tuple[list[Row], list[Row]] | None:
    """The inserted and the deleted rows of a change feed; None if they have to be read one by one."""
    if not is_arrow(source):
        return None
    plan = _plan_of(reader, source.schema, True)
    if plan.columns is None:
        return None
    signs = [SIGNS.get(kind) for kind in source.column(plan.kinds).to_pylist()]
    rows = None if None in signs else _read(plan.columns, source)
    if rows is None:
        return None
    if -1 not in signs:
        return rows, []
    inserts = [sign == 1 for sign in signs]
    return list(compress(rows, inserts)), list(compress(rows, map(not_, inserts)))


def is_arrow(source: Any) -> bool:
    """Whether this is an Arrow table or batch, found by its shape."""
    return (
        type(source).__module__.startswith("pyarrow")
        and hasattr(source, "schema")
        and hasattr(source, "column")
    )


def _read(columns: list[tuple[int, Convert]], source: Any) -> list[Row] | None:
    batches = source.to_batches() if hasattr(source, "to_batches") else [source]
    rows: list[Row] = []
    try:
        for batch in batches:
            arrays = batch.columns
            rows += zip(*(convert(arrays[at]) for at, convert in columns), strict=True)
    except (BadValue, ArithmeticError, ValueError, TypeError):
        return None
    return rows


def _plan_of(reader: RowReader, schema: pyarrow.Schema, feed: bool) -> ArrowPlan:
    found: ArrowPlan | None = reader.arrow_plans.get(feed)
    if found is None or not found.schema.equals(schema):
        found = reader.arrow_plans[feed] = _make_plan(reader, schema, feed)
    return found


def _make_plan(reader: RowReader, schema: pyarrow.Schema, feed: bool) -> ArrowPlan:
    """The plan for tables of a schema: they are read so if they have all columns, each once."""
    kinds = -1
    own: list[tuple[int | None, int]] = []  # which column of the row stands where
    for at, name in enumerate(schema.names):
        if feed and name == CHANGE_TYPE and _are_texts(schema.field(at).type):
            kinds = at
        elif not (feed and name in PASSED_OVER):
            own.append((reader.find_position(name), at))
    places, types = dict(own), [c.type for c in reader.table.columns]
    if len(own) != len(types) or places.keys() != set(range(len(types))) or (feed and kinds < 0):
        return ArrowPlan(schema, None)
    columns = [(places[i], _find_conversion(t, schema.field(places[i]).type)) for i, t in enumerate(types)]
    return ArrowPlan(schema, columns, kinds)


def _are_texts(source: pyarrow.DataType) -> bool:
    import pyarrow

    kinds = pyarrow.types
    if kinds.is_dictionary(source):
        source = source.value_type
    return bool(kinds.is_string(source) or kinds.is_large_string(source))


# --- one column --------------------------------------------------------------------------------------------


def _find_conversion(t: Type, source: pyarrow.DataType) -> Convert:
    """The conversion of a column of an Arrow type; what has no case here is taken in value by value."""
    import pyarrow

    kinds = pyarrow.types
    match t:
        case Boolean() if kinds.is_boolean(source):
            return _list
        case Integer(bits) if kinds.is_integer(source):
            width = source.bit_width + kinds.is_unsigned_integer(source)
            if width <= bits:
                return _list
        case String(length) if _are_texts(source):
            return _list if length is None else lambda array: _list_texts(array, length)
        case Binary() if kinds.is_binary(source) or kinds.is_large_binary(source):
            return _list
        case Float(64) if kinds.is_float64(source):
            return lambda array: [None if v is None else canonical_float(v) for v in array.to_pylist()]
        case Decimal(precision, scale) if kinds.is_decimal128(source) and source.scale <= scale:
            factor, most = 10 ** (scale - source.scale), 10**precision - 1
            return lambda array: _list_decimals(array, factor, most)
        case Date() if kinds.is_date32(source):
            return _list_dates
        case Timestamp(zone) if kinds.is_timestamp(source) and source.unit == "us":
            if zone or source.tz is None:
                return _list_instants
    take = taker(t)
    return lambda array: [take(v) for v in array.to_pylist()]


def _list(array: Any) -> list[Any]:
    found: list[Any] = array.to_pylist()
    return found


def _list_texts(array: Any, length: int) -> list[Any]:
    found = _list(array)
    if any(len(v) > length for v in found if v is not None):
        raise BadValue("a text that is too long")
    return found


def _list_integers(array: Any, kind: Literal["i", "q"], width: int) -> list[int]:
    """The integers of so many bytes in the buffer of an array, also under NULLs."""
    size, first = len(array), width * array.offset
    if not size:
        return []
    found: list[int] = memoryview(array.buffers()[1])[first : first + width * size].cast(kind).tolist()
    return found


def _list_decimals(array: Any, factor: int, most: int) -> list[Any]:
    size, first = len(array), 16 * array.offset
    if not size:
        return []
    words = memoryview(array.buffers()[1])[first : first + 16 * size].cast("q")
    values, high = words[::2].tolist(), words[1::2].tolist()
    if high.count(0) != size or min(values) < 0:
        values = [(h << 64) | (low & LOW) for h, low in zip(high, values, strict=True)]
    if factor != 1:
        values = [v * factor for v in values]
    if not array.null_count:
        _require_between(values, most)
        return values
    found = _with_nulls(array, values)
    _require_between([v for v in found if v is not None], most)
    return found


def _require_between(values: list[int], most: int) -> None:
    if values and (max(values) > most or min(values) < -most):
        raise BadValue("out of range")


def _list_dates(array: Any) -> list[datetime.date | None]:
    make = datetime.date.fromordinal
    days = _list_integers(array, "i", 4)
    if array.null_count:
        return [None if d is None else make(d + FIRST_DAY) for d in _with_nulls(array, days)]
    return [make(d + FIRST_DAY) for d in days]


def _list_instants(array: Any) -> list[datetime.datetime | None]:
    span = datetime.timedelta
    micros = _list_integers(array, "q", 8)
    if array.null_count:
        return [None if m is None else EPOCH + span(0, 0, m) for m in _with_nulls(array, micros)]
    return [EPOCH + span(0, 0, m) for m in micros]


def _with_nulls(array: Any, values: list[int]) -> list[Any]:
    return [v if ok else None for v, ok in zip(values, array.is_valid().to_pylist(), strict=True)]
