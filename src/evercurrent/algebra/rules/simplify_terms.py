"""Terms in their simplest form, wherever they stand.

Law. Each law of `term.simplify`; in a condition also: where an earlier conjunct rules NULL out, `x IS NOT NULL` says nothing.

    WHERE a > 1 AND a IS NOT NULL      WHERE a > 1
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra.nodes import Join, Outer, Plan, Select, Semi
from evercurrent.algebra.nulls import find_required
from evercurrent.algebra.walk import rewrite, with_parts
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Call, Column, Term
from evercurrent.term.simplify import simplify


def simplify_terms(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _simplify)


def _simplify(plan: Plan) -> Plan:
    plan = with_parts(plan, lambda p: p, simplify)
    match plan:
        case Select() | Join() | Outer() | Semi():
            return replace(plan, condition=without_implied(plan.condition))
        case _:
            return plan


def without_implied(condition: Term) -> Term:
    """The condition without checks for NULL that its other conjuncts imply."""
    parts = list(conjuncts(condition))
    kept: list[Term] = []
    for i, part in enumerate(parts):
        match part:
            case Call("is_not_null", (Column(name),)):
                others = [*kept, *parts[i + 1 :]]
                if name in frozenset[str]().union(*map(find_required, others)):
                    continue
        kept.append(part)
    return conjunction(kept)
