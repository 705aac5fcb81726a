"""Comprehensions over tables, queries and collections inside captured functions.

(s.name for s in students if s.age > 18)          a query
any(e.student == s.id for e in enrolments)        exists bag{ ... }
sum(i.price for i in items if i.order == o.id)    a scalar subquery, 0 over nothing as in Python
s.id in (e.student for e in enrolments)           x = SOME (...)
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.calculus.nodes import Comprehension, Exists, Filter, Group, Scalar
from evercurrent.data.types import BOOLEAN, INT, Array, Collection, Map, Member
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python import logic, operations
from evercurrent.frontend.python.block import HOLE, Block, again, beside, filter_block, pack, variable
from evercurrent.frontend.python.core import AnyQuery, select_value
from evercurrent.frontend.python.grouping import Rows
from evercurrent.frontend.python.query import Query
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, is_symbolic, term_of
from evercurrent.frontend.python.unnesting import elements
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate, find_aggregate
from evercurrent.term.nodes import Literal, Term

if TYPE_CHECKING:
    from evercurrent.frontend.python.interpret import Reader

NOTHING = Block((), (), ())


def comprehension(
    reader: Reader, element: ast.expr, generators: list[ast.comprehension], distinct: bool
) -> Any:
    """A comprehension, as a query; over constants, the values; over a group, its rows."""
    first = reader.expression(generators[0].iter)
    if isinstance(first, Rows):
        return OfGroup(first, reader, element, generators)
    if not isinstance(first, AnyQuery) and not isinstance(first, Symbol):
        return _unroll(reader, element, generators, distinct)
    block, owner = NOTHING, None
    for i, generator in enumerate(generators):
        source = first if i == 0 else reader.expression(generator.iter)
        if isinstance(source, AnyQuery):
            owner = owner or source._owner
            if source._block is HOLE:
                return Query(HOLE, None)
        block = range_over(reader, block, generator.target, source)
        for test in generator.ifs:
            block = filter_block(block, logic.condition(reader.expression(test)))
    return Query(select_value(block, reader.expression(element), distinct), owner)


def range_over(reader: Reader, block: Block, target: ast.expr, source: Any) -> Block:
    """The block with the rows of a query, or the elements of a collection, under the names of the target."""
    if isinstance(source, AnyQuery):
        joined = beside(block, again(source._block))
    elif isinstance(source, Symbol) and isinstance(source._term.type, Array | Map | Collection):
        joined = elements(block, source)
        if isinstance(source._term.type, Map):
            raise Resists("iterating over a MAP; use .keys() or .values()", target)
    else:
        raise Resists(f"iterating over {source!r}", target)
    new = joined.rows[len(block.rows) :]
    reader.assign(target, new[0] if len(new) == 1 else new)
    return joined


def _unroll(reader: Reader, element: ast.expr, generators: list[ast.comprehension], distinct: bool) -> Any:
    """A comprehension over constants, written out."""

    def run(at: Reader, rest: list[ast.comprehension]) -> list[Any]:
        if not rest:
            return [at.expression(element)]
        found: list[Any] = []
        values = at.expression(rest[0].iter)
        if is_symbolic(values) and isinstance(values, Symbol):
            raise Resists("a comprehension over constants and collections")
        for value in values:
            inner = at.within({})
            inner.assign(rest[0].target, value)
            tests = [inner.expression(t) for t in rest[0].ifs]
            if any(is_symbolic(t) for t in tests):
                raise Resists("a comprehension over constants with a condition on the row")
            if all(tests):
                found.extend(run(inner, rest[1:]))
        return found

    values = run(reader, generators)
    return set(values) if distinct and not is_symbolic(values) else values


# --- what is made of them ------------------------------------------------------------------------------------


def some(query: AnyQuery) -> Any:
    """`any(query)`: whether some value is true."""
    block = query._block
    block = filter_block(block, logic.condition(block.rows[0]))
    return Symbol(Exists(_build_comprehension(block), BOOLEAN))


def every(query: AnyQuery) -> Any:
    """`all(query)`: whether no value is not true."""
    block = query._block
    test = logic.truth(block.rows[0])
    doubtful = build.negation(build.call("coalesce", test, build.lit(False)))
    return Symbol(build.negation(Exists(_build_comprehension(filter_block(block, doubtful)), BOOLEAN)))


def _build_comprehension(block: Block) -> Comprehension:
    return Comprehension("bag", (Literal(1, INT),), block.qualifiers, (Member("found", INT, False),))


def member_of(query: AnyQuery, value: Any) -> Term:
    """`value in query`: whether some row equals it, None equal to None."""
    block = again(query._block)
    row: Any = block.rows[0] if len(block.rows) == 1 else block.rows
    same = logic.condition(Symbol(operations.equality(value, row)))
    qualifiers = (*block.qualifiers, *map(Filter, build.conjuncts(same)))
    return Exists(_build_comprehension(replace(block, qualifiers=qualifiers)), BOOLEAN)


def fold(query: AnyQuery, name: str, start: Any = 0) -> Any:
    """`sum`, `len`, `min` and `max` of a query: a scalar subquery."""
    source = pack(query._block)
    v = variable(source)
    args: list[Term] = []
    if name != "count":
        if len(source.fields) != 1:
            raise QueryError(
                f"{name} of rows of {len(source.fields)} fields", hint="select one value of them"
            )
        args = [build.field(v, source.fields[0].name)]
    made = aggregate(name, args)
    function = find_aggregate(name)
    assert function is not None
    member = Member(name, made.type, function.nullable)
    value: Term = Scalar(Group(v, source, (), (made,), (member,)), made.type)
    if name == "count":
        return Symbol(build.call("coalesce", value, build.lit(0)))
    if name == "sum":
        value = build.call("coalesce", value, build.cast(build.lit(0), made.type))
        return Symbol(value) if start == 0 else operations.binary("+", Symbol(value), start)
    return Symbol(value)


class OfGroup:
    """A comprehension over the rows of a group: `sum(s.age for s in g if s.city == "Rome")`."""

    _symbolic_ = True

    def __init__(
        self, rows: Rows, reader: Reader, element: ast.expr, generators: list[ast.comprehension]
    ) -> None:
        if len(generators) != 1:
            raise UnsupportedError("a comprehension over a group and something else")
        inner = reader.within({})
        given = rows._rows
        inner.assign(generators[0].target, given[0] if len(given) == 1 else given)
        self.rows = rows
        self.value = inner.expression(element)
        tests = [logic.condition(inner.expression(t)) for t in generators[0].ifs]
        self.where = build.conjunction(tests) if tests else None

    def _add(self, name: str, term: Term) -> Term:
        return self.rows._symbol(aggregate(name, [term], where=self.where))._term

    def _sum_(self, start: Any = 0) -> Any:
        total = self._add("sum", term_of(self.value))
        value = Symbol(build.call("coalesce", total, build.cast(build.lit(0), total.type)))
        return value if start == 0 else operations.binary("+", value, start)

    def _length_(self) -> Any:
        return self.rows._symbol(aggregate("count", [], where=self.where))

    def _extreme_(self, name: str) -> Any:
        return Symbol(self._add(name, term_of(self.value)))

    def _any_(self) -> Any:
        return Symbol(build.call("coalesce", self._add("bool_or", logic.truth(self.value)), build.lit(False)))

    def _all_(self) -> Any:
        return Symbol(build.call("coalesce", self._add("bool_and", logic.truth(self.value)), build.lit(True)))

    def _as_term_(self) -> Term:
        return self._add("collect_list", term_of(self.value))
