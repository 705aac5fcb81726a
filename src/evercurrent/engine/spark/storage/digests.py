"""One number for a whole row, the same from Spark and from the driver.

To check that a row to be deleted is stored exactly as given, one would read all its columns, and those of its neighbours in the
file; with a digest beside the row, its key and eight bytes are enough. Where rows have a key, files therefore have a column
`h`: Spark's `xxhash64` over the columns, then over a number that says which of them are NULL (`xxhash64` skips NULL,
and would not tell (1, NULL) from (NULL, 1)).

>>> from evercurrent.data.types import BIGINT, STRING
>>> digests([BIGINT, STRING], pyarrow.table({"c0": [1, 2], "c1": ["a", None]})).to_pylist()
[7419848482599883117, -7079145154888873307]

Law. `digests(types, table)` is what `digest_column(types)` is in Spark, row for row. Rows of one key are taken for equal if
their digests are: two different ones pass for equal with a probability of 2**-64.

The hash is XXH64, folded: the digest of a column is the seed of the next. Numbers are hashed for a whole column at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import xxhash
from pyspark.sql import Column
from pyspark.sql import functions as F

from evercurrent.data.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    String,
    Time,
    Timestamp,
    Type,
)
from evercurrent.engine.spark.translate.arrow_columns import UNITS, view_as

H = "h"
SEED = 42
FLAGS = 62
"""The number of columns whose NULLs fit into one number."""
LONG_DIGITS = 18
"""Decimals of up to this number of digits are hashed as integers of 64 bits, longer ones as bytes."""

P1 = numpy.uint64(0x9E3779B185EBCA87)
P2 = numpy.uint64(0xC2B2AE3D27D4EB4F)
P3 = numpy.uint64(0x165667B19E3779F9)
P4 = numpy.uint64(0x85EBCA77C2B2AE63)
P5 = numpy.uint64(0x27D4EB2F165667C5)

EIGHT = numpy.uint64((0x27D4EB2F165667C5 + 8) % 2**64)
AT_ONCE = 16_384
"""Rows that are hashed at a time, so that what lies between two steps stays in the processor's cache."""

Hashes = Any
"""An array of 64-bit hashes without sign."""


def digestible(types: Sequence[Type]) -> bool:
    """Whether rows of these types have digests: nothing nested."""
    known = Integer | Boolean | Date | Time | Timestamp | Decimal | Float | String | Binary
    return all(isinstance(t, known) for t in types)


def digest_column(types: Sequence[Type]) -> Column:
    """The digest of rows `c0, c1, ...` of these types, in Spark."""
    columns = [F.col(f"c{i}") for i in range(len(types))]
    flags = []
    for start in range(0, len(columns), FLAGS):
        some = columns[start : start + FLAGS]
        bits = [
            F.when(c.isNull(), F.lit(1 << i).cast("bigint")).otherwise(F.lit(0).cast("bigint"))
            for i, c in enumerate(some)
        ]
        flags.append(sum(bits[1:], bits[0]))
    return F.xxhash64(*columns, *flags)


def digests(types: Sequence[Type], table: pyarrow.Table) -> pyarrow.Array:
    """The digests of rows whose first columns are of these types, as files have them."""
    columns = [table.column(i).combine_chunks() for i in range(len(types))]
    found = numpy.empty(table.num_rows, numpy.uint64)
    for begin in range(0, table.num_rows, AT_ONCE):
        parts = [c.slice(begin, AT_ONCE) for c in columns]
        found[begin : begin + AT_ONCE] = hash_rows(types, parts, len(found[begin : begin + AT_ONCE]))
    return pyarrow.array(found.view(numpy.int64))


def hash_rows(types: Sequence[Type], columns: Sequence[pyarrow.Array], rows: int) -> Hashes:
    with numpy.errstate(over="ignore"):
        hashes = numpy.full(rows, SEED, numpy.uint64)
        for t, column in zip(types, columns, strict=True):
            fresh = fold_column(t, column, hashes)
            if column.null_count:
                valid = column.is_valid().to_numpy(zero_copy_only=False)
                hashes = numpy.where(valid, fresh, hashes)
            else:
                hashes = fresh
        for start in range(0, len(columns), FLAGS):
            hashes = of_long(null_flags(columns[start : start + FLAGS], rows), hashes)
    return hashes


def null_flags(columns: Sequence[pyarrow.Array], rows: int) -> Hashes | None:
    """Returns for each row a number that says which columns are NULL; None if it is 0 for all."""
    if not any(c.null_count for c in columns):
        return None
    flags = numpy.zeros(rows, numpy.uint64)
    for i, column in enumerate(columns):
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            flags |= numpy.where(missing, numpy.uint64(1 << i), numpy.uint64(0))
    return flags


