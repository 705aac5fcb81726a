"""From which columns of relations the values of a plan's columns are computed.

    SELECT c.name, sum(o.total) AS spent ...      name: customers.name;  spent: orders.total

Columns that only decide which rows there are (conditions, keys of joins, orders of windows' rows that are only counted) are not among
them, except partition and order of a window function, on which its value depends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

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
from evercurrent.algebra.walk import aggregate_with_terms, find_names, function_with_terms
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, Term, WindowFunction

Origins = frozenset[tuple[str, str]]
"""Relations and fields of them."""

NONE: Origins = frozenset()


def column_lineage(plan: Plan) -> list[Origins]:
    """For each column of a plan, in order, the fields of relations from which it is computed."""
    found = trace(plan, {})
    return [found[c.name] for c in columns(plan)]


def trace(plan: Plan, rules: Mapping[str, list[Origins]]) -> dict[str, Origins]:
    """The same by the names of columns; `rules` are the relations of the enclosing fixpoint, as far as they are known."""
    match plan:
        case Scan(relation, outputs, fields):
            if relation in rules:
                return {c.name: o for c, o in zip(outputs, rules[relation], strict=True)}
            return {c.name: frozenset({(relation, f)}) for c, f in zip(outputs, fields, strict=True)}
        case Constant(outputs=outputs):
            return {c.name: NONE for c in outputs}
        case Select(input=source) | Distinct(input=source) | Top(input=source):
            return trace(source, rules)
        case Semi(left=left):
            return trace(left, rules)
        case Join(left, right):
            return {**trace(left, rules), **trace(right, rules)}
        case Outer(_, left, right):
            return {**trace(left, rules), **trace(right, rules)}
        case Map(source, outputs):
            known = trace(source, rules)
            return {c.name: origins_of([term], known) for c, term in outputs}
        case Unnest(source, collection, elements):
            known = trace(source, rules)
            return {**known, **{c.name: origins_of([collection], known) for c in elements}}
        case Union(inputs, outputs):
            return merge_origins([trace(i, rules) for i in inputs], inputs, outputs)
        case SetOperation(left=left, right=right, outputs=outputs):
            return merge_origins([trace(left, rules), trace(right, rules)], (left, right), outputs)
        case Aggregate(source, keys, aggregates):
            known = trace(source, rules)
            of_keys = {c.name: origins_of([term], known) for c, term in keys}
            return {**of_keys, **{c.name: origins_of(aggregate_terms(a), known) for c, a in aggregates}}
        case Window(source, functions):
            known = trace(source, rules)
            return {**known, **{c.name: origins_of(function_terms(f), known) for c, f in functions}}
        case Fixpoint():
            return trace_fixpoint(plan, rules)
        case _:
            assert_never(plan)


def trace_fixpoint(plan: Fixpoint, rules: Mapping[str, list[Origins]]) -> dict[str, Origins]:
    """Adds what the rules' bodies say of each other until nothing is new."""
    known = {**rules, **{r.name: [NONE] * len(r.fields) for r in plan.rules}}
    while True:
        new = {r.name: list_of(r.body, known) for r in plan.rules}
        grown = {n: [a | b for a, b in zip(known[n], new[n], strict=True)] for n in new}
        if all(known[n] == grown[n] for n in grown):
            return {c.name: o for c, o in zip(plan.outputs, known[plan.result], strict=True)}
        known = {**known, **grown}


def list_of(plan: Plan, rules: Mapping[str, list[Origins]]) -> list[Origins]:
    found = trace(plan, rules)
    return [found[c.name] for c in columns(plan)]


def merge_origins(
    found: list[dict[str, Origins]], inputs: Iterable[Plan], outputs: tuple[Column, ...]
) -> dict[str, Origins]:
    """The columns of several inputs together, by position."""
    rows = [[f[c.name] for c in columns(i)] for f, i in zip(found, inputs, strict=True)]
    return {
        c.name: frozenset().union(*parts) for c, parts in zip(outputs, zip(*rows, strict=True), strict=True)
    }


def origins_of(terms: Iterable[Term], known: Mapping[str, Origins]) -> Origins:
    return frozenset().union(*(known.get(name, NONE) for name in find_names(terms)))


def aggregate_terms(aggregate: AggregateTerm) -> list[Term]:
    collector = Collector()
    aggregate_with_terms(aggregate, collector)
    return collector.found


def function_terms(function: WindowFunction) -> list[Term]:
    collector = Collector()
    function_with_terms(function, collector)
    return collector.found


class Collector:
    """Takes note of the terms that it is called with."""

    def __init__(self) -> None:
        self.found: list[Term] = []

    def __call__(self, term: Term) -> Term:
        self.found.append(term)
        return term
