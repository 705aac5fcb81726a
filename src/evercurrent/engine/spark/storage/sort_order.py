"""By which columns a store's files are sorted.

A lookup reads the row groups whose statistics (smallest and largest value) can hold its keys. Sorted by the columns that
lookups use, few of them can; sorted by anything else, nearly all can. So the order of a state is, of what its program does
with it,

    the key of the groups that a window or a top-k reads, then its order
    else the columns of an index: one that finds at most one entry before others, a shorter one before longer ones
    else the columns of its entries, from left to right

and that of a table is its primary key. Readers trust statistics only, so a file that is sorted otherwise is read more
slowly and returns the same answer.

Versions say of each file the smallest and the largest value of the column by which it is sorted (`KeyRange`), so that a lookup opens
only files that can hold its keys, however many there are.

>>> range_of(pyarrow.chunked_array([[3, None, 7]]))
KeyRange(low=3, high=7, nulls=True)
>>> KeyRange.of_json(KeyRange("a", "b").to_json())
KeyRange(low='a', high='b', nulls=False)
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal as Number
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from evercurrent.data.types import Array, Float, Map, Struct, Type
from evercurrent.delta.analyses.copies import is_copy
from evercurrent.delta.program import Keyed, Program, Ranked, State, Windowed
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store, state_store
from evercurrent.errors import StorageError
from evercurrent.term.nodes import Column

Order = tuple[str, ...]
"""Names of columns as files have them, the most telling first."""

DEPTH = 3
"""More columns than this tell no more row groups apart."""


def sortable(t: Type) -> bool:
    """Whether files can be sorted by it, and statistics of it be trusted."""
    return not isinstance(t, Float | Array | Map | Struct)


def row_order(types: Sequence[Type], first: Sequence[int] = ()) -> Order:
    """The order of a relation's rows: the columns at `first`, then the others from left to right."""
    places = [*first, *(i for i in range(len(types)) if i not in first)]
    return tuple(f"c{i}" for i in places if sortable(types[i]))[: max(DEPTH, len(first))]


def orders(program: Program) -> dict[StoreName, Order]:
    """The order of every store of states and bags of a program."""
    readers = {
        r.state: r
        for r in program.relations
        if isinstance(r, Keyed) and isinstance(r.function, Windowed | Ranked)
    }
    result: dict[StoreName, Order] = {}
    for state in program.states:
        shape = Shape(state)
        result[shape.store] = find_stored_order(shape, find_preferred(state, readers))
        for i in shape.bags:
            types = [c.type for c in state.columns]
            values = [f"a{j}" for j, t in enumerate(shape.bag_types(i)) if sortable(t)][:1]
            own = [n for n, t in zip(shape.columns, types, strict=True) if sortable(t)]
            result[shape.bag_store(i)] = (*own, *values)
    for rules in program.triggers.values():
        for rule in rules:
            state_order = result.get(state_store(rule.into))
            if state_order is not None and is_copy(rule):  # the files of the delta become the state's
                result[delta_store(rule.on)] = state_order
    return result


def find_preferred(state: State, readers: Mapping[str, Keyed]) -> list[str]:
    """The columns, by the program's names, that come first."""
    reader = readers.get(state.name)
    if reader is not None:
        order = reader.function.order if isinstance(reader.function, Ranked) else ()
        return [*reader.key, *(k.term.name for k in order[:1] if isinstance(k.term, Column))]
    indexes = [i for i in state.indexes if i.columns]
    if not indexes:
        return []
    return list(min(indexes, key=lambda i: (not i.single, len(i.columns))).columns)


def find_stored_order(shape: Shape, first: Sequence[str]) -> Order:
    s = shape.state
    types = {c.name: c.type for c in (*s.columns, *s.dependents)}
    stored = shape.list_stored_names()
    names = [*first, *(c.name for c in s.columns if c.name not in first)]
    return tuple(dict.fromkeys(stored[n] for n in names if n in types and sortable(types[n])))[:DEPTH]


def sort_rows(table: pyarrow.Table, order: Sequence[str]) -> pyarrow.Table:
    """Returns rows in an order, NULLs last, those that are equal in it as they stood; the same table if it is in that order.

    By a column of integers first: if no two are equal, the others do not matter, and rows that come in a few sorted runs are merged.

    >>> sort_rows(pyarrow.table({"a": [2, 1, 2], "b": [5, 7, 4]}), ("a", "b")).to_pydict()
    {'a': [1, 2, 2], 'b': [7, 4, 5]}
    """
    if not order or not table.num_rows:
        return table
    first = table.column(order[0])
    if not pyarrow.types.is_integer(first.type) or first.null_count:
        return table.sort_by([(name, "ascending") for name in order])
    values = first.to_numpy()
    places = None
    if not bool((values[1:] >= values[:-1]).all()):
        places = numpy.argsort(values, kind="stable")
        values = values[places]
    if len(order) > 1 and bool((values[1:] == values[:-1]).any()):
        return table.sort_by([(name, "ascending") for name in order])
    return table if places is None else table.take(pyarrow.array(places))


