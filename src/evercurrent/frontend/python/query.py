"""Typed query objects.

    Query[T]             rows of one class: functions take one row
    Joined[A, B]         after a join: functions take a row of each side
    Joined3[A, B, C]     after another; JoinedMany beyond that

>>> from typing import NamedTuple
>>> import evercurrent as ec
>>> class Student(NamedTuple):
...     name: str
...     city: str
...     age: int
>>> db = ec.connect()
>>> students = db.table_of(Student)
>>> students.insert([Student("Ann", "Oslo", 20), Student("Bob", "Rome", 17), Student("Cid", "Oslo", 40)])
3
>>> students.where(lambda s: s.age >= 18).select(lambda s: s.name).objects()
['Ann', 'Cid']
>>> by_city = students.group_by(lambda s: s.city).select(lambda city, g: (city, g.count()))
>>> sorted(by_city.rows())
[('Oslo', 2), ('Rome', 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from evercurrent.frontend.python import joins
from evercurrent.frontend.python.block import Block
from evercurrent.frontend.python.core import AnyQuery, select_columns, select_value
from evercurrent.frontend.python.grouping import Rows, group_block, keys_of

if TYPE_CHECKING:
    from evercurrent.frontend.python.joined import Joined
    from evercurrent.frontend.python.windows import Windowed

T = TypeVar("T")
U = TypeVar("U")
K = TypeVar("K")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Q = TypeVar("Q", bound=AnyQuery)


class Query(AnyQuery, Generic[T]):
    """A query whose rows are `T`."""

    _is_plain_ = True

    # --- reading -------------------------------------------------------------------------------------------

    def objects(self) -> list[T]:
        """All rows, as instances of their class (a value, or a tuple, where there is none)."""
        return super().objects()

    def __iter__(self) -> Iterator[T]:
        return iter(self.objects())

    # --- rows ----------------------------------------------------------------------------------------------

    def where(self, condition: Callable[[T], object]) -> Query[T]:
        """The rows for which the condition is true."""
        return self._where(condition)

    def select(self, function: Callable[[T], U], *, returns: Any = None) -> Query[U]:
        """What the function returns for each row. `returns`: its type, where it cannot be looked into."""
        return Query(self._select(function, returns), self._owner)

    def flat_map(self, function: Callable[[T], Iterable[U] | None]) -> Query[U]:
        """All elements of the collections that the function returns."""
        block = self._unnest(function, False)
        return Query(select_value(block, block.rows[-1]), self._owner)

    def unnest(self, function: Callable[[T], Iterable[U] | None], *, outer: bool = False) -> Joined[T, U]:
        """Every row beside every element of its collection. `outer`: a row without elements stays, beside None."""
        return _build_join(self._unnest(function, outer), self._owner)

    def order_by(self, *keys: Callable[[T], object], descending: bool = False) -> Query[T]:
        """The rows in this order: for reading, and for the `limit` that follows."""
        return self._sort(keys, descending)

    def distinct(self) -> Query[T]:
        """The rows without duplicates."""
        return super().distinct()

    def limit(self, count: int | None, *, offset: int = 0) -> Query[T]:
        """The first rows in the order of `order_by` (ties, and without one all: by the whole row)."""
        return super().limit(count, offset=offset)

    # --- joins ---------------------------------------------------------------------------------------------

    def join(self, other: Query[U], on: Callable[[T, U], object]) -> Joined[T, U]:
        """Every pair of rows that satisfies the condition."""
        return _build_join(self._pair(other, on, "inner"), self._owner_with(other))

    def product(self, other: Query[U]) -> Joined[T, U]:
        """Every pair of rows."""
        return _build_join(self._pair(other, None, "inner"), self._owner_with(other))

    def left_join(self, other: Query[U], on: Callable[[T, U], object]) -> Joined[T, U | None]:
        """Every pair that satisfies the condition, and rows without a partner beside None."""
        return _build_join(self._pair(other, on, "left"), self._owner_with(other))

    def right_join(self, other: Query[U], on: Callable[[T, U], object]) -> Joined[T | None, U]:
        """Every pair that satisfies the condition, and rows of the other without a partner beside None."""
        return _build_join(self._pair(other, on, "right"), self._owner_with(other))

    def full_join(self, other: Query[U], on: Callable[[T, U], object]) -> Joined[T | None, U | None]:
        """Every pair that satisfies the condition, and rows of either side without a partner beside None."""
        return _build_join(self._pair(other, on, "full"), self._owner_with(other))

    def semi_join(self, other: Query[U], on: Callable[[T, U], object]) -> Query[T]:
        """The rows that have a partner."""
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), False))

    def anti_join(self, other: Query[U], on: Callable[[T, U], object]) -> Query[T]:
        """The rows that have no partner."""
        self._owner_with(other)
        return self._like(joins.semi(self._block, other._block, self._on(on), True))

    # --- sets ----------------------------------------------------------------------------------------------

    def union_all(self, *others: Query[T]) -> Query[T]:
        """The rows of all, as often as they come."""
        return unite(self, others)

    def union(self, *others: Query[T]) -> Query[T]:
        """The rows of all, each once."""
        return unite(self, others).distinct()

    def intersect(self, other: Query[T]) -> Query[T]:
        """The rows that are in both, each once."""
        return combine(self, other, "intersect", False)

    def intersect_all(self, other: Query[T]) -> Query[T]:
        """The rows that are in both, as often as in the one that has fewer."""
        return combine(self, other, "intersect", True)

    def difference(self, other: Query[T]) -> Query[T]:
        """The rows that the other does not have, each once."""
        return combine(self, other, "except", False)

    def difference_all(self, other: Query[T]) -> Query[T]:
        """The rows, less one for each that the other has."""
        return combine(self, other, "except", True)

    except_ = difference
    except_all = difference_all

    def __add__(self, other: Query[T]) -> Query[T]:
        return self.union_all(other)

    def __or__(self, other: Query[T]) -> Query[T]:
        return self.union(other)

    def __and__(self, other: Query[T]) -> Query[T]:
        return self.intersect(other)

    def __sub__(self, other: Query[T]) -> Query[T]:
        return self.difference(other)

    # --- groups --------------------------------------------------------------------------------------------

    def group_by(self, key: Callable[[T], K]) -> Grouped[K]:
        """The rows by a key; `.select(lambda key, g: ...)` says what is made of each group."""
        return Grouped(self, key)

    def aggregate(self, function: Callable[[Rows], U]) -> Query[U]:
        """One row, made of all rows: `q.aggregate(lambda g: (g.count(), g.max(lambda s: s.age)))`."""
        return aggregate_query(self, function)

    def count(self) -> Query[int]:
        """How many rows there are: one row of one number."""
        return aggregate_query(self, _count)

    def window(
        self,
        partition: Callable[[T], object] | None = None,
        order: Callable[[T], object] | None = None,
        *,
        frame: Any = None,
    ) -> Windowed[T]:
        """Each row with functions of its partition, in order: `.select(lambda s, w: (s.name, w.rank()))`."""
        from evercurrent.frontend.python.windows import Windowed

        return Windowed(self, partition, order, frame)


def _count(g: Rows) -> int:
    return cast(int, g.count())


_count._knows_symbols_ = True  # type: ignore[attr-defined]


class Grouped(Generic[K]):
    """Rows by a key, not yet made into rows of their own."""

    def __init__(self, query: AnyQuery, key: Any, having: tuple[Any, ...] = ()) -> None:
        self._query = query
        self._key = key
        self._having = having

    def where(self, condition: Callable[[K, Rows], object]) -> Grouped[K]:
        """The groups for which the condition is true."""
        return Grouped(self._query, self._key, (*self._having, condition))

    def select(self, function: Callable[[K, Rows], U]) -> Query[U]:
        """A row for each group."""
        block, result = group_block(keys_of(self._query._block, self._key), function, self._having)
        return Query(select_columns(block, result), self._query._owner)

    def count(self) -> Query[tuple[K, int]]:
        """Each key with how many rows it has."""
        return self.select(_key_and_count)


def _key_and_count(key: Any, g: Rows) -> Any:
    return (key, g.count())


_key_and_count._knows_symbols_ = True  # type: ignore[attr-defined]


def aggregate_query(query: AnyQuery, function: Any) -> Query[Any]:
    block, result = group_block(keys_of(query._block, None), function)
    return Query(select_columns(block, result), query._owner)


def _build_join(block: Block, owner: Any) -> Joined[Any, Any]:
    from evercurrent.frontend.python.joined import Joined

    return Joined(block, owner)


def unite(first: Q, others: Iterable[AnyQuery]) -> Q:
    owner = first._owner
    from evercurrent.frontend.python.recursion import Hole

    blocks = [first._block]
    for other in others:
        if isinstance(other, Hole):
            continue  # of a recursion whose rows are not known yet: what is known is the rest
        owner = first._owner_with(other) or owner
        blocks.append(other._block)
    made = first._like(joins.union_all(blocks) if len(blocks) > 1 else first._block)
    made._owner = owner
    return made


def combine(left: Q, right: AnyQuery, kind: Any, all_: bool) -> Q:
    left._owner_with(right)
    return left._like(joins.set_operation(kind, left._block, right._block, all_))
