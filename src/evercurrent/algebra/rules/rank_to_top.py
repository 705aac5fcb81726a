"""The first rows of each partition are a top, not a numbering of all rows.

Law. σ n <= c (window row_number n (A)) = window row_number n (top c (A)), in the same partition and order: the first rows
are numbered as before. Where nobody reads the number, the window then goes too.
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.nodes import Plan, Select, Top, Window
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Call, Column, Literal, Term


def rank_to_top(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _limit)


def _limit(plan: Plan) -> Plan:
    match plan:
        case Select(Window(source, functions) as window, condition):
            if any(f.function != "row_number" for _, f in functions):
                return plan
            numbers = {c.name for c, _ in functions}
            bounds = [
                (part, bound) for part in conjuncts(condition) if (bound := _bound(part, numbers)) is not None
            ]
            if not bounds:
                return plan
            limit = max(0, min(bound for _, bound in bounds))
            asked = {part for part, _ in bounds if not _is_equality(part) or limit == 1}
            rest = [part for part in conjuncts(condition) if part not in asked]
            _, function = functions[0]
            top = Top(source, function.partition, function.order, limit, 0)
            if isinstance(source, Top) and top == Top(
                source, source.partition, source.order, source.limit, 0
            ):
                top = source  # it has been limited before
            return build.select(Window(top, window.functions), conjunction(rest))
        case _:
            return plan


def _is_equality(part: Term) -> bool:
    return isinstance(part, Call) and part.function == "eq"


def _bound(part: Term, numbers: set[str]) -> int | None:
    """The greatest row number that satisfies the condition."""
    match part:
        case Call("le" | "eq", (Column(name), Literal(int() as value))) if name in numbers:
            return value
        case Call("lt", (Column(name), Literal(int() as value))) if name in numbers:
            return value - 1
        case _:
            return None
