"""A column that is joined with a column of one value has that value too.

Law. σa=c(A) ⋈ a=b B = σa=c(A) ⋈ a=b σb=c(B); for semi joins on both sides, for the right side of left outer joins and anti
joins. The lower side then keeps only rows that can match.

    t JOIN u ON t.a = u.a WHERE t.a = 1      Join t.a = u.a
                                               Select t.a = 1 (Scan t)
                                               Select u.a = 1 (Scan u)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.facts import find_constants
from evercurrent.algebra.joins import equal_columns, names
from evercurrent.algebra.nodes import (
    Aggregate,
    Distinct,
    Join,
    Map,
    Outer,
    Plan,
    Select,
    Semi,
    Top,
    Unnest,
    Window,
)
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts, equate
from evercurrent.term.nodes import Column, Literal, Term


def derive_equalities(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _derive)


def _derive(plan: Plan) -> Plan:
    match plan:
        case Join(left, right, condition):
            return replace(
                plan, left=_restrict(left, right, condition), right=_restrict(right, left, condition)
            )
        case Semi(left, right, condition, anti):
            kept = left if anti else _restrict(left, right, condition)
            return replace(plan, left=kept, right=_restrict(right, left, condition))
        case Outer("left", left, right, condition):
            return replace(plan, right=_restrict(right, left, condition))
        case _:
            return plan


def _restrict(plan: Plan, other: Plan, condition: Term) -> Plan:
    """The plan, restricted to the constants that columns of the other side have."""
    mine, theirs = constants(plan), constants(other)
    found: list[Term] = []
    for a, b in equal_columns(conjuncts(condition)):
        for own, foreign in ((a, b), (b, a)):
            value = theirs.get(foreign.name)
            if own.name in names(plan) and own.name not in mine and value is not None:
                if value.value is not None:
                    found.append(equate(own, value))
    return build.select(plan, conjunction(found))


def constants(plan: Plan) -> dict[str, Literal]:
    """The columns that have one value in all rows."""
    match plan:
        case Select(source, condition):
            return _spread_constants({**constants(source), **find_constants(condition)}, condition)
        case Join(left, right, condition):
            return _spread_constants(
                {**constants(left), **constants(right), **find_constants(condition)}, condition
            )
        case Semi(left) | Outer("left", left):
            return constants(left)
        case Map(source, outputs):
            inner = constants(source)
            found: dict[str, Literal] = {}
            for column, term in outputs:
                if isinstance(term, Column) and term.name in inner:
                    found[column.name] = inner[term.name]
                elif isinstance(term, Literal):
                    found[column.name] = term
            return found
        case Aggregate(source, keys):
            inner = constants(source)
            return {c.name: inner[t.name] for c, t in keys if isinstance(t, Column) and t.name in inner}
        case Distinct(source) | Window(source) | Top(source) | Unnest(source):
            return constants(source)
        case _:
            return {}


def _spread_constants(known: dict[str, Literal], condition: Term) -> dict[str, Literal]:
    pairs = equal_columns(conjuncts(condition))
    for _ in pairs:
        for a, b in pairs:
            if a.name in known:
                known.setdefault(b.name, known[a.name])
            elif b.name in known:
                known.setdefault(a.name, known[b.name])
    return known
