"""Nested queries of terms become columns, and conditions become semi joins.

As a value:

    scalar query       its row, joined; NULL where there is none ("single" raises where there are two)
    EXISTS q           whether some row is found
    x op SOME/ALL q    three-valued, read off the number of rows and NULLs, the least and the greatest value

As a condition, where only TRUE counts:

    EXISTS q           semi join                x IN q         semi join on equality
    NOT EXISTS q       anti join                x NOT IN q     anti join, where no NULL is in the way
"""

from __future__ import annotations

from evercurrent.algebra import build, keys
from evercurrent.algebra.lowering import dependent, quantify
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering.correlate import Context, columns_in, has_nested
from evercurrent.algebra.nodes import Aggregate, Outer, Plan, Semi, columns, make_nullable
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import record_of, rename_apart, substitute, substitute_term
from evercurrent.data.types import BIGINT, BOOLEAN
from evercurrent.errors import UnsupportedError
from evercurrent.term.build import FALSE, TRUE, call, case, conjunction, conjuncts, lit
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Call, Column, Lambda, Nested, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import children, with_children

Terms = tuple[Term, ...]


def can_be_null(term: Term) -> bool:
    return nullable(term)


def attach(plan: Plan, terms: Terms, context: Context) -> tuple[Plan, Terms]:
    """The plan with a column for every nested query in the terms, and the terms over it; rows are as many as before."""

    def visit(t: Term) -> Term:
        nonlocal plan
        match t:
            case calculus.Quantified(args=args):
                plan, term = value(plan, replace_args(t, tuple(map(visit, args))), context)
                return term
            case Nested():
                plan, term = value(plan, t, context)
                return term
            case Lambda(body=body) if has_nested(body):
                raise UnsupportedError("a query inside a lambda function")
            case _:
                old = children(t)
                new = tuple(map(visit, old))
                return t if all(a is b for a, b in zip(old, new, strict=True)) else with_children(t, new)

    found = tuple([visit(t) if has_nested(t) else t for t in terms])
    return plan, found


def rename_variables(query: calculus.Query, context: Context) -> calculus.Query:
    """A copy for a second use, its variables under fresh names."""
    return rename_apart(query, context.variables)


def replace_args(t: calculus.Quantified, args: Terms) -> calculus.Quantified:
    return calculus.Quantified(t.comparison, t.every, args, t.query, t.type)


def value(plan: Plan, nested: Nested, context: Context) -> tuple[Plan, Term]:
    """One nested query (whose own arguments hold none) as a term over an extended plan."""
    match nested:
        case calculus.Scalar(query):
            return scalar(plan, query, context)
        case calculus.Exists(query):
            return exists(plan, query, context)
        case calculus.Quantified():
            return quantify.lower_quantified(plan, nested, context)
        case _:
            raise AssertionError(f"a nested query of an unknown kind: {nested!r}")


# --- scalar queries ---------------------------------------------------------------------------------------------


def has_one_row(query: calculus.Query) -> bool:
    """Whether the query has exactly one record, whatever the data."""
    match query:
        case calculus.Group(keys=(), sets=None):
            return True
        case calculus.Values(rows):
            return len(rows) == 1
        case calculus.Comprehension(qualifiers=qualifiers):
            return all(isinstance(q, calculus.Generator) and has_one_row(q.source) for q in qualifiers)
        case calculus.Window(source=source):
            return has_one_row(source)
        case _:
            return False


def scalar(plan: Plan, query: calculus.Query, context: Context) -> tuple[Plan, Term]:
    if has_one_row(query):
        plan, (term,) = extending.extend(plan, query, context)
        return plan, term
    match query:
        case calculus.Comprehension(_, (head,), qualifiers) if all(
            isinstance(q, calculus.Filter) or (isinstance(q, calculus.Generator) and has_one_row(q.source))
            for q in qualifiers
        ):
            return filter_row(plan, head, qualifiers, context)
    pulled = dependent.pull(query, context, False)
    if pulled is None or not keys.at_most_one(pulled.plan, context.knowledge, pulled.keys):
        # Only outer values that exist may raise, so the check is made over them.
        exact = dependent.over_domain(plan, query, context, exact=True) if columns_in(query) else pulled
        assert exact is not None
        pulled = single(exact, query, context)
    right, (column,) = extending.materialize(pulled.plan, pulled.kept, pulled.terms, query.fields, context)
    if pulled.condition == TRUE and isinstance(right, Aggregate) and right.scalar:
        return build.join(plan, right), column
    return Outer("left", plan, right, pulled.condition), make_nullable((column,))[0]


def single(pulled: dependent.Pulled, query: calculus.Query, context: Context) -> dependent.Pulled:
    """The only row for each value of the keys; the aggregate raises where there are more."""
    (field,) = query.fields
    (term,) = pulled.terms
    column = context.column(field.name, field.type)
    plan = Aggregate(
        pulled.plan,
        tuple((c, c) for c in pulled.keys),
        ((column, AggregateTerm("single", (term,), field.type)),),
        scalar=not pulled.keys,
    )
    return dependent.Pulled(plan, (column,), pulled.pairs, pulled.residual)


