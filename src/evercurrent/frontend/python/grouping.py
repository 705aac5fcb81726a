"""Groups: what the functions of `group_by(...).select(lambda key, g: ...)` see.

While the function runs, it is not known how many aggregates there will be. So its keys and aggregates are placeholders,
which are replaced by the fields of the group when it has returned.

      students.group_by(lambda s: s.city).select(lambda city, g: (city, g.count()))
    = bag{ (city: g.city, count: g.count) | g <- group(r <- Student, by (city: r.city), count: count(*)) }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evercurrent.calculus.nodes import Fields, Generator, Group
from evercurrent.data.naming import unique
from evercurrent.data.shapes import Shape
from evercurrent.data.types import Member, Struct
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python import logic
from evercurrent.frontend.python.block import (
    Block,
    all_hoisted,
    filter_block,
    repack,
    replace_terms,
    variable,
    variable_of,
)
from evercurrent.frontend.python.capture import capture, predicate
from evercurrent.frontend.python.monoids import Monoid, monoid_aggregate
from evercurrent.frontend.python.ordering import directions
from evercurrent.frontend.python.results import Result, result_of
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import term_of
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate, find_aggregate
from evercurrent.term.nodes import Aggregate, Field, SortKey, Term
from evercurrent.term.nullable import nullable

NEVER_NULL = frozenset(("sum", "avg", "min", "max", "bool_and", "bool_or"))
"""Of rows without NULLs these have a value as soon as there is a row."""

Function = Callable[..., Any]


class Rows:
    """The rows of a group, to be aggregated."""

    _symbolic_ = True

    def __init__(self, rows: Sequence[Symbol], always: bool) -> None:
        self._rows = tuple(rows)
        self._always = always  # whether there is a row in every group
        self._hole = variable_of(Struct(()), "g")
        self._found: dict[Aggregate, Field] = {}

    # --- aggregates ----------------------------------------------------------------------------------------

    def count(
        self, value: Function | None = None, *, distinct: bool = False, where: Function | None = None
    ) -> Any:
        """How many rows; with a function, how many have a value other than None."""
        return self._add("count", value, distinct=distinct, where=where)

    def sum(self, value: Function, *, distinct: bool = False, where: Function | None = None) -> Any:
        """The sum; None if there is no value."""
        return self._add("sum", value, distinct=distinct, where=where)

    def avg(self, value: Function, *, distinct: bool = False, where: Function | None = None) -> Any:
        """The mean; None if there is no value."""
        return self._add("avg", value, distinct=distinct, where=where)

    mean = avg

    def min(self, value: Function, *, where: Function | None = None) -> Any:
        """The least value."""
        return self._add("min", value, where=where)

    def max(self, value: Function, *, where: Function | None = None) -> Any:
        """The greatest value."""
        return self._add("max", value, where=where)

    def any(self, condition: Function) -> Any:
        """Whether the condition is true for some row."""
        return Symbol(build.call("coalesce", self._add_truth("bool_or", condition)._term, build.lit(False)))

    def all(self, condition: Function) -> Any:
        """Whether the condition is true for all rows."""
        return Symbol(build.call("coalesce", self._add_truth("bool_and", condition)._term, build.lit(True)))

    def collect(
        self, value: Function | None = None, *, order: Function | None = None, distinct: bool = False
    ) -> Any:
        """The values as a list, in an order of their own or in this one; None is left out."""
        keys = () if order is None else self._keys(order)
        name = "collect_set" if distinct and not keys else "collect_list"
        return self._add(name, value or _itself, distinct=distinct, order=keys)

    def first(self, value: Function, *, order: Function) -> Any:
        """The value of the first row in this order."""
        return self._add("first", value, order=self._keys(order))

    def last(self, value: Function, *, order: Function) -> Any:
        """The value of the last row in this order."""
        return self._add("last", value, order=self._keys(order))

    def aggregate(self, name: str | Monoid, *values: Function, where: Function | None = None) -> Any:
        """Any aggregate function by its name (`median`, `stddev`, `mode`, ...), or a monoid of your own."""
        terms = [self._term(v) for v in values]
        condition = None if where is None else self._condition(where)
        if isinstance(name, Monoid):
            return self._symbol(monoid_aggregate(name, terms, condition))
        return self._symbol(aggregate(name, terms, where=condition))

    # --- Python's own: len(g), sum(x.a for x in g), ... ------------------------------------------------------

    def _length_(self) -> Any:
        return self.count()

    def __iter__(self) -> Any:
        raise QueryError(
            "a group is not iterated over", hint="g.count(), g.sum(lambda row: ...), g.collect(...)"
        )

    # --- within --------------------------------------------------------------------------------------------

    def _term(self, function: Function) -> Term:
        return term_of(capture(function, self._rows))

    def _condition(self, function: Function) -> Term:
        return logic.condition(capture(function, self._rows, bool))

    def _keys(self, function: Function) -> tuple[SortKey, ...]:
        return tuple(
            SortKey(term_of(d.value), d.descending, d.nulls_first)
            for d in directions(capture(function, self._rows), False)
        )

    def _add(
        self,
        name: str,
        value: Function | None,
        *,
        distinct: bool = False,
        where: Function | None = None,
        order: tuple[SortKey, ...] = (),
    ) -> Symbol:
        args = [] if value is None else [self._term(value)]
        condition = None if where is None else self._condition(where)
        return self._symbol(aggregate(name, args, distinct=distinct, where=condition, order=order))

    def _add_truth(self, name: str, condition: Function) -> Symbol:
        return self._symbol(aggregate(name, [logic.truth(capture(condition, self._rows, bool))]))

    def _symbol(self, made: Aggregate) -> Symbol:
        found = self._found.get(made)
        if found is None:
            may = self._nullable(made)
            names = unique([*(f.name for f in self._found.values()), made.function])
            found = self._found[made] = Field(self._hole, names[-1], made.type, may)
        return Symbol(found)

    def _nullable(self, made: Aggregate) -> bool:
        function = find_aggregate(made.function)
        if function is not None and not function.nullable:
            return False
        certain = self._always and made.where is None and made.function in NEVER_NULL
        return not certain or any(map(nullable, made.args))


def _itself(*rows: Any) -> Any:
    return rows[0] if len(rows) == 1 else rows


_itself._knows_symbols_ = True  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a grouping, read: what the function returned, and its columns."""

    block: Block
    result: Result | None


