"""A left outer join that adds nothing is its left side.

Law. πA(A left B) = A, if no row of A meets two rows of B and no column of B is read.
"""

from __future__ import annotations

from evercurrent.algebra.joins import matches_once, names
from evercurrent.algebra.nodes import Outer
from evercurrent.catalog.catalog import Knowledge


def is_unneeded_outer(plan: Outer, needed: set[str], knowledge: Knowledge) -> bool:
    """Whether the left side alone serves those who read only the needed columns."""
    return (
        plan.kind == "left"
        and not needed & names(plan.right)
        and matches_once(plan.left, plan.right, plan.condition, knowledge)
    )
