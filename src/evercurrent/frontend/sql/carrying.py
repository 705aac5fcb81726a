"""Carrying terms from one level to the next.

A new level is a record; its head carries the terms that are needed above, each once. Constants need not be carried.

    SELECT customer, sum(total) + 1 ... GROUP BY customer      the rows carry customer and total:
                                                               r <- bag{ (customer: ..., total: ...) | ... }
"""

from __future__ import annotations

from evercurrent.calculus.nodes import Comprehension, Qualifier
from evercurrent.data.naming import unique
from evercurrent.data.types import Member
from evercurrent.frontend.sql.scope import Env
from evercurrent.term import build
from evercurrent.term.nodes import Aggregate, Field, Literal, SortKey, Term, Variable
from evercurrent.term.nullable import nullable


class Head:
    """The head of a comprehension that is being collected, then closed."""

    def __init__(self) -> None:
        self.terms: dict[Term, str] = {}
        self.names: dict[Term, str] = {}
        self.variable: Variable | None = None

    def carry(self, term: Term, name: str = "x") -> None:
        if not isinstance(term, Literal) and term not in self.terms:
            self.terms[term] = term.name if isinstance(term, Field) else name

    def carry_aggregate(self, aggregate: Aggregate) -> None:
        for arg in aggregate.args:
            self.carry(arg)
        if aggregate.where is not None:
            self.carry(aggregate.where, "chosen")
        for key in aggregate.order:
            self.carry(key.term, "key")

    def close(self, env: Env, qualifiers: tuple[Qualifier, ...], stem: str) -> Comprehension:
        """The comprehension; from now on `at` returns what a carried term is above it."""
        terms = tuple(self.terms)
        names = unique(self.terms.values())
        fields = tuple(Member(n, t.type, nullable(t)) for n, t in zip(names, terms, strict=True))
        query = Comprehension("bag", terms, qualifiers, fields)
        self.names = dict(zip(terms, names, strict=True))
        self.variable = env.variable(stem, query)
        return query

    def at(self, term: Term, variable: Variable | None = None) -> Term:
        if isinstance(term, Literal):
            return term
        over = variable or self.variable
        assert over is not None
        return build.field(over, self.names[term])

    def key_at(self, key: SortKey, variable: Variable | None = None) -> SortKey:
        return SortKey(self.at(key.term, variable), key.descending, key.nulls_first)

    def aggregate_at(self, aggregate: Aggregate) -> Aggregate:
        return Aggregate(
            aggregate.function,
            tuple(self.at(a) for a in aggregate.args),
            aggregate.type,
            aggregate.distinct,
            None if aggregate.where is None else self.at(aggregate.where),
            tuple(self.key_at(k) for k in aggregate.order),
            aggregate.options,
        )
