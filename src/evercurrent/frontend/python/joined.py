"""Rows side by side, after joins: functions take one argument for each.

What needs whole rows (sets, `distinct`) treats a joined row as the fields of all of them, one after another.

      students.join(council, lambda s, m: s.name == m.name).select(lambda s, m: (m.role, s.age))
    = bag{ (role: m.role, age: s.age) | s <- Student, m <- Member, s.name = m.name }
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from evercurrent.frontend.python import joins
from evercurrent.frontend.python.core import AnyQuery, select_value
from evercurrent.frontend.python.grouping import Rows
from evercurrent.frontend.python.query import Grouped, Query, aggregate_query, combine, unite

if TYPE_CHECKING:
    from evercurrent.frontend.python.windows import Windowed

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
K = TypeVar("K")
U = TypeVar("U")


class JoinedMany(AnyQuery):
    """Four rows or more side by side; functions take as many arguments."""

    _is_plain_ = True

    def where(self, condition: Callable[..., object]) -> JoinedMany:
        """The rows for which the condition is true."""
        return self._where(condition)

    def select(self, function: Callable[..., U], *, returns: Any = None) -> Query[U]:
        """What the function returns for each row."""
        return Query(self._select(function, returns), self._owner)

    def order_by(self, *keys: Callable[..., object], descending: bool = False) -> JoinedMany:
        """The rows in this order."""
        return self._sort(keys, descending)

    def group_by(self, key: Callable[..., K]) -> Grouped[K]:
        """The rows by a key."""
        return Grouped(self, key)

    def aggregate(self, function: Callable[[Rows], U]) -> Query[U]:
        """One row, made of all rows."""
        return aggregate_query(self, function)

    def unnest(self, function: Callable[..., Any], *, outer: bool = False) -> JoinedMany:
        """Every row beside every element of its collection."""
        return JoinedMany(self._unnest(function, outer), self._owner)

    def join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """Every pair of rows that satisfies the condition."""
        return JoinedMany(self._pair(other, on, "inner"), self._owner_with(other))

    def product(self, other: Query[Any]) -> JoinedMany:
        """Every pair of rows."""
        return JoinedMany(self._pair(other, None, "inner"), self._owner_with(other))

    def left_join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """Pairs, and rows without a partner beside None."""
        return JoinedMany(self._pair(other, on, "left"), self._owner_with(other))

    def right_join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """Pairs, and rows of the other without a partner beside None."""
        return JoinedMany(self._pair(other, on, "right"), self._owner_with(other))

    def full_join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """Pairs, and rows of either side without a partner beside None."""
        return JoinedMany(self._pair(other, on, "full"), self._owner_with(other))

    def semi_join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """The rows that have a partner."""
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), False))

    def anti_join(self, other: Query[Any], on: Callable[..., object]) -> JoinedMany:
        """The rows that have no partner."""
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), True))

    # --- as rows of all fields, one after another ------------------------------------------------------------

    def flat_map(self, function: Callable[..., Any]) -> Query[Any]:
        """All elements of the collections that the function returns."""
        block = self._unnest(function, False)
        return Query(select_value(block, block.rows[-1]), self._owner)

    def count(self) -> Query[int]:
        """How many rows there are: one row of one number."""
        return Query(self._block, self._owner).count()

    def window(self, partition: Any = None, order: Any = None, *, frame: Any = None) -> Windowed[Any]:
        """Each row with functions of its partition: `.select(lambda a, b, w: ...)`."""
        from evercurrent.frontend.python.windows import Windowed

        return Windowed(self, partition, order, frame)

    def union_all(self, *others: AnyQuery) -> Self:
        """The rows of all, as often as they come."""
        return unite(self, others)

    def union(self, *others: AnyQuery) -> Self:
        """The rows of all, each once."""
        return unite(self, others).distinct()

    def intersect(self, other: AnyQuery) -> Self:
        """The rows that are in both, each once."""
        return combine(self, other, "intersect", False)

    def intersect_all(self, other: AnyQuery) -> Self:
        """The rows that are in both, as often as in the one that has fewer."""
        return combine(self, other, "intersect", True)

    def difference(self, other: AnyQuery) -> Self:
        """The rows that the other does not have, each once."""
        return combine(self, other, "except", False)

    def difference_all(self, other: AnyQuery) -> Self:
        """The rows, less one for each that the other has."""
        return combine(self, other, "except", True)


class Joined3(JoinedMany, Generic[A, B, C]):
    """Three rows side by side."""

    _is_plain_ = True

    def where(self, condition: Callable[[A, B, C], object]) -> Joined3[A, B, C]:
        return self._where(condition)

    def select(self, function: Callable[[A, B, C], U], *, returns: Any = None) -> Query[U]:
        return Query(self._select(function, returns), self._owner)

    def order_by(self, *keys: Callable[[A, B, C], object], descending: bool = False) -> Joined3[A, B, C]:
        return self._sort(keys, descending)

    def group_by(self, key: Callable[[A, B, C], K]) -> Grouped[K]:
        return Grouped(self, key)

    def join(self, other: Query[D], on: Callable[[A, B, C, D], object]) -> JoinedMany:
        return super().join(other, on)

    def semi_join(self, other: Query[D], on: Callable[[A, B, C, D], object]) -> Joined3[A, B, C]:
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), False))

    def anti_join(self, other: Query[D], on: Callable[[A, B, C, D], object]) -> Joined3[A, B, C]:
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), True))


class Joined(JoinedMany, Generic[A, B]):
    """Two rows side by side."""

    _is_plain_ = True

    def where(self, condition: Callable[[A, B], object]) -> Joined[A, B]:
        return self._where(condition)

    def select(self, function: Callable[[A, B], U], *, returns: Any = None) -> Query[U]:
        return Query(self._select(function, returns), self._owner)

    def order_by(self, *keys: Callable[[A, B], object], descending: bool = False) -> Joined[A, B]:
        return self._sort(keys, descending)

    def group_by(self, key: Callable[[A, B], K]) -> Grouped[K]:
        return Grouped(self, key)

    def unnest(self, function: Callable[[A, B], Any], *, outer: bool = False) -> Joined3[A, B, Any]:
        return Joined3(self._unnest(function, outer), self._owner)

    def join(self, other: Query[C], on: Callable[[A, B, C], object]) -> Joined3[A, B, C]:
        return Joined3(self._pair(other, on, "inner"), self._owner_with(other))

    def product(self, other: Query[C]) -> Joined3[A, B, C]:
        return Joined3(self._pair(other, None, "inner"), self._owner_with(other))

    def left_join(self, other: Query[C], on: Callable[[A, B, C], object]) -> Joined3[A, B, C | None]:
        return Joined3(self._pair(other, on, "left"), self._owner_with(other))

    def right_join(self, other: Query[C], on: Callable[[A, B, C], object]) -> Joined3[A | None, B | None, C]:
        return Joined3(self._pair(other, on, "right"), self._owner_with(other))

    def full_join(
        self, other: Query[C], on: Callable[[A, B, C], object]
    ) -> Joined3[A | None, B | None, C | None]:
        return Joined3(self._pair(other, on, "full"), self._owner_with(other))

    def semi_join(self, other: Query[C], on: Callable[[A, B, C], object]) -> Joined[A, B]:
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), False))

    def anti_join(self, other: Query[C], on: Callable[[A, B, C], object]) -> Joined[A, B]:
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), True))
