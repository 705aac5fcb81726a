"""How rows of relations and entries of states lie in files: generated names only.

    c0, c1, ...    the columns of a relation or of a state's entries
    d0, d1, ...    the columns that those determine
    w              the weight
    s0, s2, ...    sums, by the position of their accumulator

A bag, of which an aggregate (or an exact sum of floats) is read, is a store of its own: the entry's columns, `a0, a1, ...`
for the values of the arguments and sort keys, and the weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from evercurrent.data.types import Float, Type
from evercurrent.delta.program import WEIGHT, Accumulator, State
from evercurrent.engine.spark.storage.digests import H
from evercurrent.engine.spark.storage.store_names import StoreName, bag_store, state_store
from evercurrent.engine.spark.translate.types import WEIGHT_TYPE, find_sum_type, spark_type
from evercurrent.term.nodes import Column

W = "w"

Frame = DataFrame
"""A frame of Spark; other layers name it through here, so that only this one knows the package."""
Schema = StructType


def relation_schema(columns: Iterable[Column]) -> StructType:
    return row_schema([c.type for c in columns])


def row_schema(types: Sequence[Type]) -> StructType:
    fields = [StructField(f"c{i}", spark_type(t)) for i, t in enumerate(types)]
    return StructType([*fields, StructField(W, WEIGHT_TYPE)])


def is_bag(a: Accumulator) -> bool:
    return a.kind == "aggregate" or isinstance(a.type, Float)


@dataclass(frozen=True)
class Shape:
    """The files of one state."""

    state: State

    @cached_property
    def columns(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.state.columns))]

    @cached_property
    def dependents(self) -> list[str]:
        return [f"d{i}" for i in range(len(self.state.dependents))]

    @cached_property
    def sums(self) -> dict[int, str]:
        return {i: f"s{i}" for i, a in enumerate(self.state.accumulators) if not is_bag(a)}

    @cached_property
    def bags(self) -> list[int]:
        return [i for i, a in enumerate(self.state.accumulators) if is_bag(a)]

    @cached_property
    def schema(self) -> StructType:
        s = self.state
        fields = [(n, spark_type(c.type)) for n, c in zip(self.columns, s.columns, strict=True)]
        fields += [(n, spark_type(c.type)) for n, c in zip(self.dependents, s.dependents, strict=True)]
        fields.append((W, WEIGHT_TYPE))
        fields += [(n, find_sum_type(s.accumulators[i].type)) for i, n in self.sums.items()]
        return StructType([StructField(n, t) for n, t in fields])

    def bag_types(self, i: int) -> list[Type]:
        a = self.state.accumulators[i]
        if a.aggregate is None:
            return [a.type]
        return [x.type for x in a.aggregate.args] + [k.term.type for k in a.aggregate.order]

    def bag_schema(self, i: int) -> StructType:
        fields = [(n, spark_type(c.type)) for n, c in zip(self.columns, self.state.columns, strict=True)]
        fields += [(f"a{j}", spark_type(t)) for j, t in enumerate(self.bag_types(i))]
        return StructType([StructField(n, t) for n, t in [*fields, (W, WEIGHT_TYPE)]])

    @cached_property
    def store(self) -> StoreName:
        return state_store(self.state.name)

    def bag_store(self, i: int) -> StoreName:
        return bag_store(self.state.name, i)

    @cached_property
    def stores(self) -> tuple[StoreName, ...]:
        """The store of its entries, and those of its bags."""
        return (self.store, *(self.bag_store(i) for i in self.bags))

    @cached_property
    def schemas(self) -> dict[StoreName, StructType]:
        """The same stores, each with its columns."""
        return {self.store: self.schema} | {self.bag_store(i): self.bag_schema(i) for i in self.bags}

    def list_stored_names(self) -> dict[str, str]:
        """What a program calls it -> what it is called in the files; aggregates are not in them."""
        s = self.state
        names = {c.name: n for c, n in zip(s.columns, self.columns, strict=True)}
        names |= {c.name: n for c, n in zip(s.dependents, self.dependents, strict=True)}
        names[WEIGHT] = W
        return names | {s.accumulators[i].name: n for i, n in self.sums.items()}


def consolidate(frame: DataFrame, schema: StructType) -> DataFrame:
    """The same Z-set with each row once: weights and sums added up, what is zero in all of them left out."""
    keys = [f.name for f in schema.fields if not is_added(f.name)]
    totals = [f for f in schema.fields if is_added(f.name)]
    sums = [F.sum(f.name).cast(f.dataType).alias(f.name) for f in totals]
    if keys:
        grouped = frame.groupBy(*keys).agg(*sums)
    else:
        grouped = frame.agg(*sums).where(F.col(W).isNotNull())
    return grouped.where(any_of([F.col(f.name) != 0 for f in totals])).select(*schema.names)


def exact(frame: DataFrame, schema: StructType) -> DataFrame:
    """The same rows in exactly these columns and types."""
    return frame.select(*(F.col(f.name).cast(f.dataType).alias(f.name) for f in schema.fields))


def is_added(name: str) -> bool:
    return name == W or name.startswith("s")


def any_of(conditions: Sequence[SparkColumn]) -> SparkColumn:
    result = conditions[0]
    for c in conditions[1:]:
        result = result | c
    return result


def same(left: Sequence[SparkColumn], right: Sequence[SparkColumn]) -> SparkColumn:
    """Equal column by column, NULL equal to NULL."""
    result = F.lit(True)
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        result = a.eqNullSafe(b) if i == 0 else result & a.eqNullSafe(b)
    return result


def encodings_of(schema: pyarrow.Schema) -> dict[str, Any]:
    """How the columns of a large file are encoded: integers as differences, the others through dictionaries.

    The dictionary of a column of keys takes four times as long to write as its differences do, and more bytes. Decimals of up to
    18 digits are integers in files (`DECIMALS`): as differences they are read six times as fast as bytes of a fixed length.

    >>> encodings_of(pyarrow.schema([("c0", pyarrow.int64()), ("c1", pyarrow.string()), ("c2", pyarrow.decimal128(12, 2))]))
    {'use_dictionary': ['c1'], 'column_encoding': {'c0': 'DELTA_BINARY_PACKED', 'c2': 'DELTA_BINARY_PACKED'}}
    """
    if any(pyarrow.types.is_nested(f.type) for f in schema):
        return {}
    packed = {f.name: "DELTA_BINARY_PACKED" for f in schema if is_packed(f.type) and f.name != H}
    coded = [f.name for f in schema if not is_packed(f.type) and not pyarrow.types.is_boolean(f.type)]
    return {"use_dictionary": coded, "column_encoding": packed or None}


def compressions_of(schema: pyarrow.Schema) -> str | dict[str, str]:
    """How the columns of a file are compressed: digests are as good as random.

    >>> compressions_of(pyarrow.schema([("c0", pyarrow.string()), ("h", pyarrow.int64())]))
    {'c0': 'zstd', 'h': 'none'}
    """
    if H not in schema.names or any(pyarrow.types.is_nested(f.type) for f in schema):
        return "zstd"
    return {f.name: "none" if f.name == H else "zstd" for f in schema}


def is_packed(kind: pyarrow.DataType) -> bool:
    """Whether values of a type are written as integers."""
    t = pyarrow.types
    short = t.is_decimal128(kind) and kind.precision <= 18
    return bool(short or t.is_integer(kind) or t.is_date32(kind) or t.is_timestamp(kind))


DECIMALS = {"store_decimal_as_integer": True}
"""How files are written, besides: decimals of up to 18 digits as integers, which is also what Spark does."""
