"""The spelling of SQL: what, from where, under which condition.

      ec.select(lambda s, m: s.age).from_(students, council).where(lambda s, m: s.name == m.name)
    = bag{ (age: s.age) | s <- Student, m <- Member, s.name = m.name }

Functions take one argument for each relation of `from_`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from evercurrent.errors import QueryError
from evercurrent.frontend.python.block import Block, beside, filter_block
from evercurrent.frontend.python.capture import capture, predicate
from evercurrent.frontend.python.core import AnyQuery, Owner, select_value
from evercurrent.frontend.python.query import Query

U = TypeVar("U")


class Selecting(Generic[U]):
    """What is selected, not yet from where."""

    def __init__(self, function: Callable[..., U] | None) -> None:
        self._function = function

    def from_(self, *sources: AnyQuery) -> SelectedFrom[U]:
        """From these: the function takes a row of each."""
        if not sources:
            raise QueryError("from_ needs a table or a query")
        block, owner = sources[0]._block, sources[0]._owner
        for source in sources[1:]:
            owner = sources[0]._owner_with(source) or owner
            block = beside(block, source._block)
        return SelectedFrom(self._function, block, owner)


class SelectedFrom(Query[U]):
    """A query by `select(...).from_(...)`: its conditions are over the rows of its sources."""

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, function: Any, sources: Block, owner: Owner | None) -> None:
        self._function = function
        self._sources = sources
        rows = sources.rows
        value = (rows[0] if len(rows) == 1 else rows) if function is None else capture(function, rows)
        super().__init__(select_value(sources, value), owner)

    def where(self, condition: Callable[..., object]) -> SelectedFrom[U]:
        """The rows for which the condition, over the rows of the sources, is true."""
        kept = filter_block(self._sources, predicate(condition, self._sources.rows))
        return SelectedFrom(self._function, kept, self._owner)


def select(function: Callable[..., U] | None = None) -> Selecting[U]:
    """Select what the function returns: `ec.select(lambda s: s.name).from_(students)`. No function: all."""
    return Selecting(function)
