"""Columns of files as vectors, and back.

Law. `column_of(t, vector_of(t, column, pools), pools, column.type)` equals the column; whatever has no exact number raises `Unfit`.

>>> from evercurrent.data.types import Decimal
>>> prices = pyarrow.chunked_array([pyarrow.array(["9.50", None, "-0.01"]).cast(pyarrow.decimal128(6, 2))])
>>> vector = vector_of(Decimal(6, 2), prices, Pools())
>>> vector.values.tolist(), column_of(Decimal(6, 2), vector, Pools(), prices.type).to_pylist()
([950, 0, -1], [Decimal('9.50'), None, Decimal('-0.01')])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pyarrow

from evercurrent.data.types import Binary, Boolean, Date, Decimal, Float, Integer, String, Timestamp, Type
from evercurrent.engine.columnar.arithmetic import LIMIT, largest
from evercurrent.engine.columnar.arrow import from_arrow, numbers
from evercurrent.engine.columnar.index import Index
from evercurrent.engine.columnar.vectors import Ints, Pools, Unfit, Vector, words_of
from evercurrent.engine.spark.translate.arrow_columns import UNITS, view_as

KNOWN = Integer | Decimal | Date | Timestamp | Boolean | Float | String | Binary
"""The types that have both forms."""


def whole(column: pyarrow.Array | pyarrow.ChunkedArray) -> pyarrow.Array:
    if not isinstance(column, pyarrow.ChunkedArray):
        return column
    found = column.combine_chunks()
    if isinstance(found, pyarrow.ChunkedArray):  # Arrow keeps very long texts in pieces
        raise Unfit("a column of several pieces")
    return found


def vector_of(t: Type, column: pyarrow.Array | pyarrow.ChunkedArray, pools: Pools) -> Vector:
    """The vector of a column as a file has it."""
    if not isinstance(t, KNOWN):
        raise Unfit(f"columns of type {t}")
    array = whole(column)
    if isinstance(t, Float):
        array = array.cast(pyarrow.float64())
    return from_arrow(t, array, pools)


def total_of(column: pyarrow.Array | pyarrow.ChunkedArray) -> Ints:
    """Weights or sums as integers of 64 bits."""
    array = whole(column)
    kind = array.type
    if not (pyarrow.types.is_decimal128(kind) or pyarrow.types.is_integer(kind)) or array.null_count:
        raise Unfit(f"totals of type {kind}")
    return numbers(array)


def column_of(t: Type, vector: Vector, pools: Pools, target: pyarrow.DataType) -> pyarrow.Array:
    """A vector as a column of a file."""
    missing = None if vector.valid is None else ~vector.valid
    match t:
        case Integer() | Timestamp():
            return pyarrow.array(vector.values, pyarrow.int64(), mask=missing).cast(target)
        case Decimal():
            return view_as(pyarrow.array(vector.values, pyarrow.int64(), mask=missing).cast(UNITS), target)
        case Date():
            return pyarrow.array(vector.values.astype(numpy.int32), pyarrow.int32(), mask=missing).cast(
                target
            )
        case Boolean() | Float():
            return pyarrow.array(vector.values, mask=missing).cast(target)
        case String() | Binary():
            used, at = numpy.unique(vector.values, return_inverse=True)
            known = pools.of(t).values
            texts = [known[i] for i in used.tolist()] if known else [None] * len(used)
            return pyarrow.array(texts, target).take(pyarrow.array(at, pyarrow.int64(), mask=missing))
        case _:
            raise Unfit(f"columns of type {t}")


def total_column(values: Ints, target: pyarrow.DataType) -> pyarrow.Array:
    """Weights or sums as a column of a file."""
    column = pyarrow.array(values, pyarrow.int64())
    return view_as(column.cast(UNITS), target) if pyarrow.types.is_decimal128(target) else column.cast(target)


def add_up(keys: Sequence[Vector], totals: Sequence[Ints], size: int) -> tuple[list[Vector], list[Ints]]:
    """Each key once with the sums of its totals; those with nothing but zeros are left out."""
    for t in totals:
        if largest(t) * max(1, len(t)) >= LIMIT:
            raise Unfit("a sum of more than 64 bits")
    if not size:
        return list(keys), list(totals)
    ids: Any = numpy.zeros(size, numpy.int64)
    if keys:
        missing = any(k.valid is not None for k in keys)
        ids, _ = Index(len(keys) + missing).insert(words_of(keys, missing))
    number = int(ids.max()) + 1
    sums = []
    for t in totals:
        s = numpy.zeros(number, numpy.int64)
        numpy.add.at(s, ids, t)
        sums.append(s)
    places = numpy.zeros(number, numpy.int64)
    places[ids] = numpy.arange(size)
    alive = numpy.zeros(number, bool)
    for s in sums:
        alive |= s != 0
    kept = numpy.flatnonzero(alive)
    return [k.take(places[kept]) for k in keys], [s[kept] for s in sums]
