"""What two selections of one relation have in common is one selection.

Law. π(σ p (R)) ∩ π(σ q (R)) = δ(π(σ p ∧ q (R))), and without δ for INTERSECT ALL, if the columns that π shows determine those that p
and q read: then all rows that look alike satisfy p and q alike. Only where neither condition can fail: the second one is no
longer asked of all rows.

    SELECT id FROM t WHERE a > 1 INTERSECT SELECT id FROM t WHERE b < 5      SELECT DISTINCT id FROM t WHERE a > 1 AND b < 5
"""

from __future__ import annotations

from evercurrent.algebra import build, keys
from evercurrent.algebra.nodes import Map, Plan, Scan, Select, SetOperation
from evercurrent.algebra.walk import replace_columns, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import TRUE, conjunction, conjuncts
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import columns_of


def intersect_selections(plan: Plan, knowledge: Knowledge) -> Plan:
    def intersect(p: Plan) -> Plan:
        match p:
            case SetOperation("intersect", repeated, left, right, outputs):
                found = _find_selection(left, right, knowledge)
                if found is None:
                    return p
                source, shown = found
                made = build.project(source, zip(outputs, shown, strict=True))
                return made if repeated else build.distinct(made)
            case _:
                return p

    return rewrite(plan, intersect)


def _find_selection(left: Plan, right: Plan, knowledge: Knowledge) -> tuple[Plan, list[Column]] | None:
    """The one selection, and the columns of it that are shown; None if the two are not of one kind."""
    mine, theirs = _take_apart(left), _take_apart(right)
    if mine is None or theirs is None or mine[0].relation != theirs[0].relation:
        return None
    scan, condition, shown = mine
    own = dict(zip(scan.fields, scan.outputs, strict=True))
    fields = {c.name: f for f, c in zip(theirs[0].fields, theirs[0].outputs, strict=True)}
    if not {fields[c.name] for c in (*columns_of(theirs[1]), *theirs[2])} <= own.keys():
        return None
    names: dict[str, Term] = {name: own[f] for name, f in fields.items() if f in own}
    if [names[c.name] for c in theirs[2]] != shown:
        return None
    other = replace_columns(theirs[1], names)
    read = {c.name for c in (*columns_of(condition), *columns_of(other))}
    if not read <= keys.determines(scan, knowledge, [c.name for c in shown]):
        return None
    if can_fail(condition) or can_fail(other):
        return None
    return build.select(scan, conjunction([*conjuncts(condition), *conjuncts(other)])), shown


def _take_apart(plan: Plan) -> tuple[Scan, Term, list[Column]] | None:
    """A plan as the scan, the condition and the columns that it is made of, if it is no more than that."""
    shown: list[Column] | None = None
    if isinstance(plan, Map):
        terms = [t for _, t in plan.outputs]
        shown = [t for t in terms if isinstance(t, Column)]
        if len(shown) < len(terms):
            return None
        plan = plan.input
    condition: Term = TRUE
    if isinstance(plan, Select):
        condition = plan.condition
        plan = plan.input
    if not isinstance(plan, Scan):
        return None
    return plan, condition, list(plan.outputs) if shown is None else shown
