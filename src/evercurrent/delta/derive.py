"""The rules of a feed: its delta for each of its sources.

Law (Koch 2010, section 5). `d(R1 * ... * Rn)` for a change of Ri, with the others as they are at that moment (law L9),
is the product with Ri replaced by its delta. So a rule starts from the delta of one source and looks the others up, one
after another (see `lookups`); the weight of a result is the product of all weights on the way.

    orders * customers      on orders: look up customers by id, add
                            on customers: look up orders by customer, add
"""

from __future__ import annotations

from dataclasses import dataclass

from evercurrent.data.types import BIGINT, Float
from evercurrent.delta.analysis import NOTHING, Analysis, conjuncts_of
from evercurrent.delta.blocks import Source, replace_columns
from evercurrent.delta.lookups import Derivation
from evercurrent.delta.program import WEIGHT, Amount, Rule, Where
from evercurrent.delta.states import States, product
from evercurrent.term.build import TRUE, conjunction, equate, lit
from evercurrent.term.nodes import Call, Column, Literal, Term

MINUS_ONE = lit(-1, BIGINT)

PADDED = "~d"
"""Ends the names of a delta's columns where a rule takes the padding of an outer join away for it."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A rule, and the states that it must see before or after the same trigger has updated them."""

    rule: Rule
    old: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()


def amounts(d: Derivation, sign: list[Term]) -> tuple[Amount, ...]:
    return tuple(amount(d, i, sign) for i in range(len(d.a.feed.parts)))


def amount(d: Derivation, i: int, sign: list[Term]) -> Amount:
    part, polynomial = d.a.feed.parts[i], d.a.polynomials[i]
    if polynomial is None:
        where = None if part.where is None else d.local(part.where)
        args = tuple(map(d.local, part.args))
        weight = product([*sign, *d.weights])
        if part.accumulator.kind == "sum" and not isinstance(part.accumulator.type, Float):
            return Amount((product([weight, args[0]]),), None, where)
        return Amount(args, weight, where)
    terms = []
    filters = list(conjuncts_of(part.where))
    for m in polynomial:
        factors: list[Term] = list(sign)
        if m.sign < 0:
            factors.append(MINUS_ONE)
        rest = m.factors
        for group, kept, bound in d.summed:
            share = d.a.share(i, m, group)
            factors.append(bound[WEIGHT if share == NOTHING else kept.meanings[share]])
            rest = tuple(f for f in rest if f not in share[0])
            filters = [c for c in filters if c not in conjuncts_of(share[1])]
        terms.append(product([*factors, *map(d.local, rest)]))
    type = BIGINT if isinstance(part.accumulator.type, Float) else part.accumulator.type
    total = terms[0] if len(terms) == 1 else Call("ring_add", tuple(terms), type)
    return Amount((total,), None, d.local(conjunction(filters)) if filters else None)


def rules_for(a: Analysis, states: States, into: str) -> list[tuple[str, Derived]]:
    """All rules of a feed, each with the relation that drives it."""
    found = []
    for i, source in enumerate(a.sources):
        if source.mode != "anti" and states.skips(a, i):
            continue
        for sign, nulls in variants(source):
            found.append((source.relation, derive(a, states, i, into, sign, nulls)))
    return found


def variants(source: Source) -> list[tuple[int, bool]]:
    """The deltas of a factor: (sign, whether its columns are NULL)."""
    match source.mode:
        case "inner":
            return [(1, False)]
        case "anti":
            return [(-1, False)]
        case _:
            return [(1, False), (-1, True)]


def derive(a: Analysis, states: States, driver: int, into: str, sign: int, nulls: bool) -> Derived:
    source = a.sources[driver]
    renamed = (
        tuple(Column(f"{c.name}{PADDED}", c.type, c.nullable) for c in source.columns)
        if nulls
        else source.columns
    )
    if source.mode == "outer":  # a delta's own rows are not padded
        renamed = tuple(Column(c.name, c.type, c.nullable) for c in renamed)
    weight = Column("w~0", BIGINT, False)
    conditions = list(a.conditions)
    d = Derivation(
        a, states, driver, set(range(len(a.sources))) - {driver}, conditions, list(a.block.explodes)
    )
    d.into = into
    for i, term in source.on:
        d.pending.append(equate(renamed[i], term, source.null_safe))
    for column, own in zip(source.columns, renamed, strict=True):
        if nulls:
            d.bound[own.name] = own
            d.bound[column.name] = Literal(None, column.type)
        else:
            d.bind(column.name, own)
    for name, (home, term) in a.computed.items():
        if home == driver:
            d.bind(name, d.local(term))
    for condition in a.equalities([driver]) if source.mode == "inner" else ():
        local = replace_columns(condition, dict(d.bound))
        if local != TRUE:
            d.steps.append(Where(local))
    d.run()
    signs: list[Term] = [weight] if sign > 0 else [MINUS_ONE, weight]
    rule = Rule(
        source.relation,
        renamed,
        weight,
        tuple(d.steps),
        into,
        tuple(map(d.local, a.feed.columns)),
        product([*signs, *d.weights]),
        tuple(map(d.local, a.feed.dependents)),
        amounts(d, signs),
    )
    return Derived(rule, frozenset(d.old), frozenset(d.new))
