"""GROUP BY.

A group without keys has one record, also where its source is empty. Depending on outer rows it becomes an aggregate
by the correlation columns, and an outer join that brings the record of the empty source back (the count bug):

    count{ l | l <- lineitem, l.orderkey = o.orderkey }
        Outer(orders, count of lineitem by l.orderkey, o.orderkey = l.orderkey), and coalesce(count, 0)

Grouping sets are a union of groups, one for each set.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra.lowering import dependent, nested
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering.correlate import Context
from evercurrent.algebra.nodes import Aggregate, Outer, Plan, columns
from evercurrent.algebra.walk import aggregate_with_terms
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import record_of, rename_apart, row_type, substitute_term
from evercurrent.calculus.walk import aggregate_with_parts
from evercurrent.data.types import BIGINT
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, Field, Term

Terms = tuple[Term, ...]


def aggregate(
    plan: Plan,
    extra: tuple[Column, ...],
    query: calculus.Group,
    terms: Terms,
    context: Context,
    name: str = "",
) -> tuple[Plan, Terms]:
    """One row for each group under the keys and the extra columns, which keep their names."""
    bindings = {query.variable.name: record_of(query.source.fields, terms)}
    wanted: list[Term] = [substitute_term(key, bindings) for key in query.keys]

    def note(term: Term) -> Term:
        wanted.append(term)
        return term

    aggregates = [aggregate_with_parts(a, lambda t: substitute_term(t, bindings)) for a in query.aggregates]
    for a in aggregates:
        aggregate_with_terms(a, note)
    plan, found = nested.attach(plan, tuple(wanted), context)
    values = iter(found)
    prefix = f"{name}." if name else ""
    keys: list[tuple[Column, Term]] = [(c, c) for c in extra]
    taken = {c.name for c in extra}
    for field in query.fields[: len(query.keys)]:
        term = next(values)
        if isinstance(term, Column) and term.name not in taken:
            keys.append((term, term))
        else:
            keys.append((context.column(prefix + field.name, field.type, nested.can_be_null(term)), term))
        taken.add(keys[-1][0].name)
    outputs: list[tuple[Column, AggregateTerm]] = []
    for field, a in zip(query.fields[len(query.keys) :], aggregates, strict=True):
        column = context.column(prefix + field.name, field.type, field.nullable)
        outputs.append((column, aggregate_with_terms(a, lambda _: next(values))))
    plan = Aggregate(plan, tuple(keys), tuple(outputs), scalar=not keys)
    return plan, tuple(c for c, _ in keys[len(extra) :]) + tuple(c for c, _ in outputs)


def scalar(plan: Plan, query: calculus.Group, context: Context) -> tuple[Plan, Terms]:
    """Extend every row of the plan with the one record of a group without keys that depends on it."""
    pulled = dependent.pull_group(query, context) or dependent.over_domain(plan, query, context, per_value)
    result = Outer("left", plan, pulled.plan, pulled.condition)
    found = {c.name: c for c in columns(result)}
    terms: list[Term] = []
    for a, term in zip(query.aggregates, pulled.terms, strict=True):
        assert isinstance(term, Column)
        read = found[term.name]
        of_nothing = evaluate_aggregate(a, [])
        terms.append(read if of_nothing is None else call("coalesce", read, lit(of_nothing, a.type)))
    return result, tuple(terms)


def per_value(domain: Plan, query: calculus.Query, context: Context) -> tuple[Plan, Terms]:
    """A group without keys over a domain, without the records of empty sources."""
    assert isinstance(query, calculus.Group)
    plan, terms = extending.over(domain, query.source, context)
    return aggregate(plan, columns(domain), query, terms, context)


def expand_sets(query: calculus.Group, context: Context) -> calculus.Query:
    """Law. Grouping sets are the union, over the sets, of groups by the keys of the set.

    Keys outside the set are NULL, and the grouping id has a one in their places, the first key in the highest bit.
    """
    assert query.sets is not None
    count = len(query.keys)
    branches: list[calculus.Query] = []
    for chosen in query.sets:
        kept = tuple(query.fields[i] for i in chosen)
        fields = kept + query.fields[count : count + len(query.aggregates)]
        group = replace(query, keys=tuple(query.keys[i] for i in chosen), fields=fields, sets=None)
        record = context.variable("set", row_type(group))
        place = {position: i for i, position in enumerate(chosen)}
        members = [Field(record, f.name, f.type, f.nullable) for f in group.fields]
        grouping_id = sum(1 << (count - 1 - i) for i in range(count) if i not in place)
        head: list[Term] = [
            members[place[i]] if i in place else lit(None, field.type)
            for i, field in enumerate(query.fields[:count])
        ]
        head += members[len(chosen) :]
        head.append(lit(grouping_id, BIGINT))
        single = calculus.Comprehension(
            "bag", tuple(head), (calculus.Generator(record, group),), query.fields
        )
        branches.append(rename_apart(single, context.variables))
    return calculus.Union(tuple(branches), query.fields)
