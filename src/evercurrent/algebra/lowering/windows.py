"""Window functions: a chain of window nodes, each with one partition and one order.

The value of a function for rows that tie in its order must not depend on how the plan arranges its columns. So where ties
matter (row_number, lag, frames of rows) the order is made total by the whole record, and where peers matter (rank, frames of
ranges) it is left alone; functions of the two kinds are then never in one node. Equal rows are distinguished by the values of
earlier windows.

    row_number() OVER (ORDER BY day), rank() OVER (ORDER BY total)      Window rank() over (order by total ...)
                                                                          Window row_number() over (order by day, total ...)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering import nested
from evercurrent.algebra.lowering.correlate import Context
from evercurrent.algebra.nodes import Plan, Window, columns
from evercurrent.algebra.walk import function_with_terms
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import record_of, substitute_term
from evercurrent.calculus.walk import function_with_parts
from evercurrent.calculus.windows import same_windows
from evercurrent.term.nodes import Column, Term, WindowFunction

Terms = tuple[Term, ...]

BY_POSITION = frozenset({"row_number", "ntile", "lag", "lead"})
BY_PEERS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
SYMMETRIC = frozenset(
    {
        "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "some", "any", "count_if",
        "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "median", "percentile",
        "percentile_cont", "percentile_disc", "percentile_approx", "try_sum", "try_avg",
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

    def note(term: Term) -> Term:
        wanted.append(term)
        return term

    for f in functions:
        function_with_terms(f, note)
    plan, found = nested.attach(plan, tuple(wanted), context)
    values = iter(found)
    functions = [function_with_terms(f, lambda _: next(values)) for f in functions]
    if any(by_arrangement(f) for f in functions):
        plan, terms = extending.materialize(plan, extra, terms, query.source.fields, context, rest=True)
    plan, functions = with_partitions(plan, extra, functions, context)
    prefix = f"{name}." if name else ""
    outputs = [
        context.column(prefix + field.name, field.type, field.nullable)
        for field in query.fields[len(query.source.fields) :]
    ]
    ties = terms
    for alike in same_windows(query.functions):
        placed = [(outputs[i], functions[i]) for i in alike if by_position(functions[i])]
        others = [(outputs[i], functions[i]) for i in alike if not by_position(functions[i])]
        if placed:
            first = placed[0][1]
            order = extending.total(list(first.order), ties, first.partition)
            plan = Window(plan, tuple((c, replace(f, order=order)) for c, f in placed))
        if others:
            if any(by_arrangement(f) for _, f in others):
                plan = put_first(plan, (*extra, *ties))
            plan = Window(plan, tuple(others))
        ties += tuple(outputs[i] for i in alike)
    return plan, terms + tuple(outputs)


def with_partitions(
    plan: Plan, extra: tuple[Column, ...], functions: list[WindowFunction], context: Context
) -> tuple[Plan, list[WindowFunction]]:
    """The functions partitioned by columns, the extra ones first; what is computed becomes a column of the plan."""
    added: dict[Term, Column] = {}
    result: list[WindowFunction] = []
    for f in functions:
        partition: list[Term] = list(extra)
        for term in f.partition:
            if not isinstance(term, Column):
                if term not in added:
                    added[term] = context.column("partition", term.type, nested.can_be_null(term))
                term = added[term]
            if term not in partition:
                partition.append(term)
        result.append(replace(f, partition=tuple(partition)))
    if added:
        plan = build.add_columns(plan, ((column, term) for term, column in added.items()))
    return plan, result


def put_first(plan: Plan, first: Terms) -> Plan:
    """The plan with these columns first: in this order they settle ties."""
    names = tuple(dict.fromkeys(t.name for t in first if isinstance(t, Column)))
    found = {c.name: c for c in columns(plan)}
    others = (c for c in columns(plan) if c.name not in names)
    return build.project(plan, ((c, c) for c in (*(found[n] for n in names), *others)))


def by_position(function: WindowFunction) -> bool:
    """Whether the place of each row among its peers matters."""
    return function.function in BY_POSITION or (
        function.frame.kind == "rows" and function.function not in BY_PEERS
    )


def by_arrangement(function: WindowFunction) -> bool:
    """Whether both matter: peers make the frame, and the place among them the value (first_value over a range)."""
    return not by_position(function) and function.function not in BY_PEERS | SYMMETRIC
