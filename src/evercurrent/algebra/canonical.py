"""A plan's text that does not depend on how its columns are called.

Two plans with equal texts compute the same rows, column by column: subplans that are written twice, in one view or in
two, are found by it. Columns are numbered in the order in which the plan defines them, inputs first.
"""

from __future__ import annotations

from evercurrent.algebra.nodes import Fixpoint, Plan, columns
from evercurrent.algebra.show import show
from evercurrent.algebra.walk import children, rename, with_parts
from evercurrent.term.nodes import Column


def canonical(plan: Plan) -> str:
    """Equal for plans that differ only in the names of their columns (and of relations inside fixpoints)."""
    numbered: dict[str, str] = {}
    relations: dict[str, str] = {}

    def number(column: Column) -> Column:
        numbered.setdefault(column.name, f"c{len(numbered)}")
        return column

    def visit(p: Plan) -> None:
        if isinstance(p, Fixpoint):
            for rule in p.rules:
                relations.setdefault(rule.name, f"r{len(relations)}")
        for child in children(p):
            visit(child)
        with_parts(p, lambda q: q, lambda t: t, number)

    visit(plan)
    text = show(rename(plan, numbered))
    types = ", ".join(f"{c.type}" for c in columns(plan))
    return f"{text}\n[{types}]"
