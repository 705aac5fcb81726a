"""Columns of values: an array of numbers and a mask of NULLs.

    type                                        array
    integers, DECIMAL (scaled), INTERVAL        int64
    DATE, TIMESTAMP                             int64: days, microseconds since 1970
    BOOLEAN                                     bool
    FLOAT, DOUBLE                               float64, canonical: one NaN, one zero
    anything else                               int64: the number of the value in the pool of its type

Law. Two values of a type are equal exactly if their numbers are (of floats: their bits), so keys are compared, hashed and
grouped as numbers. Where a value has no such number (a decimal of more than 64 bits) `Unfit` is raised; the caller that runs
columns then runs rows instead. `Unfit` never leaves the engine.

>>> from evercurrent.data.types import STRING
>>> pools = Pools()
>>> names = from_list(STRING, ["a", None, "b", "a"], pools)
>>> names.values.tolist(), to_list(STRING, names, pools)
([0, 0, 1, 0], ['a', None, 'b', 'a'])
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from evercurrent.data.representation import NAN
from evercurrent.data.types import (
    STRING,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Null,
    String,
    Timestamp,
    Type,
)

Ints = NDArray[numpy.int64]
Mask = NDArray[numpy.bool_]
Values = NDArray[Any]
Kind = Literal["int", "float", "bool", "pool"]


class Unfit(Exception):
    """Columns cannot say this exactly: rows must."""


@dataclass(slots=True)
class Vector:
    """Values, and which of them are not NULL (None: all). Under a NULL stands a zero."""

    values: Values
    valid: Mask | None = None

    def take(self, places: Ints) -> Vector:
        return Vector(self.values.take(places), None if self.valid is None else self.valid.take(places))

    def __len__(self) -> int:
        return len(self.values)


def kind_of(t: Type) -> Kind:
    match t:
        case Integer() | Decimal() | Interval() | Date() | Timestamp():
            return "int"
        case Float():
            return "float"
        case Boolean():
            return "bool"
        case _:
            return "pool"


DTYPES: dict[Kind, Any] = {
    "int": numpy.int64,
    "float": numpy.float64,
    "bool": numpy.bool_,
    "pool": numpy.int64,
}


class Pool:
    """Distinct values, numbered in the order in which they came."""

    __slots__ = ("numbers", "values")

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.values: list[Any] = []

    def number(self, values: Iterable[Any]) -> list[int]:
        numbers, known = self.numbers, self.values
        result = []
        for value in values:
            found = numbers.get(value)
            if found is None:
                found = numbers[value] = len(known)
                known.append(value)
            result.append(found)
        return result


class Pools:
    """One pool for each type; texts of whatever greatest length share one."""

    __slots__ = ("_pools",)

    def __init__(self) -> None:
        self._pools: dict[Type, Pool] = {}

    def of(self, t: Type) -> Pool:
        key = STRING if isinstance(t, String) else t
        found = self._pools.get(key)
        if found is None:
            found = self._pools[key] = Pool()
        return found


def same_numbers(a: Type, b: Type) -> bool:
    """Whether equal values of two types have equal numbers."""
    match a, b:
        case (Integer(), Integer()) | (String(), String()) | (Float(), Float()):
            return True
        case Decimal(scale=s), Decimal(scale=t):
            return s == t
        case _:
            return a == b


# --- between Python and arrays -----------------------------------------------------------------------------


def from_list(t: Type, values: Sequence[Any], pools: Pools) -> Vector:
    """Values in internal representation as a vector."""
    missing = (
        None in values if kind_of(t) != "pool" or isinstance(t, String) else any(v is None for v in values)
    )
    valid = numpy.array([v is not None for v in values], bool) if missing else None
    try:
        match t:
            case Null():
                return Vector(numpy.zeros(len(values), numpy.int64), numpy.zeros(len(values), bool))
            case Date() | Timestamp():
                unit = "D" if isinstance(t, Date) else "us"
                stamps = numpy.array(values, f"datetime64[{unit}]").astype(numpy.int64)
                return Vector(stamps if valid is None else numpy.where(valid, stamps, 0), valid)
            case _:
                kind = kind_of(t)
                if kind == "pool":
                    pool = pools.of(t)
                    if valid is None:
                        return Vector(numpy.array(pool.number(values), numpy.int64))
                    found = numpy.zeros(len(values), numpy.int64)
                    found[valid] = pool.number(v for v in values if v is not None)
                    return Vector(found, valid)
                plain = values if valid is None else [0 if v is None else v for v in values]
                return Vector(numpy.array(plain, DTYPES[kind]), valid)
    except (OverflowError, TypeError) as problem:
        raise Unfit(str(problem)) from None


def to_list(t: Type, vector: Vector, pools: Pools) -> list[Any]:
    """The values in internal representation."""
    values: list[Any]
    match t:
        case Null():
            return [None] * len(vector)
        case Date():
            values = vector.values.astype("datetime64[D]").tolist()
        case Timestamp():
            values = vector.values.astype("datetime64[us]").tolist()
        case Float():
            values = vector.values.tolist()
            if numpy.isnan(vector.values).any():
                values = [v if v == v else NAN for v in values]
        case _ if kind_of(t) == "pool":
            known = pools.of(t).values
            if vector.valid is not None:
                ok = vector.valid.tolist()
                return [known[i] if v else None for i, v in zip(vector.values.tolist(), ok, strict=True)]
            return [known[i] for i in vector.values.tolist()]
        case _:
            values = vector.values.tolist()
    if vector.valid is not None:
        values = [v if ok else None for v, ok in zip(values, vector.valid.tolist(), strict=True)]
    return values


def constant(t: Type, value: Any, size: int, pools: Pools) -> Vector:
    one = from_list(t, [value], pools)
    values = numpy.full(size, one.values[0], one.values.dtype)
    return Vector(values, None if one.valid is None else numpy.zeros(size, bool))


def nulls(t: Type, size: int) -> Vector:
    return Vector(numpy.zeros(size, DTYPES[kind_of(t)]), numpy.zeros(size, bool))


def concatenate(vectors: Sequence[Vector]) -> Vector:
    if len(vectors) == 1:
        return vectors[0]
    values = numpy.concatenate([v.values for v in vectors])
    if all(v.valid is None for v in vectors):
        return Vector(values)
    masks = [numpy.ones(len(v), bool) if v.valid is None else v.valid for v in vectors]
    return Vector(values, numpy.concatenate(masks))


def clear_nulls(vector: Vector) -> Vector:
    """The vector with zeros under its NULLs; without a mask if there are none."""
    if vector.valid is None:
        return vector
    if vector.valid.all():
        return Vector(vector.values)
    return Vector(numpy.where(vector.valid, vector.values, vector.values.dtype.type(0)), vector.valid)


def canonical(values: Values) -> Values:
    """Floats with one NaN and one zero."""
    result: Values = values + 0.0
    bad = numpy.isnan(result)
    if bad.any():
        result[bad] = NAN
    return result


def is_true(vector: Vector) -> Mask:
    """Where a condition is TRUE, not FALSE or NULL."""
    found: Mask = vector.values if vector.valid is None else vector.values & vector.valid
    return found


def equal(a: Vector, b: Vector) -> Mask:
    """Where two vectors agree; NULL agrees with NULL, NaN with NaN."""
    x, y = a.values, b.values
    if x.dtype == numpy.float64:
        x, y = x.view(numpy.int64), y.view(numpy.int64)
    same: Mask = x == y
    if a.valid is not None or b.valid is not None:
        ok_a = numpy.ones(len(a), bool) if a.valid is None else a.valid
        ok_b = numpy.ones(len(b), bool) if b.valid is None else b.valid
        same = (same & ok_a & ok_b) | (~ok_a & ~ok_b)
    return same


def words_of(vectors: Sequence[Vector], nullable: bool) -> list[Ints]:
    """What identifies a row of these columns, as integers; which of them are NULL is one more, if that can be."""
    words: list[Ints] = []
    missing = None
    for i, v in enumerate(vectors):
        if v.values.dtype == numpy.float64:
            words.append(v.values.view(numpy.int64))
        else:
            words.append(v.values.astype(numpy.int64, copy=False))
        if v.valid is not None and not v.valid.all():
            if i >= 62:
                raise Unfit("too many columns in a key")
            bit = numpy.where(v.valid, 0, 1 << i)
            missing = bit if missing is None else missing | bit
    if nullable:
        words.append(
            numpy.zeros(len(vectors[0]) if vectors else 0, numpy.int64) if missing is None else missing
        )
    elif missing is not None:
        raise Unfit("a NULL where none can be")
    return words


def valid_of(vector: Vector) -> Any:
    return numpy.ones(len(vector), bool) if vector.valid is None else vector.valid


def has_nulls(vector: Vector) -> bool:
    return vector.valid is not None and not bool(vector.valid.all())


def keys_without_nulls(keys: Sequence[Vector]) -> Ints:
    """The places where no key is NULL."""
    present = numpy.ones(len(keys[0]), bool)
    for key in keys:
        if key.valid is not None:
            present &= key.valid
    return numpy.flatnonzero(present)


def value_of_word(kind: Kind, word: Ints) -> Values:
    """Back from the integer that identifies a value."""
    if kind == "float":
        return word.view(numpy.float64)
    return word.astype(bool) if kind == "bool" else word


EPOCH = datetime.date(1970, 1, 1)
