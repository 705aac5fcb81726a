"""Extending the rows of a plan with the rows of a query that may depend on them.

    extend(plan, q)  =  { (row, r) | row <- plan, r <- q(row) }

A comprehension is extended generator by generator, so that joins stay flat and its filters apply to all columns. A
query that mentions no column is lowered alone and joined. What is left (grouping, order, set operations that depend on
outer rows) goes through `dependent`.

    over(domain, q)  =  { (d, r) | d <- domain, r <- q(d) }      the domain has no duplicates

is the same for a domain: since its rows differ, "for each outer row" is "grouped by the columns of the domain", and
every kind of query says what that means for it. Over the one row without columns it is plain lowering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from evercurrent.algebra import build
from evercurrent.algebra.lowering import dependent, grouping, nested, padding, windows
from evercurrent.algebra.lowering.correlate import Context, bare, columns_in, has_nested, replace_columns
from evercurrent.algebra.nodes import (
    Constant,
    Fixpoint,
    Plan,
    Rule,
    Scan,
    SetOperation,
    Top,
    Unnest,
    columns,
)
from evercurrent.algebra.walk import rename_apart
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import (
    record_of,
    substitute,
    substitute_term,
)
from evercurrent.data.types import Struct
from evercurrent.errors import UnsupportedError
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Column, Literal, SortKey, Term, Variable
from evercurrent.term.opaque import any_opaque, is_opaque
from evercurrent.term.walk import nodes as term_nodes

Terms = tuple[Term, ...]
Extended = tuple[Plan, Terms]

LARGE = 30
"""Terms of more nodes than this are computed once and named, rather than written out wherever they are read."""


def extend(plan: Plan, query: calculus.Query, context: Context, name: str = "") -> Extended:
    """Every row of the plan with every record of the query; the terms stand for the query's fields."""
    match query:
        case calculus.Comprehension("bag", head) if not any_opaque(head) or columns_in(query):
            return comprehension(plan, query, context)
        case _ if not columns_in(query):
            right, terms = over(build.UNIT, query, context, name)
            return build.join(plan, right), terms
        case calculus.Group(keys=(), sets=None):
            return grouping.scalar(plan, query, context)
        case _:
            pulled = dependent.dependent(plan, query, context)
            return build.join(plan, pulled.plan, pulled.condition), pulled.terms


def over(domain: Plan, query: calculus.Query, context: Context, name: str = "") -> Extended:
    """Every row of a plan without duplicates with every record of the query."""
    if domain != build.UNIT and not columns_in(query):
        right, terms = over(build.UNIT, query, context, name)
        return build.join(domain, right), terms
    match query:
        case calculus.Relation(relation, fields):
            prefix = name or relation
            outputs = tuple(context.column(f"{prefix}.{f.name}", f.type, f.nullable) for f in fields)
            return Scan(relation, outputs, tuple(f.name for f in fields)), outputs
        case calculus.Values():
            return values(domain, query, context, name)
        case calculus.Comprehension("set"):
            plan, terms = comprehension(domain, replace(query, monoid="bag"), context)
            plan, terms = materialize(plan, columns(domain), terms, query.fields, context, name)
            return build.distinct(plan), terms
        case calculus.Comprehension():
            return comprehension(domain, query, context)
        case calculus.Union(inputs):
            plans = [branch(domain, one, context, name) for one in inputs]
            outputs = field_columns(query.fields, context, name)
            return build.union(plans, columns(domain) + outputs), outputs
        case calculus.SetOperation(kind, all):
            outputs = field_columns(query.fields, context, name)
            sides = branch(domain, query.left, context, name), branch(domain, query.right, context, name)
            return SetOperation(kind, all, *sides, columns(domain) + outputs), outputs
        case calculus.FullOuter():
            return padding.full_outer(domain, query, context)
        case calculus.Group(keys=(), sets=None) if domain != build.UNIT:
            return grouping.scalar(domain, query, context)
        case calculus.Group(sets=None):
            plan, terms = over(domain, query.source, context)
            return grouping.aggregate(plan, columns(domain), query, terms, context, name)
        case calculus.Group():
            return over(domain, grouping.expand_sets(query, context), context, name)
        case calculus.Window():
            plan, terms = over(domain, query.source, context)
            return windows.window(plan, columns(domain), query, terms, context, name)
        case calculus.Top():
            plan, terms = over(domain, query.source, context)
            return top(plan, columns(domain), query, terms, context)
        case calculus.Fixpoint(definitions, result, fields, limit):
            if domain != build.UNIT:
                raise UnsupportedError("a recursive query cannot refer to the rows of an outer query")
            rules = tuple(
                Rule(d.name, lower_alone(d.body, context), tuple(f.name for f in d.fields), d.distinct)
                for d in definitions
            )
            outputs = field_columns(fields, context, name or result)
            return Fixpoint(rules, result, outputs, limit), outputs
        case _:
            assert_never(query)


