"""Window functions: a chain of window nodes, each with one partition and one order.

What a function says of rows that tie in its order must not depend on how the plan happens to arrange its columns. So
where ties matter (row_number, lag, frames of rows) the order is made total by the whole record, and where peers matter
(rank, frames of ranges) it is left alone; functions of the two kinds are then never in one node.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering import nested
from evercurrent.algebra.lowering.correlate import Context
from evercurrent.algebra.nodes import Plan, Window
from evercurrent.algebra.walk import function_with_terms
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import record_of, substitute_term
from evercurrent.calculus.walk import function_with_parts
from evercurrent.term.nodes import Column, SortKey, Term, WindowFunction

Terms = tuple[Term, ...]

BY_POSITION = frozenset({"row_number", "ntile", "lag", "lead"})
BY_PEERS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
SYMMETRIC = frozenset(
    {
        "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "some", "any", "count_if",
        "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "median", "percentile",
        "percentile_cont", "percentile_disc",
    }
)  # fmt: skip


def window(
    plan: Plan,
    extra: tuple[Column, ...],
    query: calculus.Window,
    terms: Terms,
    context: Context,
    name: str = "",
) -> tuple[Plan, Terms]:
    """The rows of the plan with the functions; partitions are within the values of the extra columns."""
    bindings = {query.variable.name: record_of(query.source.fields, terms)}
    functions = [function_with_parts(f, lambda t: substitute_term(t, bindings)) for f in query.functions]
    wanted: list[Term] = []

    def noted(term: Term) -> Term:
        wanted.append(term)
        return term

    for f in functions:
        function_with_terms(f, noted)
    plan, found = nested.attach(plan, tuple(wanted), context)
    values = iter(found)
    functions = [function_with_terms(f, lambda _: next(values)) for f in functions]
    if any(by_arrangement(f) for f in functions):
        plan, terms = extending.materialize(plan, extra, terms, query.source.fields, context, rest=True)
    added: dict[Term, Column] = {}
    specified: dict[tuple[Terms, tuple[SortKey, ...]], list[tuple[Column, WindowFunction]]] = {}
    outputs: list[Column] = []
    for field, f in zip(query.fields[len(terms) :], functions, strict=True):
        partition: list[Term] = list(extra)
        for term in f.partition:
            if not isinstance(term, Column):
                if term not in added:
                    added[term] = context.column("partition", term.type, nested.can_be_null(term))
                term = added[term]
            if term not in partition:
                partition.append(term)
        order = extending.total(list(f.order), terms, tuple(partition)) if by_position(f) else f.order
        column = context.column(f"{name}.{field.name}" if name else field.name, field.type, field.nullable)
        outputs.append(column)
        f = replace(f, partition=tuple(partition), order=order)
        specified.setdefault((f.partition, f.order), []).append((column, f))
    if added:
        plan = build.extended(plan, ((column, term) for term, column in added.items()))
    for group in specified.values():
        plan = Window(plan, tuple(group))
    return plan, terms + tuple(outputs)


def by_position(function: WindowFunction) -> bool:
    """Whether the place of each row among its peers matters."""
    return function.function in BY_POSITION or (
        function.frame.kind == "rows" and function.function not in BY_PEERS
    )


def by_arrangement(function: WindowFunction) -> bool:
    """Whether both matter: peers make the frame, and the place among them the value (first_value over a range)."""
    return not by_position(function) and function.function not in BY_PEERS | SYMMETRIC