def find_rising(table: pyarrow.Table, order: Sequence[str]) -> list[str]:
    """Returns the columns of an order, from the first one on, by which the rows really rise together.

    Only the last of them may have NULLs, which are larger than all values.

    >>> find_rising(pyarrow.table({"a": [1, 1, 2], "b": [5, 7, 6], "c": [3, 2, 1]}), ("a", "b", "c"))
    ['a', 'b', 'c']
    >>> find_rising(pyarrow.table({"a": [1, 1, 2], "b": [5, None, 6], "c": [3, 2, 1]}), ("a", "b", "c"))
    ['a', 'b']
    >>> find_rising(pyarrow.table({"a": [1, 1, 2], "b": [None, 5, 6]}), ("a", "b"))
    ['a']
    """
    rising: list[str] = []
    ties: pyarrow.Array | None = None  # whether a row has the same values so far as the next one
    for name in order:
        if name not in table.column_names:
            break
        column = table.column(name).combine_chunks()
        if pyarrow.types.is_nested(column.type) or pyarrow.types.is_floating(column.type):
            break
        before, after = column.slice(0, max(0, len(column) - 1)), column.slice(1)
        falls = pyarrow.compute.less(after, before)
        if column.null_count:
            falls = falls.fill_null(False)
            from_null = pyarrow.compute.and_(before.is_null(), after.is_valid())
            falls = pyarrow.compute.or_(falls, from_null)
        if ties is not None:
            falls = pyarrow.compute.and_(falls, ties)
        if pyarrow.compute.any(falls, min_count=0).as_py():
            break
        rising.append(name)
        if column.null_count:
            break
        same = pyarrow.compute.equal(after, before)
        ties = same if ties is None else pyarrow.compute.and_(ties, same)
    return rising


# --- ranges of keys ----------------------------------------------------------------------------------------

LONGEST = 64
"""Texts of more characters than this are not recorded for a file."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The smallest and the largest value of a file in the first column of its order, and whether there are NULLs."""

    low: Any
    high: Any
    nulls: bool = False

    def to_json(self) -> list[Any]:
        return [*map(_value_to_json, (self.low, self.high)), self.nulls]

    @staticmethod
    def of_json(value: Any) -> KeyRange | None:
        if value is None:
            return None
        try:
            low, high, nulls = value
            if not isinstance(nulls, bool):
                raise TypeError(nulls)
            return KeyRange(_value_of_json(low), _value_of_json(high), nulls)
        except (TypeError, ValueError, ArithmeticError) as problem:
            raise StorageError(f"a version says that the keys of a file are {str(value)[:80]}") from problem


def ranges_of_json(value: Any, files: int) -> tuple[KeyRange | None, ...]:
    """Returns the ranges of `files` files, as a version records them; an empty tuple if it does not."""
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) != files:
        raise StorageError(f"a version says of {files} files that their keys are {str(value)[:80]}")
    return tuple(map(KeyRange.of_json, value))


def range_of(column: pyarrow.ChunkedArray) -> KeyRange | None:
    """Returns the range of a column; None if it has no values, or values that are not recorded."""
    kind = column.type
    numbers = pyarrow.types.is_integer(kind) or pyarrow.types.is_decimal(kind)
    if not (numbers or pyarrow.types.is_date32(kind) or pyarrow.types.is_string(kind)):
        return None
    found = pyarrow.compute.min_max(column).as_py()
    return build_range(found["min"], found["max"], column.null_count > 0)


def footer_range(metadata: pyarrow.parquet.FileMetaData, column: str) -> KeyRange | None:
    """The range of a column, by what the footer of a file says."""
    names = [metadata.schema.column(i).path for i in range(len(metadata.schema))]
    if column not in names:
        return None
    found = [metadata.row_group(g).column(names.index(column)) for g in range(metadata.num_row_groups)]
    known = [c.statistics for c in found if c.is_stats_set and c.statistics.has_min_max]
    if len(known) < len(found) or not all(s.has_null_count for s in known):
        return None
    if found[0].physical_type == "FIXED_LEN_BYTE_ARRAY":
        return None
    lows, highs = [s.min for s in known], [s.max for s in known]
    number = metadata.schema.column(names.index(column)).logical_type.type == "DECIMAL"
    if number and not all(isinstance(v, Number) for v in (*lows, *highs)):
        return None
    return build_range(min(lows), max(highs), any(s.null_count for s in known)) if known else None


def build_range(low: Any, high: Any, nulls: bool) -> KeyRange | None:
    """A range, if versions can say it."""
    for value in (low, high):
        if not isinstance(value, int | Number | datetime.date | str) or isinstance(
            value, bool | datetime.datetime
        ):
            return None
        if isinstance(value, str) and len(value) > LONGEST:
            return None
    return KeyRange(low, high, nulls)


def _value_to_json(value: Any) -> Any:
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    return {"decimal": str(value)} if isinstance(value, Number) else value


def _value_of_json(value: Any) -> Any:
    match value:
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case {"decimal": str(text)}:
            return Number(text)
        case bool() | float() | None:
            raise TypeError(value)
        case int() | str():
            return value
        case _:
            raise TypeError(value)
