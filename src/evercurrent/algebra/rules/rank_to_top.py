"""The first rows of each partition are a top, not a numbering of all rows.

Law. σ n <= c (window n (A)) = σ n <= c (window n (top c (A))), in the same partition and order, where n is a row_number, rank or
dense_rank, and the top has the ties of the same: the first rows are numbered as before. Where nobody reads the number, the
window then goes too. Likewise `top c order n (window n (A))`: a row that is among the first c by its number has at most the
number c, for every row with a greater number stands behind c rows of its partition.

    SELECT ... WHERE rank() OVER (ORDER BY points DESC) <= 3          Top 3 in rank
    SELECT ..., rank() OVER (...) AS r ... ORDER BY r LIMIT 3         Top 3 in rank, then the first 3 of these
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.nodes import Map, Plan, Select, Ties, Top, Window
from evercurrent.algebra.walk import rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Call, Column, Literal, Term, WindowFunction

TIES: dict[str, Ties] = {"row_number": "rows", "rank": "rank", "dense_rank": "dense_rank"}
"""Functions of which a row's value depends only on the rows in front of it and its peers, and the tops that they ask for."""


def rank_to_top(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _limit)


def _limit(plan: Plan) -> Plan:
    match plan:
        case Select(Window(_, functions) as window, condition) if _are_ranks(window):
            numbers = {c.name: f for c, f in functions}
            bounds = [
                (part, function, bound)
                for part in conjuncts(condition)
                if (function := _find_number(part, numbers)) is not None
                and (bound := _find_limit(part)) is not None
            ]
            if not bounds:
                return plan
            chosen = min(bounds, key=lambda b: b[2])[1]  # of several numbers, the one with the least bound
            limit = max(0, min(bound for _, f, bound in bounds if f.function == chosen.function))
            asked = {
                part
                for part, f, _ in bounds
                if f.function == chosen.function and (not _is_equality(part) or limit == 1)
            }
            rest = [part for part in conjuncts(condition) if part not in asked]
            return build.select(_limit_window(window, chosen, limit), conjunction(rest))
        case Top(source, partition, order, int(limit), offset, "rows") if order and not order[0].descending:
            inner = source.input if isinstance(source, Map) else source
            if not isinstance(inner, Window) or not _are_ranks(inner):
                return plan
            term = order[0].term
            if isinstance(source, Map):
                term = {c.name: t for c, t in source.outputs}.get(getattr(term, "name", ""), term)
            function = _find_function(term, inner)
            if function is None or partition:
                return plan
            made = _limit_window(inner, function, limit + offset)
            return replace(plan, input=replace(source, input=made) if isinstance(source, Map) else made)
        case _:
            return plan


def _are_ranks(window: Window) -> bool:
    return all(f.function in TIES for _, f in window.functions)


def _limit_window(window: Window, function: WindowFunction, limit: int) -> Window:
    """The window over the rows that one of its numbers puts among the first."""
    source = window.input
    ties = TIES[function.function]
    if isinstance(source, Top) and (source.partition, source.order) == (function.partition, function.order):
        if (source.offset, source.ties) == (0, ties) and source.limit is not None and source.limit <= limit:
            return window  # it has been limited before
    return Window(Top(source, function.partition, function.order, limit, 0, ties), window.functions)


def _find_function(term: Term, window: Window) -> WindowFunction | None:
    return next((f for c, f in window.functions if isinstance(term, Column) and c.name == term.name), None)


def _is_equality(part: Term) -> bool:
    return isinstance(part, Call) and part.function == "eq"


def _find_number(part: Term, numbers: dict[str, WindowFunction]) -> WindowFunction | None:
    match part:
        case Call("le" | "eq" | "lt", (Column(name), Literal(int()))):
            return numbers.get(name)
        case _:
            return None


def _find_limit(part: Term) -> int | None:
    """The greatest number that satisfies the condition."""
    match part:
        case Call("le" | "eq", (Column(), Literal(int() as value))):
            return value
        case Call("lt", (Column(), Literal(int() as value))):
            return value - 1
        case _:
            return None
