"""What is known of a plan: keys."""

from __future__ import annotations

from collections.abc import Iterable

from evercurrent.algebra.nodes import Aggregate, Plan, Top
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column


def at_most_one(plan: Plan, knowledge: Knowledge, given: Iterable[Column]) -> bool:
    return (isinstance(plan, Top) and plan.limit == 1) or (isinstance(plan, Aggregate) and plan.scalar)
