"""Takes the conditions that all alternatives share out of them.

Law. (p and q) or (p and r) = p and (q or r). The common part, most often an equality, can then join or go down.

    c.o = p.id and c.b = 1 or c.o = p.id and p.a = 2      c.o = p.id and (c.b = 1 or p.a = 2)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra.nodes import Join, Outer, Plan, Select, Semi
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts, disjunction
from evercurrent.term.nodes import Call, Term


def split_or(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _split)


def _split(plan: Plan) -> Plan:
    match plan:
        case Select() | Join() | Outer() | Semi():
            return replace(plan, condition=conjunction(map(factor_or, conjuncts(plan.condition))))
        case _:
            return plan


def factor_or(condition: Term) -> Term:
    """The condition as a conjunction of what all its alternatives ask, and the rest."""
    match condition:
        case Call("or", alternatives):
            parts = [conjuncts(a) for a in alternatives]
            common = [c for c in parts[0] if all(c in others for others in parts[1:])]
            if not common:
                return condition
            rest = disjunction(conjunction(c for c in part if c not in common) for part in parts)
            return conjunction([*common, rest])
        case _:
            return condition