def fold_column(t: Type, column: pyarrow.Array, seeds: Hashes) -> Hashes:
    """The hashes of a column's values, each with a seed of its own; anything where the value is NULL."""
    match t:
        case Integer(64):
            return of_long(numbers(column, pyarrow.int64()), seeds)
        case Integer():
            return of_int(numbers(column.cast(pyarrow.int32()), pyarrow.int32()), seeds)
        case Boolean():
            return of_int(numbers(column.cast(pyarrow.int8()).cast(pyarrow.int32()), pyarrow.int32()), seeds)
        case Date():
            return of_int(numbers(column.cast(pyarrow.int32()), pyarrow.int32()), seeds)
        case Time():  # Spark counts nanoseconds
            nanoseconds = column.cast(pyarrow.time64("ns")).cast(pyarrow.int64())
            return of_long(numbers(nanoseconds, pyarrow.int64()), seeds)
        case Timestamp():
            return of_long(numbers(column.cast(pyarrow.int64()), pyarrow.int64()), seeds)
        case Decimal(precision) if precision <= LONG_DIGITS:
            return of_long(low_halves(column), seeds)
        case Decimal():
            return of_bytes(view_as(column, UNITS), seeds, lambda v: big_endian(int(v)))
        case Float(64):
            return of_long(float_bits(column, numpy.float64).view(numpy.uint64), seeds)
        case Float():
            bits = float_bits(column, numpy.float32).view(numpy.int32)
            return of_int(bits.view(numpy.uint32).astype(numpy.uint64), seeds)
        case String():
            return of_bytes(column.cast(pyarrow.binary()), seeds, None)
        case Binary():
            return of_bytes(column, seeds, None)
        case _:
            raise AssertionError(f"{t} has no digest")


def numbers(column: pyarrow.Array, kind: pyarrow.DataType) -> Hashes:
    """Integers as 64 bits without sign, those of 32 bits with zeros before them."""
    filled = column.fill_null(pyarrow.scalar(0, kind)) if column.null_count else column
    found = filled.to_numpy(zero_copy_only=False)
    if kind == pyarrow.int32():
        return found.astype(numpy.int32).view(numpy.uint32).astype(numpy.uint64)
    return found.astype(numpy.int64).view(numpy.uint64)


def low_halves(column: pyarrow.Array) -> Hashes:
    """The integers that decimals of few digits are, read from their sixteen bytes."""
    values = numpy.frombuffer(column.buffers()[1], numpy.uint64)[::2]
    return values[column.offset : column.offset + len(column)]


def float_bits(column: pyarrow.Array, kind: Any) -> Any:
    """Floats with one NaN and one zero."""
    filled = column.fill_null(0.0) if column.null_count else column
    found = filled.to_numpy(zero_copy_only=False).astype(kind)
    found = numpy.where(found == 0, kind(0), found)
    return numpy.where(numpy.isnan(found), kind("nan"), found)


def big_endian(number: int) -> bytes:
    """The shortest two's complement."""
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def of_bytes(column: pyarrow.Array, seeds: Hashes, encode: Callable[[Any], bytes] | None) -> Hashes:
    digest = xxhash.xxh64_intdigest
    values = column.to_pylist()
    if column.null_count:
        values = [b"" if v is None else v if encode is None else encode(v) for v in values]
    elif encode is not None:
        values = [encode(v) for v in values]
    found = list(map(digest, values, seeds.tolist()))
    return numpy.array(found, numpy.uint64)


def of_long(values: Hashes | None, seeds: Hashes) -> Hashes:
    """XXH64 of eight bytes; of no values that of zeros."""
    hashes = seeds + EIGHT
    if values is not None:
        mixed = rotate(values * P2, 31)
        mixed *= P1
        hashes ^= mixed
    hashes = rotate(hashes, 27)
    hashes *= P1
    hashes += P4
    return avalanche(hashes)


def of_int(values: Hashes, seeds: Hashes) -> Hashes:
    """XXH64 of four bytes."""
    hashes = seeds + P5 + numpy.uint64(4)
    hashes ^= values * P1
    return avalanche(rotate(hashes, 23) * P2 + P3)


def rotate(values: Hashes, bits: int) -> Hashes:
    result = values << numpy.uint64(bits)
    result |= values >> numpy.uint64(64 - bits)
    return result


def avalanche(hashes: Hashes) -> Hashes:
    """Mixes hashes in place."""
    hashes ^= hashes >> numpy.uint64(33)
    hashes *= P2
    hashes ^= hashes >> numpy.uint64(29)
    hashes *= P3
    hashes ^= hashes >> numpy.uint64(32)
    return hashes