def lower_alone(query: calculus.Query, context: Context, name: str = "") -> Plan:
    """The plan of a query that depends on nothing, its columns in the order of the query's fields."""
    plan, terms = extend(build.UNIT, query, context, name)
    if len(set(terms)) == len(terms) and all(isinstance(t, Column) for t in terms):
        return build.project(plan, ((t, t) for t in terms if isinstance(t, Column)))
    outputs = tuple(
        context.column(f.name, f.type, nested.can_be_null(t))
        for f, t in zip(query.fields, terms, strict=True)
    )
    return build.project(plan, zip(outputs, terms, strict=True))


def branch(domain: Plan, query: calculus.Query, context: Context, name: str) -> Plan:
    """A branch of a union or set operation: exactly the columns of (a copy of) the domain and the query's fields."""
    copy, renamed = rename_apart(domain, context.columns)
    copied = {c.name: Column(renamed[c.name], c.type, c.nullable) for c in columns(domain)}
    plan, terms = over(copy, replace_columns(query, copied), context, name)
    plan, _ = materialize(plan, columns(copy), terms, query.fields, context, name, exact=True)
    return plan


# --- naming what terms compute ----------------------------------------------------------------------------------


def field_columns(fields: calculus.Fields, context: Context, name: str) -> tuple[Column, ...]:
    prefix = f"{name}." if name else ""
    return tuple(context.column(prefix + f.name, f.type, f.nullable) for f in fields)


def materialize(
    plan: Plan,
    kept: tuple[Column, ...],
    terms: Terms,
    fields: calculus.Fields,
    context: Context,
    name: str = "",
    rest: bool = False,
    exact: bool = False,
) -> tuple[Plan, tuple[Column, ...]]:
    """A plan of the kept columns and a column for each term; with `rest`, the plan's other columns after them.

    A term that is a column already keeps its name, and is there only once; with `exact`, each term has its own.
    """
    prefix = f"{name}." if name else ""
    taken = {c.name for c in kept}
    outputs: list[tuple[Column, Term]] = []
    found: list[Column] = []
    for field, term in zip(fields, terms, strict=True):
        if isinstance(term, Column) and (term.name not in taken or not exact):
            column = term
        else:
            column = context.column(prefix + field.name, field.type, nested.can_be_null(term))
        found.append(column)
        if column.name not in taken:
            taken.add(column.name)
            outputs.append((column, term))
    others = [(c, c) for c in columns(plan) if rest and c.name not in taken]
    result = build.project(plan, (*((c, c) for c in kept), *outputs, *others))
    return result, tuple(found)


# --- comprehensions ---------------------------------------------------------------------------------------------


def comprehension(plan: Plan, query: calculus.Comprehension, context: Context) -> Extended:
    """Qualifier by qualifier, each over the columns of those before it."""
    bindings: dict[str, Term] = {}
    qualifiers, head = query.qualifiers, query.head
    filters: list[Term] = []
    for i, qualifier in enumerate(qualifiers):
        match qualifier:
            case calculus.Generator(variable, source):
                source = substitute(source, bindings)
                if columns_in(source):
                    plan = apply_filters(plan, filters, context)
                plan, terms = extend(plan, source, context, variable.name)
                plan, record = bind(plan, variable, terms, context)
                bindings[variable.name] = record
            case calculus.OuterGenerator(variable):
                rest = calculus.Comprehension("bag", head, qualifiers[i + 1 :], query.fields)
                instead = context.variables.fresh(variable.name)
                rest, marked = bare(rest, variable.name, instead)
                plan = apply_filters(plan, filters, context)
                plan, bound = padding.outer_generator(plan, qualifier, bindings, marked, instead, context)
                bindings.update(bound)
                return comprehension(plan, substitute_bindings(rest, bindings), context)
            case calculus.Unnest(variable, collection):
                plan = apply_filters(plan, filters, context)
                plan, (term,) = nested.attach(plan, (substitute_term(collection, bindings),), context)
                members = variable.type.members if isinstance(variable.type, Struct) else ()
                elements = tuple(
                    context.column(f"{variable.name}.{m.name}", m.type, m.nullable or qualifier.outer)
                    for m in members
                )
                plan = Unnest(plan, term, elements, qualifier.outer, qualifier.ordinal, qualifier.inline)
                bindings[variable.name] = record_of(members, elements)
            case calculus.Filter(condition):
                filters.extend(conjuncts(substitute_term(condition, bindings)))
            case _:
                assert_never(qualifier)
    plan = apply_filters(plan, filters, context)
    plan, terms = nested.attach(plan, tuple(substitute_term(t, bindings) for t in head), context)
    return add_opaque_columns(plan, terms, query.fields, context)


