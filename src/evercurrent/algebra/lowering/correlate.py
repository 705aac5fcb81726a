"""Correlation, seen in columns.

When a generator of a query is lowered, its variable is replaced, in everything that follows, by the columns of the
plan. So a nested query reads its surroundings through `Column` terms, and its own parts through variables: the
columns that occur in a query are exactly what it is correlated by.

    exists bag{ () | l <- lineitem, l.orderkey = Column(o.orderkey) }      is correlated by o.orderkey
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from evercurrent.algebra.nodes import Plan, columns
from evercurrent.algebra.walk import Names as ColumnNames
from evercurrent.calculus import walk
from evercurrent.calculus.nodes import Comprehension, Query
from evercurrent.calculus.scope import Names as VariableNames
from evercurrent.catalog.catalog import Knowledge
from evercurrent.data.types import BOOLEAN, Type, contains_float
from evercurrent.term.nodes import Column, Field, Nested, Term, Variable
from evercurrent.term.walk import nodes as term_nodes

Part = TypeVar("Part", Query, Term)


class Context:
    """What one lowering hands around: names that are taken, and what is known of relations."""

    def __init__(self, variables: VariableNames, knowledge: Knowledge) -> None:
        self.columns = ColumnNames()
        self.variables = variables
        self.knowledge = knowledge

    def column(self, name: str, type: Type, nullable: bool = True) -> Column:
        return Column(self.columns.fresh(name), type, nullable)

    def marker(self) -> Column:
        """A column that is TRUE where a padded side is present."""
        return self.column("present", BOOLEAN, False)

    def variable(self, name: str, type: Type) -> Variable:
        return Variable(self.variables.fresh(name), type)


def columns_in(*parts: Query | Term) -> dict[str, Column]:
    """The columns that occur in queries and terms, nested queries included, in order of occurrence."""
    found: dict[str, Column] = {}
    for part in parts:
        for node in walk.nodes(part):
            if isinstance(node, Column):
                found.setdefault(node.name, node)
    return found


def is_closed(parts: Iterable[Query | Term], plan: Plan) -> bool:
    """Whether the parts read nothing but columns of the plan."""
    return columns_in(*parts).keys() <= {c.name for c in columns(plan)}


def replace_columns(part: Part, replaced: Mapping[str, Term]) -> Part:
    """The part, nested queries included, with columns of these names replaced."""
    if not replaced:
        return part

    def substitute(t: Term) -> Term:
        return replaced.get(t.name, t) if isinstance(t, Column) else t

    if walk.is_query(part):
        return walk.rewrite(part, lambda q: q, substitute)  # type: ignore[arg-type, return-value]
    return walk.rewrite_term(part, lambda q: q, substitute)  # type: ignore[arg-type, return-value]


def has_nested(*terms: Term) -> bool:
    return any(isinstance(node, Nested) for term in terms for node in term_nodes(term))


def interchangeable(term: Term) -> bool:
    """Whether what equals the term can stand for it: -0.0 equals 0.0, but is another value."""
    return isinstance(term, Column) and not contains_float(term.type)


def bare(query: Comprehension, variable: str, instead: str) -> tuple[Comprehension, bool]:
    """The query with the variable called `instead` wherever it is not read member by member; and if it ever is so."""
    seen = False

    def on_term(t: Term) -> Term:
        nonlocal seen
        match t:
            case Field(Variable(name)) if name == variable:
                return t
            case Variable(name, type) if name == variable:
                seen = True
                return Variable(instead, type, True)
            case _:
                return walk.term_with_parts(t, on_query, on_term)

    def on_query(q: Query) -> Query:
        return walk.with_parts(q, on_query, on_term)

    result = on_query(query)
    assert isinstance(result, Comprehension)
    return result, seen
