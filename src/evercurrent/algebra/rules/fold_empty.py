"""Evaluates operators over constants, and removes what can have no rows.

Law. The empty relation is the zero of join, semi join, selection and grouping by keys, and the unit of union; one row
without columns is the unit of join. A map or a selection of literal rows is literal rows.

    SELECT a FROM t WHERE 1 = 2 UNION ALL SELECT b FROM u      SELECT b AS a FROM u
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.build import empty, is_empty
from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.algebra.walk import children, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.errors import EvaluationError
from evercurrent.term.build import FALSE, conjuncts
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Column, Literal, Term


def fold_empty(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _fold)


def _never(condition: Term) -> bool:
    """Whether the condition is never TRUE."""
    return any(isinstance(c, Literal) and c.value is not True for c in conjuncts(condition))


def _fold(plan: Plan) -> Plan:
    match plan:
        case Scan() | Constant() | Fixpoint():
            return plan
        case Select(source, condition):
            if is_empty(source) or _never(condition):
                return empty(columns(plan))
            return _evaluate_literals(plan) if isinstance(source, Constant) else plan
        case Map(source):
            if is_empty(source):
                return empty(columns(plan))
            return _evaluate_literals(plan) if isinstance(source, Constant) else plan
        case Join(left, right, condition):
            if is_empty(left) or is_empty(right) or _never(condition):
                return empty(columns(plan))
            return _with_row(plan)
        case Semi(left, right, condition, anti):
            if is_empty(left):
                return empty(columns(plan))
            if is_empty(right) or _never(condition):
                return left if anti else empty(columns(plan))
            return plan
        case Outer(_, left, right, condition):
            return _outer(plan) if is_empty(left) or is_empty(right) or _never(condition) else plan
        case Union(inputs, outputs):
            return build.union(inputs, outputs) if any(map(is_empty, inputs)) else plan
        case (
            Aggregate(source, _, _, False) | Distinct(source) | Window(source) | Top(source) | Unnest(source)
        ):
            if is_empty(source) or (isinstance(plan, Top) and plan.limit == 0):
                return empty(columns(plan))
            return plan
        case Aggregate():
            return plan
        case SetOperation():
            return _set_operation(plan)


def _evaluate_literals(plan: Select | Map) -> Plan:
    """Literal rows, selected or mapped now; if that fails, it is left to fail when it is run."""
    (source,) = children(plan)
    assert isinstance(source, Constant)
    try:
        match plan:
            case Select(_, condition):
                holds = compile_term(condition, source.outputs)
                return replace(source, rows=tuple(row for row in source.rows if holds(row) is True))
            case Map(_, outputs):
                terms = [compile_term(t, source.outputs) for _, t in outputs]
                rows = tuple(tuple(t(row) for t in terms) for row in source.rows)
                return Constant(rows, tuple(c for c, _ in outputs))
    except EvaluationError:
        return plan


def _with_row(plan: Join) -> Plan:
    """A join with one literal row is a map."""
    for one, other in ((plan.left, plan.right), (plan.right, plan.left)):
        if isinstance(one, Constant) and len(one.rows) == 1 and other != one:
            values = tuple((c, Literal(v, c.type)) for c, v in zip(one.outputs, one.rows[0], strict=True))
            mine: tuple[tuple[Column, Term], ...] = tuple((c, c) for c in columns(other))
            outputs = values + mine if one is plan.left else mine + values
            return build.select(Map(other, outputs), plan.condition)
    return plan


def _outer(plan: Outer) -> Plan:
    def pad(side: Plan) -> Plan:
        present = {c.name for c in columns(side)}
        return build.project(
            side, ((c, c if c.name in present else Literal(None, c.type)) for c in columns(plan))
        )

    if plan.kind == "left":
        return empty(columns(plan)) if is_empty(plan.left) else pad(plan.left)
    if is_empty(plan.left):
        return pad(plan.right)
    if is_empty(plan.right):
        return pad(plan.left)
    return plan if plan.condition == FALSE else replace(plan, condition=FALSE)


def _set_operation(plan: SetOperation) -> Plan:
    left = build.project(plan.left, zip(plan.outputs, columns(plan.left), strict=True))
    if is_empty(plan.left) or (is_empty(plan.right) and plan.kind == "intersect"):
        return empty(columns(plan))
    if is_empty(plan.right):
        return left if plan.all else build.distinct(left)
    return plan
