"""Aggregates, quantifiers and membership: from a collection to a value.

Aggregates pass over nil and UNDEFINED; `count` counts all. Of nothing `count` and `sum` are 0, `min`, `max` and `avg`
UNDEFINED. Quantifiers are three-valued: a true (a false) instance decides.

    sum(bag()) = 0      max(bag()) = UNDEFINED      sum(list(1, nil)) = 1      count(list(1, nil)) = 2
    exists e in Employees: e.age > 40               true = some bag{ (value: e.age > 40) | e <- Employees }
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import Exists, Filter, Group, Quantified, Scalar
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    INT,
    Boolean,
    Date,
    Interval,
    Member,
    Null,
    String,
    Struct,
    Time,
    Timestamp,
)
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.forms import article, comprehension, guard_value, one
from evercurrent.frontend.oql.kinds import TRUTH, Atom, NoCommonKind, common, is_nil
from evercurrent.frontend.oql.operators import ORDER, comparable, equal_terms, true_where_equal
from evercurrent.frontend.oql.values import Expr, Many, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import FALSE, TRUE
from evercurrent.term.nodes import Term, Variable
from evercurrent.term.nullable import nullable

AGGREGATES = ("count", "sum", "min", "max", "avg")


def aggregate_elements(context: Context, name: str, many: Many, place: Place | None) -> One:
    if name == "count":
        return guard_value(Atom(BIGINT), count(context, many), many.defined)
    element = one(context, many.element)
    if not isinstance(element.kind, Atom):
        raise wrong(f"{name} needs numbers or other scalars, not {article(element.kind)}", place)
    if name in ("sum", "avg") and isinstance(element.kind.type, String | Boolean | Date | Time | Timestamp):
        raise wrong(f"{name} needs numbers, not {element.kind}s", place)
    arg = build.cast(element.term, INT) if isinstance(element.kind.type, Null) else element.term
    found = fold(context, many, name, arg, place)
    if name == "sum":
        whole = isinstance(found.type, Interval)  # no number becomes one by a cast
        zero = build.lit(0, found.type) if whole else build.cast(build.lit(0), found.type)
        return guard_value(Atom(found.type), build.call("coalesce", found, zero), many.defined)
    return One(Atom(found.type), found, build.call("is_not_null", found))


def fold(context: Context, many: Many, name: str, arg: Term | None, place: Place | None = None) -> Term:
    """An aggregate function over the elements; without an argument, the count."""
    query = comprehension(many, [("value", build.lit(1, INT) if arg is None else arg)])
    variable = Variable(context.names.fresh("a"), Struct(query.fields))
    args = [] if arg is None else [build.field(variable, "value")]
    found = aggregate(name, args, place=place)
    group = Group(variable, query, (), (found,), (Member(name, found.type),))
    return Scalar(group, found.type, place)


def count(context: Context, many: Many) -> Term:
    return fold(context, many, "count", None)


def exists(many: Many) -> Term:
    return Exists(comprehension(many, [("value", build.lit(1, INT))]), BOOLEAN)


def where(many: Many, *conditions: Term) -> Many:
    """The elements that satisfy conditions in the scope of the collection."""
    kept = tuple(Filter(c) for c in conditions if c != TRUE)
    return replace(many, qualifiers=(*many.qualifiers, *kept))


# --- quantifiers ---------------------------------------------------------------------------------------------


def quantify(every: bool, many: Many, condition: One) -> One:
    """`exists x in many: condition`, or `for all`; the condition is in the scope of the collection."""
    value: Term
    if not nullable(condition.term):
        if every:
            value = build.negation(exists(where(many, build.negation(condition.term))))
        else:
            value = exists(where(many, condition.term))
    else:
        query = comprehension(many, [("value", condition.term)])
        value = Quantified("eq", every, (TRUE,), query, BOOLEAN)
    return One(TRUTH, value, _define_quantifier(value, TRUE, many, condition.defined))


def holds(every: bool, many: Many, condition: Term) -> Term:
    """The same, where only TRUE counts."""
    if every:
        return build.negation(exists(where(many, build.negation(build.call("coalesce", condition, FALSE)))))
    return exists(where(many, condition))


def compare_quantified(
    context: Context, operator: str, every: bool, left: Expr, many: Many, place: Place | None
) -> One:
    """`left operator some many`, or `all`."""
    element = many.element
    try:
        kind = common([left.kind, element.kind], context.schema)
    except NoCommonKind:
        raise wrong(f"{article(left.kind)} cannot be compared with {article(element.kind)}", place) from None
    a, b = comparable(context, left, element, kind)
    if operator in ("=", "!=") and (not isinstance(kind, Atom) or is_nil(left.kind) or is_nil(element.kind)):
        test = guard_value(TRUTH, equal_terms(a, b), build.conjunction([left.defined, element.defined]))
        return quantify(
            every, many, test if operator == "=" else replace(test, term=build.negation(test.term))
        )
    if not isinstance(kind, Atom):
        raise wrong(f"{article(kind)} has no order", place)
    name = {"=": "eq", "!=": "ne", **ORDER}[operator]
    value = Quantified(name, every, (a,), comprehension(many, [("value", b)]), BOOLEAN)
    return One(TRUTH, value, _define_quantifier(value, left.defined, many, element.defined))


def _define_quantifier(value: Term, own: Term, many: Many, each: Term) -> Term:
    """Where a quantifier is defined: it is decided, or nothing that it looked at is UNDEFINED."""
    if own == TRUE and each == TRUE:
        return TRUE
    known = (
        own
        if each == TRUE
        else build.conjunction([own, build.negation(exists(where(many, build.negation(each))))])
    )
    return build.disjunction([build.call("is_not_null", value), known])


def member_of(context: Context, left: Expr, many: Many, place: Place | None) -> One:
    """`left in many`."""
    element = many.element
    try:
        kind = common([left.kind, element.kind], context.schema)
    except NoCommonKind:
        raise wrong(f"{article(left.kind)} cannot be in a {many.kind}", place) from None
    a, b = comparable(context, left, element, kind)
    equal = build.call("is_null", b) if is_nil(left.kind) else true_where_equal(b, a)
    defined = build.conjunction([left.defined, many.defined])
    return guard_value(TRUTH, exists(where(many, element.defined, equal)), defined)
