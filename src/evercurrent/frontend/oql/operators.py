"""Arithmetic, comparison and logic of values that may be nil or UNDEFINED.

A function of values is defined where all of them are. `and` and `or` are defined as soon as one operand decides. Equality of
objects, structs and collections, and any comparison with the literal nil, is two-valued: nil equals nil.

    1 + nil = nil            1 + UNDEFINED = UNDEFINED            true or UNDEFINED = true            nil = nil is true
"""

from __future__ import annotations

from evercurrent.data.types import Boolean, Null, String
from evercurrent.errors import QueryError
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.forms import article, guard_value, one, term_as
from evercurrent.frontend.oql.kinds import TRUTH, Atom, Kind, NoCommonKind, Obj, common, is_nil
from evercurrent.frontend.oql.values import Expr, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.build import FALSE, TRUE
from evercurrent.term.nodes import Literal, Term
from evercurrent.term.nullable import nullable

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "div": "idiv", "mod": "mod", "||": "concat"}
ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def function(context: Context, name: str, args: list[Expr], place: Place | None) -> One:
    """A strict function of scalars."""
    values = [atom(context, a, place) for a in args]
    term = build.call(name, *(v.term for v in values), place=place)
    return One(Atom(term.type), term, all_defined(values))


def otherwise(context: Context, left: Expr, right: Expr, place: Place | None) -> One:
    """`nvl(left, right)`: the left value, or the right one where the left is nil or UNDEFINED."""
    try:
        kind = common([left.kind, right.kind], context.schema)
    except NoCommonKind:
        raise wrong(f"{article(left.kind)} and {article(right.kind)} do not go together", place) from None
    if not isinstance(kind, Atom | Obj):
        raise wrong(f"a scalar or an object is needed here, not {article(kind)}", place)
    a, b = comparable(context, left, right, kind)
    try:
        term = build.call("coalesce", a, b, place=place)
    except QueryError as problem:
        problem.place = problem.place or place
        raise
    defined = build.disjunction([build.call("is_not_null", a), right.defined])
    return One(
        kind if isinstance(kind, Obj) else Atom(term.type), term, TRUE if right.defined == TRUE else defined
    )


def atom(context: Context, expr: Expr, place: Place | None) -> One:
    value = one(context, expr)
    if not isinstance(value.kind, Atom):
        raise wrong(f"a scalar is needed here, not {article(value.kind)}", place)
    return value


def all_defined(values: list[One]) -> Term:
    return build.conjunction(v.defined for v in values)


def arithmetic(context: Context, operator: str, left: Expr, right: Expr, place: Place | None) -> One:
    a, b = atom(context, left, place), atom(context, right, place)
    name = ARITHMETIC[operator]
    if name == "add" and (isinstance(a.kind, Atom) and isinstance(b.kind, Atom)):
        if isinstance(a.kind.type, String) or isinstance(b.kind.type, String):
            name = "concat"
            if not all(isinstance(t, String | Null) for t in (a.kind.type, b.kind.type)):
                raise wrong(f"{article(a.kind)} and {article(b.kind)} cannot be added", place)
    return function(context, name, [a, b], place)


# --- logic ---------------------------------------------------------------------------------------------------


def truth(context: Context, expr: Expr, place: Place | None) -> One:
    """A condition."""
    value = one(context, expr)
    if isinstance(value.kind, Atom) and isinstance(value.kind.type, Boolean | Null):
        return One(TRUTH, build.cast(value.term, TRUTH.type), value.defined)
    raise wrong(f"a condition is needed here, not {article(value.kind)}", place)


def logic(operator: str, left: One, right: One) -> One:
    conjunctive = operator in ("and", "andthen")
    if conjunctive:
        term = build.conjunction([left.term, right.term])
    else:
        term = build.disjunction([left.term, right.term])
    defined = build.conjunction([left.defined, right.defined])
    if defined != TRUE:
        decided = build.call("coalesce", build.negation(term) if conjunctive else term, FALSE)
        defined = build.disjunction([defined, decided])
    return One(TRUTH, term, defined)


def negate(value: One) -> One:
    return One(TRUTH, build.negation(value.term), value.defined)


# --- comparison ----------------------------------------------------------------------------------------------


def compare_order(context: Context, operator: str, left: Expr, right: Expr, place: Place | None) -> One:
    return One(
        TRUTH,
        (found := function(context, ORDER[operator], [left, right], place)).term,
        found.defined,
    )


def same(context: Context, left: Expr, right: Expr, place: Place | None) -> One:
    """`left = right`."""
    defined = build.conjunction([left.defined, right.defined])
    for value, other in ((left, right), (right, left)):
        if is_nil(other.kind):
            return guard_value(TRUTH, build.call("is_null", one(context, value).term), defined)
    try:
        kind = common([left.kind, right.kind], context.schema)
    except NoCommonKind:
        raise wrong(f"{article(left.kind)} cannot be compared with {article(right.kind)}", place) from None
    a, b = comparable(context, left, right, kind)
    try:
        if isinstance(kind, Atom):
            return One(TRUTH, build.call("eq", a, b, place=place), defined)
        return guard_value(TRUTH, equal_terms(a, b), defined)
    except QueryError as problem:
        if problem.place is None:
            problem.place = place
        raise


def comparable(context: Context, left: Expr, right: Expr, kind: Kind) -> tuple[Term, Term]:
    """Two values as terms of one kind; identities can be compared whatever the classes."""
    if isinstance(kind, Obj) and not is_nil(left.kind) and not is_nil(right.kind):
        return one(context, left).term, one(context, right).term
    return term_as(context, left, kind), term_as(context, right, kind)


def equal_terms(a: Term, b: Term) -> Term:
    """Two-valued equality, nil equal to nil."""
    if isinstance(a, Literal) and a.value is None:
        return build.call("is_null", b)
    both = nullable(a) or nullable(b)
    return build.call("eqns" if both else "eq", a, b)


def true_where_equal(a: Term, b: Term) -> Term:
    """What is TRUE where two values are equal; otherwise it may as well be NULL."""
    return build.call("eqns" if nullable(a) and nullable(b) else "eq", a, b)
