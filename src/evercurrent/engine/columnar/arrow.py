"""Columns of Arrow as users hand them over, checked, and as vectors.

Law. Where `check_column` returns, each value is what reading the column value by value would store (`data.intake`);
where that is not sure it raises `Unfit`, and reading value by value converts it or says what is wrong. Decimals are read
from their 128 bits as integers, dates and timestamps as numbers.

>>> from evercurrent.data.types import Decimal
>>> prices = pyarrow.array(["9.50", None, "-0.01"]).cast(pyarrow.decimal128(6, 2))
>>> from_arrow(Decimal(6, 2), check_column(Decimal(6, 2), prices), Pools()).values.tolist()
[950, 0, -1]
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy
import pyarrow
import pyarrow.compute

from evercurrent.data.arrow_types import arrow_type
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
from evercurrent.engine.columnar.vectors import (
    Ints,
    Pools,
    Unfit,
    Values,
    Vector,
    canonical,
    clear_nulls,
    concatenate,
    nulls,
)

FIRST_DAY = (datetime.date.min - datetime.date(1970, 1, 1)).days
LAST_DAY = (datetime.date.max - datetime.date(1970, 1, 1)).days
MICROS_PER_DAY = 86_400_000_000


@lru_cache(maxsize=1024)
def find_stored_type(t: Type) -> pyarrow.DataType:
    """The Arrow type in which a column is kept."""
    match t:
        case Boolean() | Integer() | Float(64) | Decimal() | String() | Binary() | Date() | Timestamp():
            return arrow_type(t)
        case _:
            raise Unfit(f"columns of type {t}")


def check_column(t: Type, column: Any) -> pyarrow.Array:
    """A column in its stored type, if it holds values of the type and nothing has to be rounded or cut."""
    column = _cast_column(t, column)
    if isinstance(t, String) and t.length is not None:
        longest = pyarrow.compute.max(pyarrow.compute.utf8_length(column)).as_py()
        if longest is not None and longest > t.length:
            raise Unfit("a text that is too long")
    limits = _find_limits(t)
    if limits is not None:
        _require_between(numbers(column), *limits)
    return column


def _cast_column(t: Type, column: Any) -> pyarrow.Array:
    wanted = find_stored_type(t)
    try:
        if isinstance(column, pyarrow.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            if isinstance(column, pyarrow.ChunkedArray):  # Arrow keeps very long texts in pieces
                raise Unfit("a column of several pieces")
        if column.type != wanted:
            if not _converts(column.type, t):
                raise Unfit(f"a column of type {column.type}")
            column = column.cast(wanted, safe=True)
        if isinstance(t, String | Binary):
            column.validate()
            if not _is_ascii(column):
                column.validate(full=True)
    except pyarrow.ArrowException as problem:
        raise Unfit(str(problem)) from None
    return column


def _is_ascii(column: pyarrow.Array) -> bool:
    """Whether texts are certainly sound: they follow each other within the bytes, and these are all ASCII."""
    _, places, texts = column.buffers()
    if not len(column) or texts is None:
        return False
    starts = numpy.frombuffer(places, numpy.int32, len(column) + 1, 4 * column.offset)
    first, last = int(starts[0]), int(starts[-1])
    if not 0 <= first < last <= texts.size or (starts[1:] < starts[:-1]).any():
        return False
    return bool(numpy.frombuffer(texts, numpy.uint8, last - first, first).max() < 128)


def check_vector(t: Type, column: Any) -> tuple[pyarrow.Array, Vector | None]:
    """The same, and the column as a vector if it holds numbers: its range is then checked on them, and they are read once."""
    if not isinstance(t, Integer | Decimal | Date | Timestamp):
        return check_column(t, column), None
    column = _cast_column(t, column)
    vector = Vector(
        numbers(column), column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    )
    limits = _find_limits(t)
    if limits is not None:
        _require_between(vector.values, *limits)
    return column, vector


def _converts(source: pyarrow.DataType, t: Type) -> bool:
    """Whether a safe cast means what reading value by value means."""
    kinds = pyarrow.types
    match t:
        case Integer():
            return bool(kinds.is_integer(source)) or bool(kinds.is_null(source))
        case Decimal(scale=scale):
            if kinds.is_decimal128(source):
                return bool(source.scale <= scale)
            return bool(kinds.is_integer(source)) or bool(kinds.is_null(source))
        case String():
            if kinds.is_dictionary(source):
                source = source.value_type
            return bool(kinds.is_large_string(source) or kinds.is_string(source) or kinds.is_null(source))
        case Timestamp(zone):
            return bool(kinds.is_timestamp(source)) and (source.tz is not None) == zone
        case _:
            return bool(kinds.is_null(source))


def _find_limits(t: Type) -> tuple[int, int] | None:
    """The least and the greatest number of a type that Arrow's own type does not keep to."""
    match t:
        case Date():
            return FIRST_DAY, LAST_DAY
        case Timestamp():
            return FIRST_DAY * MICROS_PER_DAY, (LAST_DAY + 1) * MICROS_PER_DAY - 1
        case Decimal(precision):
            return -(10**precision) + 1, 10**precision - 1
        case _:
            return None


