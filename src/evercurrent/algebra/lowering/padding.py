"""Padding: outer generators and full outer joins.

What a padded side computes is computed below the padding, as columns, which the padding makes NULL. Where a variable of a
padded side is read as a whole, a marker column says whether it is there.

    c <- customers, o <-outer orders on o.customer = c.id      Outer left c.id = o.customer
                                                                 Scan customers [c.id, c.name]
                                                                 Scan orders [o.customer, o.total]
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.algebra import build
from evercurrent.algebra.lowering import dependent, nested
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering.correlate import Context, bare, has_nested, replace_columns
from evercurrent.algebra.nodes import Outer, Plan, columns, make_nullable
from evercurrent.algebra.walk import rename_apart
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import free_variables, record_of, substitute, substitute_term
from evercurrent.calculus.scope import rename_apart as rename_variables
from evercurrent.term.build import TRUE, call, case, conjunction, conjuncts, equate, lit
from evercurrent.term.nodes import Column, Field, Term

Terms = tuple[Term, ...]


def outer_generator(
    plan: Plan,
    qualifier: calculus.OuterGenerator,
    bindings: Mapping[str, Term],
    marked: bool,
    instead: str,
    context: Context,
) -> tuple[Plan, dict[str, Term]]:
    """Law. `v <-outer q on c` pads where `q where c` is empty: the condition is part of the dependent query."""
    variable, on = qualifier.variable, qualifier.on
    source = substitute(qualifier.source, bindings)
    conditions: list[Term] = []
    for condition in conjuncts(on):
        condition = substitute_term(condition, bindings)
        if has_nested(condition) and variable.name not in free_variables(condition):
            # A nested query that looks at the left side only: its value is one of the left row.
            plan, (condition,) = nested.attach(plan, (condition,), context)
        conditions.append(condition)
    head = tuple(Field(variable, f.name, f.type, f.nullable) for f in source.fields)
    inner = calculus.Comprehension(
        "bag",
        head,
        (calculus.Generator(variable, source), calculus.Filter(conjunction(conditions))),
        source.fields,
    )
    pulled = dependent.dependent(plan, inner, context)
    right, outputs = extending.materialize(
        pulled.plan, pulled.kept, pulled.terms, source.fields, context, variable.name
    )
    bound: dict[str, Term] = {variable.name: record_of(source.fields, make_nullable(outputs))}
    if marked:
        marker = context.marker()
        right = build.add_columns(right, [(marker, TRUE)])
        absent = call("is_null", Column(marker.name, marker.type, True))
        record = bound[variable.name]
        bound[instead] = case([(absent, lit(None, record.type))], record)
    return Outer("left", plan, right, pulled.condition), bound


def full_outer(domain: Plan, query: calculus.FullOuter, context: Context) -> tuple[Plan, Terms]:
    """Both sides over copies of the domain, paired where the copies agree; the present side gives the domain's value."""
    sides: list[Plan] = []
    copies: list[tuple[Column, ...]] = []
    found: list[tuple[Column, ...]] = []
    variables = query.left_variable, query.right_variable
    for variable, source in zip(variables, (query.left, query.right), strict=True):
        copy, renamed = rename_apart(domain, context.columns)
        copied = {c.name: Column(renamed[c.name], c.type, c.nullable) for c in columns(domain)}
        side, terms = extending.over(copy, replace_columns(source, copied), context, variable.name)
        side, outputs = extending.materialize(
            side, columns(copy), terms, source.fields, context, variable.name, exact=True
        )
        sides.append(side)
        copies.append(columns(copy))
        found.append(outputs)
    fields = query.left.fields, query.right.fields
    inner = {v.name: record_of(f, o) for v, f, o in zip(variables, fields, found, strict=True)}
    conditions: list[Term] = []
    for condition in conjuncts(query.on):
        reads = free_variables(condition) & inner.keys()
        condition = substitute_term(condition, inner)
        if has_nested(condition):
            if len(reads) > 1:
                return extending.over(domain, without_full_outer(query, context), context)
            i = 1 if variables[1].name in reads else 0
            names = (c.name for c in columns(domain))
            condition = replace_columns(condition, dict(zip(names, copies[i], strict=True)))
            sides[i], (condition,) = nested.attach(sides[i], (condition,), context)
        conditions.append(condition)
    equal = [equate(a, b, True) for a, b in zip(*copies, strict=True)]
    whole = replace_columns(
        conjunction(conditions), dict(zip((c.name for c in columns(domain)), copies[0], strict=True))
    )
    bindings: dict[str, Term] = {}
    head = calculus.Comprehension("bag", query.head, (), query.fields)
    for i, variable in enumerate(variables):
        instead = context.variables.fresh(variable.name)
        head, marked = bare(head, variable.name, instead)
        record = record_of(fields[i], make_nullable(found[i]))
        bindings[variable.name] = record
        if marked:
            marker = context.marker()
            sides[i] = build.add_columns(sides[i], [(marker, TRUE)])
            absent = call("is_null", Column(marker.name, marker.type, True))
            bindings[instead] = case([(absent, lit(None, record.type))], record)
    plan: Plan = Outer("full", sides[0], sides[1], conjunction([*equal, whole]))
    if domain != build.UNIT:
        present = [
            (d, call("coalesce", a, b))
            for d, a, b in zip(
                columns(domain), make_nullable(copies[0]), make_nullable(copies[1]), strict=True
            )
        ]
        rest = [c for c in columns(plan) if c not in make_nullable(copies[0]) + make_nullable(copies[1])]
        plan = build.project(plan, [*present, *((c, c) for c in rest)])
    return nested.attach(plan, tuple(substitute_term(t, bindings) for t in head.head), context)


def without_full_outer(query: calculus.FullOuter, context: Context) -> calculus.Query:
    """Law. A full outer join is the left outer join, and the records of the right side that match nothing."""
    left, right = query.left_variable, query.right_variable
    first = calculus.Comprehension(
        "bag",
        query.head,
        (calculus.Generator(left, query.left), calculus.OuterGenerator(right, query.right, query.on)),
        query.fields,
    )
    match_ = calculus.Comprehension(
        "bag", (), (calculus.Generator(left, query.left), calculus.Filter(query.on)), ()
    )
    nothing = {left.name: record_of(query.left.fields, tuple(lit(None, f.type) for f in query.left.fields))}
    second = calculus.Comprehension(
        "bag",
        tuple(substitute_term(t, nothing) for t in query.head),
        (
            calculus.Generator(right, query.right),
            calculus.Filter(call("not", calculus.Exists(match_, TRUE.type))),
        ),
        query.fields,
    )
    return calculus.Union((first, rename_variables(second, context.variables)), query.fields)
