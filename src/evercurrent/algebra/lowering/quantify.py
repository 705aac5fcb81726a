"""`x op SOME q` and `x op ALL q` as values, exactly in three-valued logic.

With e: q is empty, u: x is NULL or q holds a NULL, and least and greatest of the values that are not NULL,

    x = SOME q     TRUE if x is among them, else NULL if u and not e, else FALSE
    x < SOME q     TRUE if x < greatest,    else NULL if u and not e, else FALSE
    x < ALL q      TRUE if e, else FALSE if not x < least, else NULL if u, else TRUE
    x = ALL q      TRUE if e, else FALSE if x <> least or x <> greatest, else NULL if u, else TRUE

and `x <> SOME q` is not `x = ALL q`, `x <> ALL q` is not `x = SOME q`. Rows of several values are compared one by one,
and the comparisons that are TRUE and NULL are counted.
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.lowering import extend as extending
from evercurrent.algebra.lowering import nested
from evercurrent.algebra.lowering.correlate import Context, columns_in
from evercurrent.algebra.nodes import Plan, columns
from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.scope import row_type
from evercurrent.data.types import BIGINT, BOOLEAN, Member
from evercurrent.term.build import FALSE, TRUE, call, case, conjunction, disjunction, lit
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Field, Term
from evercurrent.term.nullable import nullable

UNKNOWN = lit(None, BOOLEAN)


def lower_quantified(plan: Plan, term: calculus.Quantified, context: Context) -> tuple[Plan, Term]:
    """The value of a comparison whose arguments hold no nested queries."""
    if len(term.args) > 1:
        return by_counting(plan, term, context)
    (x,) = term.args
    query = term.query
    match term.comparison, term.every:
        case "eq", False:
            return among(plan, x, query, context)
        case "ne", True:
            plan, value = among(plan, x, query, context)
            return plan, call("not", value)
        case "eq" | "ne", _:
            plan, summary = statistics(plan, query, context)
            differs = [call("ne", x, summary.least), call("ne", x, summary.greatest)]
            value = every(x, disjunction(differs), summary)
            return plan, value if term.comparison == "eq" else call("not", value)
        case comparison, False:
            plan, summary = statistics(plan, query, context)
            bound = summary.greatest if comparison in ("lt", "le") else summary.least
            return plan, some(x, call(comparison, x, bound), summary)
        case comparison, _:
            plan, summary = statistics(plan, query, context)
            bound = summary.least if comparison in ("lt", "le") else summary.greatest
            return plan, every(x, call("not", call(comparison, x, bound)), summary)


class Summary:
    """What is known of the values of a query: terms over the plan that it was joined to."""

    def __init__(self, empty: Term, has_null: Term, least: Term, greatest: Term) -> None:
        self.empty = empty
        self.has_null = has_null
        self.least = least
        self.greatest = greatest


def some(x: Term, found: Term, summary: Summary) -> Term:
    unknown = conjunction([call("not", summary.empty), disjunction([call("is_null", x), summary.has_null])])
    return case([(found, TRUE), (unknown, UNKNOWN)], FALSE)


def every(x: Term, refuted: Term, summary: Summary) -> Term:
    unknown = disjunction([call("is_null", x), summary.has_null])
    return case([(summary.empty, TRUE), (refuted, FALSE), (unknown, UNKNOWN)], TRUE)


def among(plan: Plan, x: Term, query: calculus.Query, context: Context) -> tuple[Plan, Term]:
    """`x IN query` as a value."""
    (field,) = query.fields
    record = context.variable("v", row_type(query))
    equal = call("eq", x, Field(record, field.name, field.type, field.nullable))
    matches = calculus.Comprehension(
        "bag", (), (calculus.Generator(record, query), calculus.Filter(equal)), ()
    )
    if not nullable(x) and not field.nullable:
        return nested.exists(plan, matches, context)
    plan, summary = statistics(plan, query, context)
    plan, found = nested.exists(plan, nested.rename_variables(matches, context), context)
    return plan, some(x, found, summary)


def statistics(plan: Plan, query: calculus.Query, context: Context) -> tuple[Plan, Summary]:
    """The plan's rows, each with a summary of the values that the query has for it."""
    (field,) = query.fields
    source = nested.rename_variables(query, context)
    record = context.variable("v", row_type(source))
    value = Field(record, field.name, field.type, field.nullable)
    fields = (
        Member("rows", BIGINT, False),
        Member("values", BIGINT, False),
        Member("least", field.type),
        Member("greatest", field.type),
    )
    aggregates = (
        AggregateTerm("count", (), BIGINT),
        AggregateTerm("count", (value,), BIGINT),
        AggregateTerm("min", (value,), field.type),
        AggregateTerm("max", (value,), field.type),
    )
    group = calculus.Group(record, source, (), aggregates, fields)
    summary = context.variable("summary", row_type(group))
    rows, values, least, greatest = (Field(summary, f.name, f.type, f.nullable) for f in fields)
    head = (call("eq", rows, lit(0, BIGINT)), call("lt", values, rows), least, greatest)
    shown = (Member("empty", BOOLEAN, False), Member("has_null", BOOLEAN, False), *fields[2:])
    whole = calculus.Comprehension("bag", head, (calculus.Generator(summary, group),), shown)
    if columns_in(query):
        plan, terms = extending.extend(plan, whole, context)
    else:
        # Below the join: it then changes only when an answer does, not with every row that is counted.
        right = extending.lower_alone(whole, context)
        terms = columns(right)
        plan = build.join(plan, right)
    return plan, Summary(*terms)


def by_counting(plan: Plan, term: calculus.Quantified, context: Context) -> tuple[Plan, Term]:
    record = context.variable("v", row_type(term.query))
    pairs = zip(term.args, term.query.fields, strict=True)
    equal = conjunction([call("eq", arg, Field(record, f.name, f.type, f.nullable)) for arg, f in pairs])
    compared = equal if term.comparison == "eq" else call("not", equal)
    outcome = Member("outcome", BOOLEAN)
    outcomes = calculus.Comprehension(
        "bag", (compared,), (calculus.Generator(record, term.query),), (outcome,)
    )
    each = context.variable("each", row_type(outcomes))
    value = Field(each, outcome.name, BOOLEAN)
    decisive = call("not", value) if term.every else value
    fields = Member("decided", BIGINT, False), Member("unknown", BIGINT, False)
    aggregates = (
        AggregateTerm("count", (), BIGINT, where=decisive),
        AggregateTerm("count", (), BIGINT, where=call("is_null", value)),
    )
    group = calculus.Group(each, outcomes, (), aggregates, fields)
    plan, (decided, unknown) = extending.extend(plan, group, context)
    zero = lit(0, BIGINT)
    branches = [(call("gt", decided, zero), lit(not term.every)), (call("gt", unknown, zero), UNKNOWN)]
    return plan, case(branches, lit(term.every))
