"""Smart constructors: plans in their simplest form.

`join` with the one-row plan of no columns is the other side, `select` by TRUE is its input, selections over
selections merge, `union` flattens. Passes build plans with these, so no pass need tidy up after another.

>>> from evercurrent.algebra.nodes import Scan
>>> from evercurrent.data.types import INT
>>> t = Scan("t", (Column("t.a", INT),), ("a",))
>>> join(UNIT, t) == t, select(t, TRUE) == t
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable

from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Join,
    Map,
    Plan,
    Select,
    Union,
    columns,
)
from evercurrent.data.types import BIGINT
from evercurrent.term.build import FALSE, TRUE, conjunction, conjuncts
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, Term

UNIT = Constant(((),), ())
"""One row without columns: what a query without FROM ranges over, and the unit of join."""


def empty(outputs: tuple[Column, ...]) -> Constant:
    """No rows."""
    return Constant((), outputs)


def is_empty(plan: Plan) -> bool:
    return isinstance(plan, Constant) and not plan.rows


def join(left: Plan, right: Plan, condition: Term = TRUE) -> Plan:
    if condition == FALSE:
        return empty(columns(left) + columns(right))
    if left == UNIT:
        return select(right, condition)
    if right == UNIT:
        return select(left, condition)
    return Join(left, right, condition)


def select(plan: Plan, condition: Term) -> Plan:
    """Those rows for which the condition is TRUE."""
    if condition == TRUE:
        return plan
    if condition == FALSE:
        return empty(columns(plan))
    match plan:
        case Select(source, earlier):
            return Select(source, conjunction([*conjuncts(earlier), *conjuncts(condition)]))
        case Join(left, right, earlier):
            return Join(left, right, conjunction([*conjuncts(earlier), *conjuncts(condition)]))
        case _:
            return Select(plan, condition)


def project(plan: Plan, outputs: Iterable[tuple[Column, Term]]) -> Plan:
    """A map; none where it would change nothing."""
    pairs = tuple(outputs)
    if tuple(c.name for c in columns(plan)) == tuple(c.name for c, _ in pairs):
        if all(isinstance(t, Column) and t.name == c.name for c, t in pairs):
            return plan
    return Map(plan, pairs)


def add_columns(plan: Plan, added: Iterable[tuple[Column, Term]]) -> Plan:
    """All columns of the plan, and computed ones after them."""
    return project(plan, (*((c, c) for c in columns(plan)), *added))


def distinct(plan: Plan) -> Plan:
    return plan if isinstance(plan, Distinct) or plan == UNIT else Distinct(plan)


def union(inputs: Iterable[Plan], outputs: tuple[Column, ...]) -> Plan:
    parts = tuple(p for p in inputs if not is_empty(p))
    if not parts:
        return empty(outputs)
    if len(parts) == 1:
        return project(parts[0], zip(outputs, columns(parts[0]), strict=True))
    return Union(parts, outputs)


def count_rows(column: Column) -> tuple[Column, AggregateTerm]:
    """An aggregate column that counts rows."""
    return column, AggregateTerm("count", (), BIGINT)


def group_by(plan: Plan, keys: Iterable[Column]) -> Plan:
    """The different values of some columns, under the same names."""
    return Aggregate(plan, tuple((c, c) for c in keys), (), False)
