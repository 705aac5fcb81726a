"""Drops a left outer join of which only the left side is read.

Law. πA(A left B) = A, if no row of A meets two rows of B and no column of B is read.

    SELECT c.k FROM c LEFT JOIN p ON c.b = p.id, id being the key of p      SELECT c.k FROM c
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
