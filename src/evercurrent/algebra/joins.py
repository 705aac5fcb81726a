"""Inner joins, seen flat: what is joined, and under which conditions.

flatten( Join(Join(a, b, p), Select(c, q), r) )      ([a, b, Select(c, q)], [p, r])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evercurrent.algebra import build, keys
from evercurrent.algebra.facts import from_condition
from evercurrent.algebra.nodes import Join, Plan, columns
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Call, Column, Term
from evercurrent.term.walk import columns_of


def flatten(plan: Plan) -> tuple[list[Plan], list[Term]]:
    """The factors of a tree of inner joins, from left to right, and all conditions."""
    match plan:
        case Join(left, right, condition):
            factors, conditions = flatten(left)
            more, further = flatten(right)
            return factors + more, [*conditions, *further, *conjuncts(condition)]
        case _:
            return [plan], []


def names(plan: Plan) -> set[str]:
    return {c.name for c in columns(plan)}


def reads(*terms: Term) -> set[str]:
    return {c.name for t in terms for c in columns_of(t)}


def join_factors(factors: Sequence[Plan], conditions: Iterable[Term]) -> Plan:
    """A left-deep tree of the factors in this order, each condition as far down as its columns are there."""
    pending = list(conditions)
    result: Plan | None = None
    available: set[str] = set()
    for factor in factors:
        available |= names(factor)
        ready = [c for c in pending if reads(c) <= available]
        pending = [c for c in pending if c not in ready]
        condition = conjunction(ready)
        result = build.select(factor, condition) if result is None else build.join(result, factor, condition)
    return build.select(result if result is not None else build.UNIT, conjunction(pending))


def equal_columns(conditions: Iterable[Term]) -> list[tuple[Column, Column]]:
    """The pairs of columns that the conditions equate."""
    found = []
    for condition in conditions:
        match condition:
            case Call("eq", (Column() as a, Column() as b)):
                found.append((a, b))
    return found


def matches_once(left: Plan, right: Plan, condition: Term, knowledge: Knowledge) -> bool:
    """Whether no row of the left side meets two rows of the right side."""
    known = keys.facts(right, knowledge)
    if not known.keys:
        return False
    both = keys.facts(left, knowledge)
    both.dependencies += known.dependencies
    both.equal += known.equal
    both.keys = []
    both.not_null |= known.not_null
    inner = from_condition(both, condition, columns(left) + columns(right))
    given = inner.closure(names(left))
    return any(key <= given for key in known.keys)
