"""Rows as users write them and read them.

    {"id": 1, "total": "9.50"}      (1, 950) inside, (1, Decimal("9.50")) when it is read

A row comes in as a mapping (columns that are left out get their default, or NULL), as a tuple in column order, as a
NamedTuple or as a dataclass. A list or any other iterable of rows is many. It goes out as a tuple.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.data.showing import show_value
from evercurrent.data.types import Member, String, Type
from evercurrent.data.values import BadValue, reader, taker, writer
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, QueryError

Fields = tuple[Member, ...]


@lru_cache(maxsize=1024)
def _writer(types: tuple[Type, ...]) -> Callable[[Row], Row]:
    return writer(types)


def row_writer(fields: Fields) -> Callable[[Row], Row]:
    """Returns the function from internal rows of these fields to public ones."""
    return _writer(tuple(f.type for f in fields))


def give_row(fields: Fields, row: Row) -> Row:
    return row_writer(fields)(row)


def give_rows(fields: Fields, rows: Iterable[Row]) -> list[Row]:
    return list(map(row_writer(fields), rows))


class RowReader:
    """Takes in rows and keys of one table; whatever it refuses, it says which column of which table.

    `write` returns a row as users see it.
    """

    def __init__(self, table: Table, defaults: Row) -> None:
        self.table = table
        self._names = [c.name for c in table.columns]
        self._exact = {c.name: i for i, c in enumerate(table.columns)}
        self._lower = {c.name.lower(): i for i, c in enumerate(table.columns)}
        self._defaults = list(defaults)
        self._read = reader([c.type for c in table.columns])
        self.write = row_writer(table.fields)
        self._takers = [taker(c.type) for c in table.columns]
        self._width = len(self._names)
        self._tuple = tuple(self._names)  # the fields of a NamedTuple that is a row as it stands
        self.arrow_plans: dict[
            bool, Any
        ] = {}  # how Arrow tables and feeds of the last schema are read (`arrow_rows`)
        self._values_of = itemgetter(*self._names) if self._width > 1 else lambda row: (row[self._names[0]],)

    # --- rows ----------------------------------------------------------------------------------------------

    def one(self, value: Any) -> Row:
        """A single row."""
        if type(value) is tuple:
            if len(value) == self._width:
                return self._take([value])[0]
            raise QueryError(
                f"a row of {self.table.name} has {_columns(self._width)}, not {len(value)}: {show_value(value)}",
                hint=f"the columns are {', '.join(self._names)}",
            )
        if isinstance(value, tuple):
            names = getattr(value, "_fields", None)
            if names == self._tuple:
                return self._take([value])[0]
            return self.one(tuple(value) if names is None else dict(zip(names, value, strict=True)))
        if isinstance(value, Mapping):
            return self._take([self.from_mapping(value)])[0]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.one({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
        raise QueryError(
            f"{show_value(value)} is not a row of {self.table.name}",
            hint="a row is a mapping, a tuple in column order, a NamedTuple or a dataclass; a list is many rows",
        )

    def many(self, values: Any) -> list[Row]:
        """A row, or an iterable of rows. Where all are of one kind, they are read all together."""
        kind = type(values)
        if kind is tuple:
            return [self.one(values)]
        if kind is not list:
            if not is_many(values):
                return [self.one(values)]
            values = list(values)
        kinds = set(map(type, values))
        if kinds == {tuple} and set(map(len, values)) == {self._width}:
            return self._take(values)
        if kinds == {dict}:
            return self._take(list(map(self.from_mapping, values)))
        if len(kinds) == 1 and getattr(type(values[0]), "_fields", None) == self._tuple:
            return self._take(values)
        return [self.one(value) for value in values]

    def columns(self, columns: Mapping[str, list[Any]], height: int) -> list[Row]:
        """The rows that have these columns, given as lists; columns that are left out get their default."""
        given = {self.position(name): column for name, column in columns.items()}
        whole = [given[i] if i in given else [d] * height for i, d in enumerate(self._defaults)]
        return self._take(zip(*whole, strict=True))

    def _take(self, rows: Iterable[Sequence[Any]]) -> list[Row]:
        try:
            return self._read(rows)
        except BadValue as problem:
            raise self._bad(problem) from None

    def from_mapping(self, value: Mapping[Any, Any]) -> Sequence[Any]:
        """The values in column order, as they were given."""
        if len(value) == self._width:
            try:
                # The usual case: exactly the columns, as they are spelled.
                found: Sequence[Any] = self._values_of(value)
                return found
            except KeyError:
                pass
        row = self._defaults.copy()
        for name, item in value.items():
            row[self.position(name)] = item
        return row

    def replace_columns(self, row: Row, changes: Mapping[str, Any]) -> Row:
        """The row with some of its columns changed; the values are the user's."""
        result = list(row)
        for name, value in changes.items():
            i = self.position(name)
            result[i] = self.value(i, value)
        return tuple(result)

    # --- columns and keys ----------------------------------------------------------------------------------

    def position(self, name: Any) -> int:
        """Where the column of this name stands."""
        if isinstance(name, str) and (found := self.find_position(name)) is not None:
            return found
        near = difflib.get_close_matches(name, self._names, 1) if isinstance(name, str) else []
        raise QueryError(
            f"{self.table.name} has no column {show_value(name)}",
            hint=f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(self._names)}",
        )

    def find_position(self, name: str) -> int | None:
        """Where the column of this name stands, if there is one."""
        found = self._exact.get(name)
        return self._lower.get(name.lower()) if found is None else found

    def value(self, position: int, value: Any) -> Any:
        """A value of the column at a position."""
        try:
            return self._takers[position](value)
        except BadValue as problem:
            problem.position, problem.value = position, value
            raise self._bad(problem) from None

    def _bad(self, problem: BadValue) -> QueryError | ConstraintError:
        if problem.position is None:
            return QueryError(f"{self.table.name}: {problem}")
        column = self.table.columns[problem.position]
        place = f"{self.table.name}.{column.name}"
        if isinstance(column.type, String) and isinstance(problem.value, str):
            return ConstraintError(f"{place}: {problem}", constraint=f"{place} {column.type}")
        return QueryError(f"{place}: {problem}")


def is_row(value: Any) -> bool:
    """Whether this is one row, not many."""
    return isinstance(value, (tuple, Mapping)) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def is_many(value: Any) -> bool:
    """Whether this is an iterable of rows or keys. A string is not, nor is an array of no dimensions."""
    if is_row(value) or isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    return getattr(value, "shape", None) != ()


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
