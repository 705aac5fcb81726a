"""Outer joins whose padded rows are thrown away again are inner joins.

Law. σp(A left B) = σp(A ⋈ B) if p is never TRUE where all columns of B are NULL; a full outer join loses the padding of
one side likewise. The condition of a join or semi join above throws rows away as a selection does. So does an aggregate of
everything whose arguments are NULL on all padded rows: NULLs do not count.

    sum(product.cost * quantity) of items left products    =  of items ⋈ products
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.joins import names
from evercurrent.algebra.nodes import Aggregate, Join, Outer, Plan, Select, Semi, columns
from evercurrent.algebra.nulls import propagates, rejects
from evercurrent.algebra.walk import rewrite_down
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Term


def outer_to_inner(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite_down(plan, _simplify)


def _simplify(plan: Plan) -> Plan:
    match plan:
        case Select(Outer() as outer, condition):
            return build.select(_inner(outer, condition), condition)
        case Aggregate(Outer("left") as outer, (), aggregates, scalar=True) if aggregates:
            if all(_skips(a, names(outer.right)) for _, a in aggregates):
                return replace(plan, input=build.join(outer.left, outer.right, outer.condition))
            return plan
        case Join(left, right, condition):
            return Join(_side(left, condition), _side(right, condition), condition)
        case Semi(left, right, condition, anti):
            kept = left if anti else _side(left, condition)
            return Semi(kept, _side(right, condition), condition, anti)
        case Outer("left", left, Aggregate(scalar=True) as right, condition) if condition == TRUE:
            return build.join(left, right)  # there is always a row
        case Outer("left", left, right, condition):
            return Outer("left", left, _side(right, condition), condition)
        case _:
            return plan


SKIPPING = frozenset(
    ("avg", "bool_and", "bool_or", "collect_list", "collect_set", "count", "max", "min", "sum")
)
"""Aggregates of one argument for which a NULL does not count."""


def _skips(aggregate: AggregateTerm, padded: frozenset[str] | set[str]) -> bool:
    """Whether a row in which these columns are NULL does not count."""
    if aggregate.where is not None and rejects(aggregate.where, padded):
        return True
    return (
        aggregate.function in SKIPPING
        and len(aggregate.args) == 1
        and bool(propagates(aggregate.args[0]) & set(padded))
    )


def _side(plan: Plan, condition: Term) -> Plan:
    match plan:
        case Outer():
            return _inner(plan, condition)
        case Select(Outer() as outer, own):
            return build.select(_inner(outer, condition), own)
        case Join(left, right, own):
            # What throws away padded rows of the whole throws away those of its parts.
            return replace(plan, left=_side(left, condition), right=_side(right, condition))
        case _:
            return plan


def _inner(outer: Outer, condition: Term) -> Plan:
    if condition == TRUE:
        return outer
    keeps_left = not rejects(condition, names(outer.right))  # rows of the left side that match nothing
    keeps_right = outer.kind == "full" and not rejects(condition, names(outer.left))
    match keeps_left, keeps_right:
        case True, True:
            return outer
        case False, False:
            return build.join(outer.left, outer.right, outer.condition)
        case True, False:
            return outer if outer.kind == "left" else replace(outer, kind="left")
        case _:
            turned = Outer("left", outer.right, outer.left, outer.condition)
            found = {c.name: c for c in columns(turned)}
            return build.project(turned, ((found[c.name], found[c.name]) for c in columns(outer)))