def add_opaque_columns(plan: Plan, terms: Terms, fields: calculus.Fields, context: Context) -> Extended:
    """What opaque functions compute gets columns of its own, here and nowhere else."""
    added = [
        (context.column(f.name, t.type, nested.can_be_null(t)), t)
        for f, t in zip(fields, terms, strict=True)
        if is_opaque(t)
    ]
    if not added:
        return plan, terms
    columns_of = {t: c for c, t in added}
    return build.add_columns(plan, added), tuple(columns_of.get(t, t) for t in terms)


def substitute_bindings(
    query: calculus.Comprehension, bindings: Mapping[str, Term]
) -> calculus.Comprehension:
    result = substitute(query, bindings)
    assert isinstance(result, calculus.Comprehension)
    return result


def apply_filters(plan: Plan, filters: list[Term], context: Context) -> Plan:
    """Apply what has been collected. Plain conditions first: they are cheap, and semi joins see fewer rows."""
    taken, filters[:] = tuple(filters), []
    plan = build.select(plan, conjunction([c for c in taken if not has_nested(c)]))
    for condition in taken:
        if has_nested(condition):
            plan = nested.where(plan, condition, context)
    return plan


def bind(plan: Plan, variable: Variable, terms: Terms, context: Context) -> tuple[Plan, Term]:
    """The record that a variable stands for. Large terms are computed once."""
    fields = variable.type.members if isinstance(variable.type, Struct) else ()
    added: list[tuple[Column, Term]] = []
    bound: list[Term] = []
    for field, term in zip(fields, terms, strict=True):
        if sum(1 for _ in term_nodes(term)) > LARGE:
            column = context.column(f"{variable.name}.{field.name}", field.type, nested.can_be_null(term))
            added.append((column, term))
            term = column
        bound.append(term)
    return (build.add_columns(plan, added) if added else plan), record_of(fields, tuple(bound))


# --- other kinds ------------------------------------------------------------------------------------------------


def values(domain: Plan, query: calculus.Values, context: Context, name: str) -> Extended:
    outputs = field_columns(query.fields, context, name)
    if all(isinstance(t, Literal) for row in query.rows for t in row):
        rows = tuple(tuple(t.value for t in row if isinstance(t, Literal)) for row in query.rows)
        return build.join(domain, Constant(rows, outputs)), outputs
    plans = []
    for row in query.rows:
        single = calculus.Comprehension("bag", row, (), query.fields)
        plans.append(branch(domain, single, context, name))
    return build.union(plans, columns(domain) + outputs), outputs


def top(
    plan: Plan, partition: tuple[Column, ...], query: calculus.Top, terms: Terms, context: Context
) -> Extended:
    """The order is made total by the whole record, so that no later change of columns can change who is first."""
    bindings = {query.variable.name: record_of(query.source.fields, terms)}
    wanted = tuple(substitute_term(key.term, bindings) for key in query.order)
    plan, found = nested.attach(plan, wanted, context)
    order = [replace(key, term=term) for key, term in zip(query.order, found, strict=True)]
    return Top(plan, partition, total(order, terms, partition), query.limit, query.offset), terms


def total(order: list[SortKey], terms: Terms, partition: Terms) -> tuple[SortKey, ...]:
    """The order, ties settled by further terms, ascending; what is the same in a whole partition settles none."""
    seen = {key.term for key in order} | set(partition)
    ties: list[SortKey] = []
    for term in terms:
        if term not in seen and not isinstance(term, Literal):
            seen.add(term)
            ties.append(SortKey(term))
    return (*order, *ties)
