"""Rows as users write them and read them.

A row comes in as a mapping (columns that are left out get their default, or NULL), as a tuple in column order, as a
NamedTuple or as a dataclass. A list or any other iterable of rows is many. It goes out as a tuple.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.data.types import Member, String, Type
from evercurrent.data.values import BadValue, reader, take_in, writer
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, QueryError

Fields = tuple[Member, ...]


@lru_cache(maxsize=1024)
def _writer(types: tuple[Type, ...]) -> Callable[[Row], Row]:
    return writer(types)


def row_writer(fields: Fields) -> Callable[[Row], Row]:
    """The function that gives out rows of these fields."""
    return _writer(tuple(f.type for f in fields))


def give_row(fields: Fields, row: Row) -> Row:
    return row_writer(fields)(row)


def give_rows(fields: Fields, rows: Iterable[Row]) -> list[Row]:
    return list(map(row_writer(fields), rows))


class RowReader:
    """Takes in rows and keys of one table; whatever it refuses, it says which column of which table."""

    def __init__(self, table: Table, defaults: Row) -> None:
        self.table = table
        self._names = [c.name for c in table.columns]
        self._exact = {c.name: i for i, c in enumerate(table.columns)}
        self._lower = {c.name.lower(): i for i, c in enumerate(table.columns)}
        self._defaults = list(defaults)
        self._read = reader([c.type for c in table.columns])

    # --- rows ----------------------------------------------------------------------------------------------

    def one(self, value: Any) -> Row:
        """A single row."""
        if isinstance(value, tuple):
            names = getattr(value, "_fields", None)
            if names is not None:
                return self._from_mapping(dict(zip(names, value, strict=True)))
            return self._from_tuple(value)
        if isinstance(value, Mapping):
            return self._from_mapping(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._from_mapping({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
        raise QueryError(
            f"{_shown(value)} is not a row of {self.table.name}",
            hint="a row is a mapping, a tuple in column order, a NamedTuple or a dataclass; a list is many rows",
        )

    def many(self, values: Any) -> list[Row]:
        """A row, or an iterable of rows."""
        if is_row(values):
            return [self.one(values)]
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            return [self.one(values)]
        return [self.one(value) for value in values]

    def _from_tuple(self, value: tuple[Any, ...]) -> Row:
        if len(value) != len(self._names):
            raise QueryError(
                f"a row of {self.table.name} has {_columns(len(self._names))}, not {len(value)}: {_shown(value)}",
                hint=f"the columns are {', '.join(self._names)}",
            )
        try:
            return self._read(value)
        except BadValue as problem:
            raise self._bad(problem, value) from None

    def _from_mapping(self, value: Mapping[Any, Any]) -> Row:
        try:
            # The usual case: exactly the columns, as they are spelled.
            row = [value[name] for name in self._names]
            if len(value) > len(row):
                raise KeyError
        except KeyError:
            row = self._defaults.copy()
            for name, item in value.items():
                row[self.position(name)] = item
        try:
            return self._read(row)
        except BadValue as problem:
            raise self._bad(problem, row) from None

    def changed(self, row: Row, changes: Mapping[str, Any]) -> Row:
        """The row with some of its columns changed; the values are the user's."""
        result = list(row)
        for name, value in changes.items():
            i = self.position(name)
            result[i] = self.value(i, value)
        return tuple(result)

    # --- columns and keys ----------------------------------------------------------------------------------

    def position(self, name: Any) -> int:
        """Where the column of this name stands."""
        if isinstance(name, str):
            found = self._exact.get(name)
            if found is None:
                found = self._lower.get(name.lower())
            if found is not None:
                return found
        near = difflib.get_close_matches(str(name), self._names, 1)
        raise QueryError(
            f"{self.table.name} has no column {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(self._names)}",
        )

    def value(self, position: int, value: Any) -> Any:
        """A value of the column at a position."""
        try:
            return take_in(self.table.columns[position].type, value)
        except BadValue as problem:
            problem.position = position
            raise self._bad(problem, {position: value}) from None

    def _bad(self, problem: BadValue, values: Any) -> QueryError | ConstraintError:
        if problem.position is None:
            return QueryError(f"{self.table.name}: {problem}")
        column = self.table.columns[problem.position]
        place = f"{self.table.name}.{column.name}"
        if isinstance(column.type, String) and isinstance(values[problem.position], str):
            return ConstraintError(f"{place}: {problem}", constraint=f"{place} {column.type}")
        return QueryError(f"{place}: {problem}")


def is_row(value: Any) -> bool:
    """Whether this is one row, not many."""
    return isinstance(value, tuple | Mapping) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