def filter_row(
    plan: Plan, head: Term, qualifiers: tuple[calculus.Qualifier, ...], context: Context
) -> tuple[Plan, Term]:
    """One row that filters may drop (an aggregate under HAVING): the value where they hold, NULL elsewhere."""
    bindings: dict[str, Term] = {}
    conditions: list[Term] = []
    for qualifier in qualifiers:
        match qualifier:
            case calculus.Generator(variable, source):
                plan, terms = extending.extend(plan, substitute(source, bindings), context, variable.name)
                bindings[variable.name] = record_of(source.fields, terms)
            case calculus.Filter(condition):
                conditions.append(substitute_term(condition, bindings))
            case _:
                raise AssertionError(f"not a row: {qualifier!r}")
    plan, (condition, head) = attach(
        plan, (conjunction(conditions), substitute_term(head, bindings)), context
    )
    return plan, case([(condition, head)], lit(None, head.type))


# --- EXISTS -----------------------------------------------------------------------------------------------------


def for_existence(query: calculus.Query) -> calculus.Query:
    """A simpler query that is empty whenever this one is, and only then."""
    match query:
        case calculus.Comprehension(_, _, qualifiers):
            return calculus.Comprehension("bag", (), qualifiers, ())
        case calculus.Group(keys=keys, source=source, sets=None) if keys:
            return for_existence(source)
        case calculus.Window(source=source):
            return for_existence(source)
        case calculus.Top(source=source, limit=limit, offset=0) if limit is None or limit > 0:
            return for_existence(source)
        case _:
            return query


def exists(plan: Plan, query: calculus.Query, context: Context) -> tuple[Plan, Term]:
    query = for_existence(query)
    if has_one_row(query):
        return plan, TRUE
    pulled = dependent.dependent(plan, query, context, keyed=True)
    marker = context.marker()
    if pulled.keys:
        right = build.add_columns(build.group_by(pulled.plan, pulled.keys), [(marker, TRUE)])
    else:
        rows = context.column("rows", BIGINT, False)
        counted = Aggregate(pulled.plan, (), (build.count_rows(rows),), scalar=True)
        right = build.project(counted, [(marker, call("gt", rows, lit(0, BIGINT)))])
    if pulled.condition == TRUE:
        return build.join(plan, right), marker
    found = Column(marker.name, BOOLEAN, True)
    return Outer("left", plan, right, pulled.condition), call("coalesce", found, FALSE)


# --- conditions -------------------------------------------------------------------------------------------------


def where(plan: Plan, condition: Term, context: Context) -> Plan:
    """Those rows of the plan for which a condition with nested queries is TRUE."""
    parts = conjuncts(condition)
    if len(parts) > 1:
        for part in parts:
            plan = where(plan, part, context) if has_nested(part) else build.select(plan, part)
        return plan
    before = columns(plan)
    match condition:
        case calculus.Exists(query):
            return semi(plan, query, (), False, context)
        case Call("not", (calculus.Exists(query),)):
            return semi(plan, query, (), True, context)
        case Call("not", (Call("not", (inner,)),)):
            return where(plan, inner, context)
        case calculus.Quantified("eq", False, args, query):
            plan, args = attach(plan, args, context)
            plan = semi(plan, query, args, False, context)
        case calculus.Quantified("ne", True, args, query):
            plan = not_in(plan, args, query, context)
        case Call("not", (calculus.Quantified("eq", False, args, query),)):
            plan = not_in(plan, args, query, context)
        case _:
            plan, (term,) = attach(plan, (condition,), context)
            plan = build.select(plan, term)
    return build.project(plan, ((c, c) for c in before))


def semi(plan: Plan, query: calculus.Query, args: Terms, anti: bool, context: Context) -> Plan:
    """Rows for which the query has a record (whose fields equal the arguments); `anti`: has none."""
    if not args:
        query = for_existence(query)
        if has_one_row(query):
            return build.empty(columns(plan)) if anti else plan
    pulled = dependent.dependent(plan, query, context)
    equal = [call("eq", arg, term) for arg, term in zip(args, pulled.terms if args else (), strict=True)]
    return Semi(plan, pulled.plan, conjunction([*equal, pulled.condition]), anti)


def not_in(plan: Plan, args: Terms, query: calculus.Query, context: Context) -> Plan:
    """Law. `x NOT IN q` is TRUE where q is empty, or neither x nor any value of q is NULL and none of them is x."""
    plan, args = attach(plan, args, context)
    if not any(map(can_be_null, args)) and not any(f.nullable for f in query.fields):
        return semi(plan, query, args, True, context)
    if len(args) == 1:
        plan, summary = quantify.statistics(plan, query, context)
        sound = call("and", call("not", summary.has_null), call("is_not_null", args[0]))
        plan = build.select(plan, call("or", summary.empty, sound))
        return semi(plan, query, args, True, context)
    # A row with a NULL in it stands in the way only of rows that agree elsewhere: compared pair by pair.
    pulled = dependent.dependent(plan, query, context)
    equal = conjunction([call("eq", arg, term) for arg, term in zip(args, pulled.terms, strict=True)])
    conditions = [call("coalesce", equal, TRUE), pulled.condition]
    return Semi(plan, pulled.plan, conjunction(conditions), True)
