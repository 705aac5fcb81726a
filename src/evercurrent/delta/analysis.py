"""What the rules of a feed need to know about its block.

Equal columns form classes: once one of a class is bound, all are. A side of an equality that is an expression over one
source becomes a *computed* column of that source, so that an index can hold it. Amounts are taken apart into monomials
(see `factor`), so that a source whose columns matter only for sums can be stored as sums.

    orders o * items i, o.id = i.order, o.code = upper(i.code)      classes {o.id, i.order}, {o.code, computed column of i}
    sum of o.rate * i.price                                         one monomial: o.rate by i.price
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evercurrent.data.types import Float, Integer
from evercurrent.delta.blocks import (
    Block,
    Classes,
    Dependencies,
    Source,
    dependencies,
    find_equality,
    is_class_condition,
    names_of,
    replace_columns,
)
from evercurrent.delta.bounds import Bounds
from evercurrent.delta.definitions import Feed, Keys
from evercurrent.delta.factor import Monomial, is_ring, is_safe, monomials
from evercurrent.term.build import call, conjunction, conjuncts, equate
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable

Share = tuple[tuple[Term, ...], Term | None]
"""Factors of an amount, and the amount's filter if it goes with them."""

NOTHING: Share = ((), None)


@dataclass(slots=True)
class Analysis:
    feed: Feed
    keys: Mapping[str, Keys]
    conditions: list[Term] = field(default_factory=list)  # those that are not equalities of columns
    computed: dict[str, tuple[int, Term]] = field(default_factory=dict)
    home: dict[str, int] = field(default_factory=dict)  # column -> position of its source
    columns: dict[str, Column] = field(default_factory=dict)
    classes: Classes = field(default_factory=lambda: Classes(()))
    polynomials: list[list[Monomial] | None] = field(default_factory=list)
    known: Dependencies = field(default_factory=lambda: Dependencies((), frozenset()))
    parents: dict[tuple[int, int], bool] = field(default_factory=dict)  # answers that do not change, kept
    shown: dict[frozenset[int], list[str]] = field(default_factory=dict)
    mentioned: frozenset[str] | None = None

    @property
    def block(self) -> Block:
        return self.feed.block

    @property
    def sources(self) -> tuple[Source, ...]:
        return self.feed.block.sources

    def homes(self, *terms: Term | None) -> frozenset[int | None]:
        """The sources that the terms mention; None stands for what an explode brings."""
        return frozenset(self.home.get(n) for n in names_of(*terms))

    def is_within(self, condition: Term, group: frozenset[int]) -> bool:
        """Whether a condition is a group's own, so that its state holds only rows that satisfy it."""
        homes = self.homes(condition)
        return bool(homes) and homes <= group

    def count_of(self, relation: str) -> int:
        return sum(s.relation == relation for s in self.sources)

    def equalities(self, among: Iterable[int]) -> list[Term]:
        """The equalities of columns that hold within a set of sources."""
        first: dict[str, str] = {}
        found: list[Term] = []
        inside = set(among)
        for name, home in self.home.items():
            if home not in inside:
                continue
            root = self.classes.find(name)
            if root in first:
                found.append(equate(self.columns[first[root]], self.columns[name]))
            else:
                first[root] = name
        return found

    def share(self, i: int, m: Monomial, group: frozenset[int]) -> Share:
        """What a group of sources brings to a monomial of the i-th amount: its factors, and its part of the filter."""
        mine = tuple(f for f in m.factors if self.is_within(f, group))
        where = [c for c in conjuncts_of(self.feed.parts[i].where) if self.is_within(c, group)]
        return mine, conjunction(where) if where else None

    def expansion(self, term: Term) -> Term:
        """The term with computed columns said by what they are computed from."""
        return replace_columns(term, {n: t for n, (_, t) in self.computed.items()})


def analyse(feed: Feed, keys: Mapping[str, Keys], bounds: Bounds | None = None) -> Analysis:
    """The analysis of a feed; with `bounds`, amounts of integers and floats are taken apart too."""
    block = feed.block
    a = Analysis(feed, keys)
    for i, s in enumerate(block.sources):
        for c in s.columns:
            a.home[c.name] = i
            a.columns[c.name] = c
    for condition in block.conditions:
        made = compute_sides(a, condition)
        if bounds is not None and is_inner(a, a.homes(made)) and len(a.homes(made)) > 1:
            made = bounds.compare_in_ring(made, a.sources, a.homes)
        a.conditions.append(made)
    joining = [c for c in a.conditions if is_class_condition(c) and is_inner(a, a.homes(c))]
    a.classes = Classes(joining)
    a.known = dependencies(block.sources, a.conditions, keys)
    a.conditions = [c for c in a.conditions if c not in joining]
    sums = all(p.accumulator.kind == "sum" for p in feed.parts)
    a.polynomials = [factor_amount(a, i, bounds) if sums else None for i in range(len(feed.parts))]
    if None in a.polynomials:  # where one amount needs the rows themselves, sums beside them save nothing
        a.polynomials = [None] * len(feed.parts)
    return a


def compute_sides(a: Analysis, condition: Term) -> Term:
    """The equality with each side that is an expression over one inner source made a column of that source."""
    sides = find_equality(condition)
    if sides is None:
        return condition
    if sides[0] == sides[1] and isinstance(sides[0], Column):
        return call("is_not_null", sides[0])  # x = x says no more, and is no equality of two columns
    if len(a.homes(*sides)) < 2:
        return condition
    return equate(find_computed_column(a, sides[0]), find_computed_column(a, sides[1]))


def find_computed_column(a: Analysis, side: Term) -> Term:
    homes = a.homes(side)
    if isinstance(side, Column) or len(homes) != 1 or not is_safe(side):
        return side
    (home,) = homes
    if home is None or a.sources[home].mode != "inner":
        return side
    for name, (_, term) in a.computed.items():
        if term == side:
            return a.columns[name]
    column = Column(f"computed~{len(a.computed)}", side.type, nullable(side))
    a.computed[column.name] = (home, side)
    a.home[column.name] = home
    a.columns[column.name] = column
    return column


def factor_amount(a: Analysis, i: int, bounds: Bounds | None) -> list[Monomial] | None:
    """The i-th amount as monomials whose factors, like the conjuncts of its filter, mention one inner source each.

    None where it cannot be done: then the columns of the amount are needed as they are.
    """
    part = a.feed.parts[i]
    term = part.args[0]
    whole = len(a.homes(term)) <= 1 and is_safe(term) and not isinstance(term.type, Float)
    found = [Monomial(1, (term,))] if whole else monomials(term, a.homes)
    if found is None and isinstance(term.type, Integer | Float) and bounds is not None:
        said = bounds.take_apart(term, a.sources, a.homes)
        found = None if said is None else monomials(said, a.homes)
    if found is None:
        return None
    filters = conjuncts_of(part.where)
    if not all(map(a.homes, filters)):
        return None
    for f in (*filters, *(f for m in found for f in m.factors)):
        if len(a.homes(f)) > 1 or not is_inner(a, a.homes(f)) or not (is_safe(f) or is_ring(f)):
            return None
    return found


def conjuncts_of(condition: Term | None) -> tuple[Term, ...]:
    return () if condition is None else conjuncts(condition)


def is_inner(a: Analysis, homes: frozenset[int | None]) -> bool:
    return all(h is not None and a.sources[h].mode == "inner" for h in homes)
