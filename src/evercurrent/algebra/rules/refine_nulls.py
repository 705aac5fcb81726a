"""Columns that are known never to be NULL are not checked for NULL.

Law. A column that its input says is never NULL, by its type or by a condition below that NULL would fail, is never NULL for
those who read it: checks fold away. The terms that remain still say of each column what its input says of it, since they may
be evaluated lower down, before the condition.

    Select coalesce(count, 0) > 1                   Select count > 1
      Aggregate by u.a; count: count(*)               Aggregate by u.a; count: count(*)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import keys
from evercurrent.algebra.nodes import Aggregate, Map, Plan, columns
from evercurrent.algebra.walk import children, rewrite, with_parts
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.simplify import simplify
from evercurrent.term.walk import rewrite as rewrite_term


def refine_nulls(plan: Plan, knowledge: Knowledge) -> Plan:
    def refine(p: Plan) -> Plan:
        certain = frozenset[str]().union(*(keys.not_null(c, knowledge) for c in children(p)))
        said = {c.name: c.nullable for child in children(p) for c in columns(child)}

        def refine_column(t: Term) -> Term:
            return replace(t, nullable=False) if isinstance(t, Column) and t.name in certain else t

        def as_said(t: Term) -> Term:
            return replace(t, nullable=said[t.name]) if isinstance(t, Column) else t

        def on_term(t: Term) -> Term:
            return rewrite_term(simplify(rewrite_term(t, refine_column)), as_said)

        def on_output(column: Column, t: Term) -> Column:
            if (
                isinstance(t, Column) and t.name == column.name
            ):  # the map may go: then the input itself is read
                return replace(column, nullable=said[t.name])
            return replace(column, nullable=nullable(rewrite_term(t, refine_column)))

        p = with_parts(p, lambda c: c, on_term)
        match p:
            case Map(source, outputs):
                return Map(source, tuple((on_output(c, t), t) for c, t in outputs))
            case Aggregate(_, by):
                return replace(p, keys=tuple((on_output(c, t), t) for c, t in by))
            case _:
                return p

    return rewrite(plan, refine)
