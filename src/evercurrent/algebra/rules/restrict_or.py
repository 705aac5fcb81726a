"""Alternatives over two sides of a join imply alternatives over each side.

Law. (p1(a) and q1(b)) or (p2(a) and q2(b)) implies p1(a) or p2(a), and q1(b) or q2(b): each side of a join is restricted by
what it can satisfy alone; the whole condition is still evaluated above.

    t JOIN u ON t.a = 1 and u.a = 2 or t.a = 2 and u.a = 1      t is restricted by t.a = 1 or t.a = 2,
                                                                u by u.a = 2 or u.a = 1
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.joins import names, reads
from evercurrent.algebra.nodes import Join, Plan
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts, disjunction
from evercurrent.term.nodes import Call, Term


def restrict_or(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _restrict)


def _restrict(plan: Plan) -> Plan:
    match plan:
        case Join(left, right, condition):
            return replace(plan, left=_add_implied(left, condition), right=_add_implied(right, condition))
        case _:
            return plan


def _add_implied(plan: Plan, condition: Term) -> Plan:
    found = [implied for part in conjuncts(condition) if (implied := _alone(part, names(plan))) is not None]
    known = find_conditions(plan)
    return build.select(plan, conjunction(c for c in found if c not in known))


def _alone(part: Term, own: set[str]) -> Term | None:
    """What an alternative of conjunctions asks of these columns alone, if each of them asks something."""
    match part:
        case Call("or", alternatives):
            asked_alone = [[c for c in conjuncts(a) if reads(c) and reads(c) <= own] for a in alternatives]
            if all(asked_alone):
                return disjunction(map(conjunction, asked_alone))
    return None


def find_conditions(plan: Plan) -> set[Term]:
    """The conditions that all rows of a plan are known to satisfy, from the selections and joins at its top."""
    from evercurrent.algebra.nodes import Outer, Select, Semi

    match plan:
        case Select(source, condition):
            return {*conjuncts(condition), *find_conditions(source)}
        case Join(left, right, condition):
            return {*conjuncts(condition), *find_conditions(left), *find_conditions(right)}
        case Semi(left) | Outer("left", left):
            return find_conditions(left)
        case _:
            return set()
