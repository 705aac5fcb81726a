"""A query that depends on outer rows, as a plan that does not, and a condition.

    dependent(plan, q) = (S, c)    with    q(row) = { s in S | c(row, s) }    for every row of the plan

Two ways (Neumann and Kemper, "Unnesting Arbitrary Queries"). *Pulling up*: where the query compares outer terms with
its own, `outer = inner`, the comparison becomes part of the condition; grouping, order and set operations on the way
then treat the inner side as a further key. It needs nothing of the outer plan, but holds also rows for outer values
that do not exist. *Over a domain*: the different values D of the outer columns are computed, the query is lowered
over D, and its rows are found again by null-safe equality. It always works.

    count{ l | l <- lineitem, l.orderkey = o.orderkey }
        pulled up        S = count of lineitem by l.orderkey                        c: o.orderkey = l.orderkey
    count{ l | l <- lineitem, l.price > o.price }
        over a domain    S = count of (D join lineitem on l.price > D.price) by D   c: o.price <=> D.price
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace
from typing import assert_never

from evercurrent.algebra import build
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering import grouping, nested, windows
from evercurrent.algebra.lowering.correlate import (
    Context,
    bare,
    columns_in,
    has_nested,
    interchangeable,
    is_closed,
    replace_columns,
)
from evercurrent.algebra.nodes import Join, Outer, Plan, Semi, SetOperation, Union, columns
from evercurrent.algebra.walk import rename_apart
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import record_of, substitute, substitute_term
from evercurrent.data.types import Struct
from evercurrent.term.build import conjunction, conjuncts, equate
from evercurrent.term.nodes import Call, Column, Field, Term

Lower = Callable[[Plan, calculus.Query, Context], tuple[Plan, tuple[Term, ...]]]


@dataclass(frozen=True, slots=True)
class Pulled:
    """`plan` with `terms` for the query's fields; `pairs` are (outer term, inner column, null-safe) that must be equal.

    `residual` are further conditions; those that read columns of `plan` rule out treating the pairs as keys.
    """

    plan: Plan
    terms: tuple[Term, ...]
    pairs: tuple[tuple[Term, Column, bool], ...] = ()
    residual: tuple[Term, ...] = ()

    @property
    def condition(self) -> Term:
        equal = [equate(outer, inner, null_safe) for outer, inner, null_safe in self.pairs]
        return conjunction([*equal, *self.residual])

    @property
    def keys(self) -> tuple[Column, ...]:
        return tuple(dict.fromkeys(column for _, column, _ in self.pairs))

    @property
    def kept(self) -> tuple[Column, ...]:
        """The columns of the plan that the condition reads."""
        read = columns_in(*self.residual)
        further = (c for c in columns(self.plan) if c.name in read)
        return tuple(dict.fromkeys((*self.keys, *further)))

    @property
    def known(self) -> dict[str, Term]:
        """Outer columns whose value an inner column has, in all rows that satisfy the condition."""
        return {
            outer.name: inner
            for outer, inner, _ in self.pairs
            if isinstance(outer, Column) and interchangeable(outer)
        }


def dependent(plan: Plan, query: calculus.Query, context: Context, keyed: bool = False) -> Pulled:
    """With `keyed`, all that relates the result to the plan are equal pairs (and conditions on the plan alone)."""
    return pull(query, context, keyed) or over_domain(plan, query, context)


def over_domain(
    plan: Plan, query: calculus.Query, context: Context, lower: Lower | None = None, exact: bool = False
) -> Pulled:
    """The query over the different values of the columns that it is correlated by.

    Values that no row of the plan has do no harm, and the part of the plan that the columns come from is cheaper to have
    twice than the whole; `exact` rules them out, where the query may fail for them.
    """
    outer = columns_in(query)
    copy, renamed = rename_apart(plan if exact else origin(plan, outer.keys()), context.columns)
    named = {name: context.column(name, column.type, column.nullable) for name, column in outer.items()}
    domain = build.distinct(
        build.project(
            copy,
            ((named[n], Column(renamed[n], c.type, c.nullable)) for n, c in outer.items()),
        )
    )
    result, terms = (lower or extending.over)(domain, replace_columns(query, named), context)
    pairs = tuple((column, named[name], column.nullable) for name, column in outer.items())
    return Pulled(result, terms, pairs)


def origin(plan: Plan, names: Set[str]) -> Plan:
    """A part of the plan that has every value of these columns that the plan has."""
    match plan:
        case Join(left, right):
            for side in (left, right):
                if names <= {c.name for c in columns(side)}:
                    return origin(side, names)
            return plan
        case Outer("left", left) | Semi(left):
            return origin(left, names) if names <= {c.name for c in columns(left)} else plan
        case _:
            return plan


def pull(query: calculus.Query, context: Context, keyed: bool) -> Pulled | None:
    """The query with its outer comparisons pulled up; None where something else depends on the outer row."""
    if not columns_in(query):
        plan, terms = extending.over(build.UNIT, query, context)
        return Pulled(plan, terms)
    match query:
        case calculus.Comprehension("bag"):
            return pull_comprehension(query, context, keyed)
        case calculus.Comprehension():
            inner = pull_comprehension(replace(query, monoid="bag"), context, True)
            if inner is None:
                return None
            plan, outputs = extending.materialize(inner.plan, inner.keys, inner.terms, query.fields, context)
            return replace(inner, plan=build.distinct(plan), terms=outputs)
        case calculus.Group(keys=(), sets=None):
            return None  # it has a record for every outer value, even where its source has none
        case calculus.Group(sets=None):
            return pull_group(query, context)
        case calculus.Group():
            return pull(grouping.expand_sets(query, context), context, keyed)
        case calculus.Window(source=source):
            inner = pull(source, context, True)
            if inner is None:
                return None
            known = replace_columns(replace(query, source=calculus.Values((), source.fields)), inner.known)
            if columns_in(known) or not isinstance(known, calculus.Window):
                return None
            query = replace(known, source=source)
            plan, terms = windows.window(inner.plan, inner.keys, query, inner.terms, context)
            return replace(inner, plan=plan, terms=terms)
        case calculus.Top(source=source):
            inner = pull(source, context, True)
            if inner is None:
                return None
            known = replace_columns(replace(query, source=calculus.Values((), source.fields)), inner.known)
            if columns_in(known) or not isinstance(known, calculus.Top):
                return None
            query = replace(known, source=source)
            plan, terms = extending.top(inner.plan, inner.keys, query, inner.terms, context)
            return replace(inner, plan=plan, terms=terms)
        case calculus.Union(inputs):
            return pull_branches(query, inputs, context)
        case calculus.SetOperation(left=left, right=right):
            return pull_branches(query, (left, right), context)
        case _:
            return None


def pull_group(query: calculus.Group, context: Context) -> Pulled | None:
    """Grouped by the pulled columns too; a group without keys then has no row where its source has none."""
    inner = pull(query.source, context, True)
    if inner is None:
        return None
    source = query.source
    known = replace_columns(replace(query, source=calculus.Values((), source.fields)), inner.known)
    if columns_in(known) or not isinstance(known, calculus.Group):
        return None
    query = replace(known, source=source)
    plan, terms = grouping.aggregate(inner.plan, inner.keys, query, inner.terms, context)
    return replace(inner, plan=plan, terms=terms)


def pull_branches(
    query: calculus.Union | calculus.SetOperation, inputs: tuple[calculus.Query, ...], context: Context
) -> Pulled | None:
    """All branches must be correlated by the same outer terms: the inner columns then line up."""
    branches: list[Pulled] = []
    for q in inputs:
        inner = pull(q, context, True)
        if inner is None or inner.residual:
            return None
        branches.append(inner)
    shape = {(outer, null_safe) for outer, _, null_safe in branches[0].pairs}
    if any(
        {(outer, null_safe) for outer, _, null_safe in b.pairs} != shape or len(b.pairs) != len(shape)
        for b in branches
    ):
        return None
    first = branches[0].pairs
    plans: list[Plan] = []
    for inner in branches:
        inner_of = {outer: column for outer, column, _ in inner.pairs}
        aligned = tuple(inner_of[outer] for outer, _, _ in first)
        if len(set(aligned)) != len(aligned):
            return None
        plan, _ = extending.materialize(inner.plan, aligned, inner.terms, query.fields, context, exact=True)
        plans.append(plan)
    keys = tuple(context.column(column.name, column.type, column.nullable) for _, column, _ in first)
    outputs = extending.field_columns(query.fields, context, "")
    pairs = tuple((outer, key, null_safe) for (outer, _, null_safe), key in zip(first, keys, strict=True))
    match query:
        case calculus.Union():
            return Pulled(Union(tuple(plans), keys + outputs), outputs, pairs)
        case calculus.SetOperation(kind, all):
            return Pulled(SetOperation(kind, all, plans[0], plans[1], keys + outputs), outputs, pairs)


def pull_comprehension(query: calculus.Comprehension, context: Context, keyed: bool) -> Pulled | None:
    """Generators stand alone; of the filters those that are local apply, the others are pulled up."""
    outer = columns_in(query).keys()
    ranged = _pull_generators(query, context, keyed, outer)
    if ranged is None:
        return None
    plan, bindings, conditions = ranged.plan, ranged.bindings, ranged.conditions
    pairs, residual = ranged.pairs, ranged.residual
    local: list[Term] = []
    mixed: list[Term] = []
    for condition in conditions:
        read = columns_in(condition).keys()
        if not read & outer:
            local.append(condition)
        elif read <= outer and not has_nested(condition):
            residual.append(condition)  # a condition on the outer row alone
        else:
            mixed.append(condition)
    plan = extending.apply_filters(plan, local, context)
    unsettled: list[Term] = []
    for condition in mixed:
        found = equality(condition, outer)
        if found is None:
            unsettled.append(condition)
            continue
        outside, inside, null_safe = found
        if not isinstance(inside, Column):
            column = context.column("key", inside.type)
            plan = build.add_columns(plan, [(column, inside)])
            inside = column
        pairs.append((outside, inside, null_safe))
    known = Pulled(plan, (), tuple(pairs)).known
    for condition in unsettled:
        inside = replace_columns(condition, known)
        if not (columns_in(inside).keys() & outer):
            plan = extending.apply_filters(plan, [inside], context)
        elif keyed or has_nested(condition):
            return None
        else:
            residual.append(condition)
    head = tuple(replace_columns(substitute_term(t, bindings), known) for t in query.head)
    if not is_closed(head, plan):
        return None
    plan, head = nested.attach(plan, head, context)
    return Pulled(plan, head, tuple(pairs), tuple(residual))


@dataclass(slots=True)
class _Ranged:
    """The generators of a comprehension as a plan, what its variables stand for, and its filters, not yet applied."""

    plan: Plan = build.UNIT
    bindings: dict[str, Term] = field(default_factory=dict)
    conditions: list[Term] = field(default_factory=list)
    pairs: list[tuple[Term, Column, bool]] = field(default_factory=list)
    residual: list[Term] = field(default_factory=list)


def _pull_generators(
    query: calculus.Comprehension, context: Context, keyed: bool, outer: Set[str]
) -> _Ranged | None:
    made = _Ranged()
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case calculus.Generator(variable, source):
                source = substitute(source, made.bindings)
                if not (columns_in(source).keys() & outer):
                    plan, terms = extending.extend(made.plan, source, context, variable.name)
                elif columns_in(source).keys() <= outer:
                    inner = pull(source, context, keyed)
                    if inner is None:
                        return None
                    plan, terms = build.join(made.plan, inner.plan), inner.terms
                    made.pairs += inner.pairs
                    made.residual += inner.residual
                else:
                    return None
                made.plan, made.bindings[variable.name] = extending.bind(plan, variable, terms, context)
            case calculus.Filter(condition):
                made.conditions += conjuncts(substitute_term(condition, made.bindings))
            case calculus.OuterGenerator(variable) | calculus.Unnest(variable):
                later = replace(query, qualifiers=query.qualifiers[i + 1 :])
                if bare(later, variable.name, variable.name)[1]:
                    return None
                fields = variable.type.members if isinstance(variable.type, Struct) else ()
                members = tuple(Field(variable, f.name, f.type) for f in fields)
                alone = calculus.Comprehension("bag", members, (qualifier,), fields)
                alone = extending.substitute_bindings(alone, made.bindings)
                if columns_in(alone).keys() & outer:
                    return None
                made.plan, terms = extending.comprehension(made.plan, alone, context)
                made.bindings[variable.name] = record_of(fields, terms)
            case _:
                assert_never(qualifier)
    return made


def equality(condition: Term, outer: Set[str]) -> tuple[Term, Term, bool] | None:
    """`outer term = inner term`, either way round, as (outer, inner, null-safe)."""
    match condition:
        case Call("eq" | "eqns" as function, (a, b)) if not has_nested(a, b):
            for outside, inside in ((a, b), (b, a)):
                reads_outer, reads_inner = columns_in(outside).keys(), columns_in(inside).keys()
                if reads_outer <= outer and reads_outer and not reads_inner & outer:
                    return outside, inside, function == "eqns"
    return None
