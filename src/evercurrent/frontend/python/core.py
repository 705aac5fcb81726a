"""What all query objects have in common: a block, and the database that answers it.

A query object is immutable: every method returns a new one. It computes nothing and stores nothing; `rows()` runs it once,
`materialize()` keeps it current as long as the object that it returns is referenced, and a named view is permanent.

    adults = students.where(lambda s: s.age >= 18)      a query: bag{ ... | s1 <- Student, s1.age >= 18 }
    adults.rows()                                       [('Sally', 20), ('Cid', 40)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from evercurrent.calculus.nodes import Comprehension, Generator, Query, Top
from evercurrent.calculus.paths import resolve
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.naming import unique
from evercurrent.data.types import Member
from evercurrent.errors import QueryError
from evercurrent.frontend.python import joins
from evercurrent.frontend.python.block import (
    HOLE,
    Block,
    again,
    all_hoisted,
    filter_block,
    head_of,
    over,
    pack,
    variable,
)
from evercurrent.frontend.python.capture import capture, predicate
from evercurrent.frontend.python.ordering import Key, sort_keys
from evercurrent.frontend.python.results import Result, result_of
from evercurrent.term import build
from evercurrent.term.nodes import SortKey, Term

Row = tuple[Any, ...]
Order = tuple[tuple[int, bool, bool], ...]


class Owner(Protocol):
    """The database behind a query: it answers, keeps and tells."""

    @property
    def catalog(self) -> Catalog: ...

    def answer(self, query: AnyQuery) -> list[Row]: ...

    def keep(self, query: AnyQuery) -> Any: ...

    def watch(self, query: AnyQuery, callback: Any, when: Any) -> Any: ...

    def explain(self, query: AnyQuery, stage: str | None) -> Any: ...


Self = TypeVar("Self", bound="AnyQuery")


class AnyQuery:
    """A query of any number of rows side by side; see `query` for the typed ones."""

    _symbolic_ = False

    def __new__(cls, block: Block | None = None, *args: Any, **keywords: Any) -> Any:
        if block is HOLE:
            from evercurrent.frontend.python.recursion import Hole

            return object.__new__(Hole)
        return object.__new__(cls)

    def __init__(self, block: Block, owner: Owner | None, order: tuple[SortKey, ...] = ()) -> None:
        self._block = block
        self._owner = owner
        self._order = order

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        """All rows, as tuples, found once from the data as it is now."""
        return self._answerer.answer(self)

    def objects(self) -> list[Any]:
        """All rows, as instances of their class (tuples where there is none)."""
        make = self._block.shape.object
        return [make(row) for row in self.rows()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.objects())

    def materialize(self) -> Any:
        """A view without a name, kept current while what is returned here is referenced."""
        return self._answerer.keep(self)

    def subscribe(self, callback: Callable[[Any], Any], *, when: str = "after") -> Any:
        """Call `callback(change)` for each transaction that changes the query's rows; the rows are not kept."""
        return self._answerer.watch(self, callback, when)

    def explain(self, stage: str | None = None) -> Any:
        """How the query would be kept; see `View.explain`."""
        return self._answerer.explain(self, stage)

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return pack(self._block).fields

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [f.name for f in self.schema]

    def __repr__(self) -> str:
        return f"<Query ({', '.join(f'{f.name} {f.type}' for f in self.schema)})>"

    def __bool__(self) -> bool:
        raise QueryError(
            "a query cannot be used as a condition",
            hint="any(... for row in query), or len(query.rows()) > 0",
        )

    @property
    def _answerer(self) -> Owner:
        if self._owner is None:
            raise QueryError("this query reads no table of a database", hint="begin with db.table_of(...)")
        return self._owner

    # --- building ------------------------------------------------------------------------------------------

    def _query(self) -> Query:
        """The query in the calculus, steps through references resolved."""
        query = pack(self._block)
        return query if self._owner is None else resolve(query, self._owner.catalog)

    def _read_order(self) -> Order:
        """How its rows are read: positions of the sort keys among the columns."""
        if not self._order:
            return ()
        head = _head(self._block)
        found = []
        for key in self._order:
            if key.term not in head:
                raise QueryError(
                    "the order of a view is by its columns", hint="select what it is ordered by, or use limit"
                )
            found.append((head.index(key.term), key.descending, key.nulls_first))
        return tuple(found)

    def _like(self: Self, block: Block, order: tuple[SortKey, ...] = ()) -> Self:
        """A query of the same kind over another block."""
        if block is HOLE:
            from evercurrent.frontend.python.recursion import Hole

            return Hole()  # type: ignore[return-value]
        made: Self = object.__new__(_plain_class(type(self)))
        AnyQuery.__init__(made, block, self._owner, order)
        return made

    def _owner_with(self, other: AnyQuery) -> Owner | None:
        if not isinstance(other, AnyQuery):
            raise QueryError(
                f"a query is needed here, not {other!r}", hint="db.table_of(...) makes one of a table"
            )
        if self._owner is not None and other._owner is not None and self._owner is not other._owner:
            raise QueryError("the two queries are of different databases")
        return self._owner or other._owner

    def _where(self: Self, function: Any) -> Self:
        return self._like(filter_block(self._block, predicate(function, self._block.rows)))

    def _select(self, function: Any, returns: Any = None) -> Block:
        return select_value(self._block, capture(function, self._block.rows, returns))

    def _on(self, function: Any) -> joins.On:
        if function is None:
            return lambda rows: build.TRUE
        return lambda rows: predicate(function, rows)

    def _pair(self, other: AnyQuery, function: Any, kind: str) -> Block:
        left, right = self._block, other._block
        if right is HOLE:
            return HOLE
        match kind:
            case "inner":
                return joins.inner(left, right, self._on(function))
            case "left":
                return joins.join_left(left, again(right), self._on(function))
            case "right":
                return joins.right_outer(left, right, self._on(function))
            case _:
                return joins.full_outer(left, again(right), self._on(function))

    def _unnest(self, function: Any, outer: bool, ordinal: bool = False) -> Block:
        from evercurrent.frontend.python.unnesting import unnest

        return unnest(self._block, function, outer, ordinal)

    def _sort(self: Self, keys: Sequence[Key], descending: bool) -> Self:
        block, order = sort_keys(self._block, keys, descending)
        return self._like(block, order)

    # --- what needs no function ----------------------------------------------------------------------------

    def distinct(self: Self) -> Self:
        """The rows without duplicates."""
        return self._like(joins.distinct(self._block))

    def limit(self: Self, count: int | None, *, offset: int = 0) -> Self:
        """The first rows in the order of `order_by` (ties, and without one all: by the whole row)."""
        if (count is not None and count < 0) or offset < 0:
            raise QueryError("a limit and an offset are not negative")
        query = pack(self._block)
        v = variable(query, "t")
        head = _head(self._block)
        names = [f.name for f in query.fields]
        order = []
        for key in self._order:
            if key.term in head:
                at: Term = build.field(v, names[head.index(key.term)])
                order.append(replace(key, term=at))
                continue
            return self._limit_hidden(count, offset)
        top = Top(v, query, tuple(order), count, offset, query.fields)
        return self._like(over(top, self._block.shape))

    def _limit_hidden(self: Self, count: int | None, offset: int) -> Self:
        """A limit whose sort keys are no columns: they are added, used and dropped."""
        head, fields = head_of(self._block)
        more = tuple(
            Member(n, k.term.type, True)
            for n, k in zip(
                unique([*(f.name for f in fields), *("key" for _ in self._order)])[len(fields) :],
                self._order,
                strict=True,
            )
        )
        wide = Comprehension(
            "bag", (*head, *(k.term for k in self._order)), self._block.qualifiers, fields + more
        )
        v = variable(wide)
        order = tuple(replace(k, term=build.field(v, m.name)) for k, m in zip(self._order, more, strict=True))
        top = Top(v, wide, order, count, offset, wide.fields)
        w = variable(top)
        kept = Comprehension(
            "bag", tuple(build.field(w, f.name) for f in fields), (Generator(w, top),), fields
        )
        return self._like(over(kept, self._block.shape))

    # --- inside other functions: see `methods` and `comprehensions` -----------------------------------------

    def _contains_(self, value: Any) -> Term:
        from evercurrent.frontend.python.comprehensions import member_of

        return member_of(self, value)

    def _length_(self) -> Any:
        from evercurrent.frontend.python.comprehensions import fold

        return fold(self, "count")

    def _sum_(self, start: Any = 0) -> Any:
        from evercurrent.frontend.python.comprehensions import fold

        return fold(self, "sum", start)

    def _extreme_(self, name: str) -> Any:
        from evercurrent.frontend.python.comprehensions import fold

        return fold(self, name)

    def _any_(self) -> Any:
        from evercurrent.frontend.python.comprehensions import some

        return some(self)

    def _all_(self) -> Any:
        from evercurrent.frontend.python.comprehensions import every

        return every(self)

    def _as_truth_(self) -> Term:
        raise QueryError("a query cannot be used as a condition", hint="any(... for row in query)")


def _head(block: Block) -> list[Term]:
    return list(head_of(block)[0])


def _plain_class(cls: Any) -> Any:
    """The class of derived queries: what a table or a view has of its own does not go on."""
    return next(c for c in cls.__mro__ if c.__dict__.get("_is_plain_", False))


def select_value(block: Block, value: Any, distinct: bool = False) -> Block:
    """The block of what a function returned for the rows of another."""
    return select_columns(block, result_of(value), distinct)


def select_columns(block: Block, result: Result, distinct: bool = False) -> Block:
    block, terms = all_hoisted(block, result.terms)
    fields = tuple(Member(f.name, t.type, f.nullable) for f, t in zip(result.fields, terms, strict=True))
    query = Comprehension("set" if distinct else "bag", tuple(terms), block.qualifiers, fields)
    return over(query, result.shape)