def keys_of(block: Block, function: Any) -> Keys:
    _, block = repack(block)
    if function is None:
        return Keys(block, None)
    return Keys(block, result_of(capture(function, block.rows)))


def group_block(keys: Keys, function: Any, having: Sequence[Any] = ()) -> tuple[Block, Result]:
    """The block over the groups, and what the function returned for them."""
    rows = Rows(keys.block.rows, keys.result is not None)
    given: list[Any] = []
    holes: list[Field] = []
    if keys.result is not None:
        key_hole = variable_of(Struct(()), "k")
        fields = keys.result.fields
        holes = [Field(key_hole, f.name, f.type, f.nullable) for f in fields]
        given.append(_key_symbol(keys.result, holes))
    given.append(rows)
    result = result_of(capture(function, given))
    conditions = [predicate(h, given) for h in having]
    group = _group(keys, rows)
    v = variable(group, "g")
    at = [build.field(v, f.name) for f in group.fields]
    fill: dict[Term, Term] = {}
    fill.update(zip(holes, at, strict=False))
    fill.update(zip(rows._found.values(), at[len(holes) :], strict=True))
    whole = Shape.record(None, len(group.fields), names=[f.name for f in group.fields])
    made = Block((Generator(v, group),), (Symbol(v, whole),), (whole,))
    for condition in conditions:
        made = filter_block(made, replace_terms(condition, fill))
    if (
        len(made.qualifiers) and made.rows[0]._term != v
    ):  # an opaque condition has given the groups another variable
        raise UnsupportedError("an opaque condition of groups", hint="select, and then use where")
    filled = Result(result.names, tuple(replace_terms(t, fill) for t in result.terms), result.shape)
    return made, filled


def _key_symbol(result: Result, holes: list[Field]) -> Symbol:
    if result.shape.kind == "single":
        return Symbol(holes[0], result.shape.inner[0])
    names = unique(result.names)
    return Symbol(build.record(list(zip(names, holes, strict=True))), result.shape)


def _group(keys: Keys, rows: Rows) -> Group:
    """The grouping, its opaque parts computed before."""
    names = [] if keys.result is None else list(keys.result.names)
    terms: list[Term] = [] if keys.result is None else list(keys.result.terms)
    count = len(terms)
    found = list(rows._found)
    parts = [t for a in found for t in parts_of(a)]
    block, hoisted = all_hoisted(keys.block, [*terms, *parts])
    key_terms, rest = hoisted[:count], iter(hoisted[count:])
    aggregates = tuple(with_parts(a, rest) for a in found)
    (generator,) = block.qualifiers
    assert isinstance(generator, Generator)
    labels = unique([*names, *(a.function for a in aggregates)])
    fields: Fields = (
        *(Member(n, t.type, nullable(t)) for n, t in zip(labels, key_terms, strict=False)),
        *(
            Member(n, a.type, rows._found[old].nullable)
            for n, a, old in zip(labels[count:], aggregates, found, strict=True)
        ),
    )
    return Group(generator.variable, generator.source, tuple(key_terms), aggregates, fields)


def parts_of(a: Aggregate) -> list[Term]:
    """The terms of an aggregate, in order."""
    return [*a.args, *([] if a.where is None else [a.where]), *(k.term for k in a.order)]


def with_parts(a: Aggregate, terms: Any) -> Aggregate:
    """The aggregate with its terms, in order, taken from an iterator."""
    args = tuple(next(terms) for _ in a.args)
    where = None if a.where is None else next(terms)
    order = tuple(SortKey(next(terms), k.descending, k.nulls_first) for k in a.order)
    return Aggregate(a.function, args, a.type, a.distinct, where, order, a.options)