def _require_between(values: Values, low: int, high: int) -> None:
    if len(values) and not (low <= int(values.min()) and int(values.max()) <= high):
        raise Unfit("out of range")


def numbers(column: pyarrow.Array) -> Ints:
    """The integers that stand for the values of a column; zero for NULL."""
    size, first = len(column), column.offset
    buffer = column.buffers()[1]
    if not size or buffer is None:
        return numpy.zeros(size, numpy.int64)
    if pyarrow.types.is_decimal128(column.type):
        halves = numpy.frombuffer(buffer, numpy.int64, 2 * (first + size)).reshape(-1, 2)[first:]
        low, high = halves[:, 0], halves[:, 1]
        if column.null_count:
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            low, high = numpy.where(valid, low, 0), numpy.where(valid, high, 0)
        if (high != low >> 63).any():
            raise Unfit("a decimal of more than 64 bits")
        return numpy.ascontiguousarray(low)
    width = column.type.bit_width
    kind = numpy.dtype(f"int{width}")
    values = numpy.frombuffer(buffer, kind, first + size)[first:].astype(numpy.int64, copy=False)
    if column.null_count:
        values = numpy.where(column.is_valid().to_numpy(zero_copy_only=False), values, 0)
    return values


def from_arrow(t: Type, column: pyarrow.Array, pools: Pools) -> Vector:
    """The vector of a column in its stored type."""
    if pyarrow.types.is_null(column.type):  # nobody reads it
        return nulls(t, len(column))
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    match t:
        case Integer() | Decimal() | Date() | Timestamp():
            return Vector(numbers(column), valid)
        case Boolean():
            plain = column if valid is None else column.fill_null(False)
            return Vector(plain.to_numpy(zero_copy_only=False), valid)
        case Float():
            plain = column if valid is None else column.fill_null(0.0)
            return clear_nulls(Vector(canonical(plain.to_numpy()), valid))
        case String() | Binary():
            return _pool_column(t, column, valid, pools)
        case _:
            raise Unfit(f"columns of type {t}")


def to_arrow(t: Type, values: Sequence[Any]) -> pyarrow.Array:
    """Values in internal representation as a column of the stored type."""
    wanted = find_stored_type(t)
    if not isinstance(t, Decimal):
        return pyarrow.array(values, wanted, from_pandas=False)
    try:
        low = numpy.array([0 if v is None else v for v in values], numpy.int64)
    except OverflowError:
        raise Unfit("a decimal of more than 64 bits") from None
    halves = numpy.empty((len(low), 2), numpy.int64)
    halves[:, 0], halves[:, 1] = low, low >> 63
    missing = numpy.array([v is None for v in values], bool)
    validity = pyarrow.array(~missing).buffers()[1] if missing.any() else None
    return pyarrow.Array.from_buffers(wanted, len(low), [validity, pyarrow.py_buffer(halves)])


def _pool_column(t: Type, column: pyarrow.Array, valid: Any, pools: Pools) -> Vector:
    coded = column.dictionary_encode()
    known = numpy.array(pools.of(t).number(coded.dictionary.to_pylist()), numpy.int64)
    if valid is None:
        return Vector(known[coded.indices.to_numpy()])
    at = coded.indices.fill_null(0).to_numpy()
    if not len(known):
        return Vector(numpy.zeros(len(column), numpy.int64), valid)
    return clear_nulls(Vector(known[at], valid))


def vector_of(t: Type, column: pyarrow.ChunkedArray, pools: Pools) -> Vector:
    if not column.num_chunks:
        return from_arrow(t, pyarrow.array([], column.type), pools)
    return concatenate([from_arrow(t, chunk, pools) for chunk in column.chunks])
