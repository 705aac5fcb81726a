"""A plan's text that does not depend on the names of its columns.

Two plans with equal texts compute the same rows, column by column. Subplans that are written twice, in one view or in
two, are found by it. Columns are numbered in the order in which the plan defines them, inputs first.

>>> from evercurrent.data.types import INT
>>> print(canonical(Scan("t", (Column("x.a", INT),), ("a",))))
Scan t [c0: a]
[INT]
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra.nodes import Fixpoint, Plan, Scan, columns
from evercurrent.algebra.show import show
from evercurrent.algebra.walk import children, rename, with_children, with_parts
from evercurrent.term.nodes import Column


def canonical(plan: Plan) -> str:
    """Equal for plans that differ only in the names of their columns and of relations inside fixpoints."""
    types = ", ".join(f"{c.type}" for c in columns(plan))
    return f"{show(number_names(plan))}\n[{types}]"


def number_names(plan: Plan) -> Plan:
    """The plan with its columns, and the relations of its fixpoints, called by their numbers."""
    numbered: dict[str, str] = {}
    relations: dict[str, str] = {}

    def number(column: Column) -> Column:
        numbered.setdefault(column.name, f"c{len(numbered)}")
        return column

    def visit(p: Plan) -> None:
        if isinstance(p, Fixpoint):
            for rule in p.rules:
                relations.setdefault(rule.name, f"\0{len(relations)}")  # which no table is called
        for child in children(p):
            visit(child)
        with_parts(p, lambda q: q, lambda t: t, number)

    def relabel(p: Plan) -> Plan:
        p = with_children(p, relabel)
        if isinstance(p, Scan) and p.relation in relations:
            return replace(p, relation=relations[p.relation])
        if isinstance(p, Fixpoint):
            rules = tuple(replace(rule, name=relations[rule.name]) for rule in p.rules)
            return replace(p, rules=rules, result=relations[p.result])
        return p

    visit(plan)
    plan = rename(plan, numbered)
    return relabel(plan) if relations else plan
