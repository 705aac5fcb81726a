"""Truth: what Python takes for true, and what `and`, `or`, `not` and conditional expressions make of it.

a and b        the first that is not true, else the last; as a condition: both are true
x in `where`   only TRUE counts: a condition that is NULL, where Python would have raised, keeps no row
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evercurrent.calculus.nodes import Exists
from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    String,
)
from evercurrent.frontend.python.operations import kind_of
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, members_of, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Call, Literal, Term
from evercurrent.term.nullable import nullable

LOGIC = frozenset(("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "eqns", "in_list"))


def truth(value: Any) -> Term:
    """Whether Python takes a value for true, as a condition."""
    if hasattr(value, "_as_truth_"):
        found: Term = value._as_truth_()
        return found
    if not isinstance(value, Symbol):
        members = members_of(value)
        return build.lit(bool(value)) if members is None else build.lit(bool(members))
    term = value._term
    if value._missing is not None:
        return build.negation(value._missing)
    if value._truth is not None:
        return value._truth
    match term.type:
        case Boolean():
            if _is_logic(term):
                return term
            return build.call("coalesce", term, build.lit(False)) if nullable(term) else term
        case Null():
            return build.lit(False)
        case Integer() | Float() | Decimal():
            return make_known(term, build.call("ne", term, build.lit(0)))
        case String():
            return make_known(term, build.call("ne", term, build.lit("")))
        case Array() | Map():
            return make_known(term, build.call("gt", build.call("size", term), build.lit(0)))
        case Interval():
            return make_known(term, build.call("ne", term, Literal(0, term.type)))
        case Binary():
            return make_known(term, build.call("gt", build.call("length", term), build.lit(0)))
        case _:
            return build.call("is_not_null", term)


def _is_logic(term: Term) -> bool:
    """Whether a term is NULL only where Python would have raised."""
    return isinstance(term, Exists) or (isinstance(term, Call) and term.function in LOGIC)


def make_known(term: Term, condition: Term) -> Term:
    return build.conjunction([build.call("is_not_null", term), condition]) if nullable(term) else condition


def condition(value: Any) -> Term:
    """A condition of `where`: only TRUE counts, so null-safe equality is plain wherever one side is never NULL."""
    return build.conjunction(_plain(c) for c in build.conjuncts(truth(value)))


def _plain(term: Term) -> Term:
    match term:
        case Call("eqns", (a, b)) if not nullable(a) or not nullable(b):
            return build.call("eq", a, b)
        case _:
            return term


def both(values: list[Any]) -> Any:
    """`a and b` as a value: the first that is not true, else the last."""
    return _choose(
        values, build.conjunction(map(truth, values)), lambda first, rest: (first, both(rest), first)
    )


def either(values: list[Any]) -> Any:
    """`a or b` as a value: the first that is true, else the last."""
    return _choose(
        values, build.disjunction(map(truth, values)), lambda first, rest: (first, first, either(rest))
    )


def _choose(
    values: list[Any], decision: Term, choice: Callable[[Any, list[Any]], tuple[Any, Any, Any]]
) -> Any:
    first, *rest = values
    if not rest:
        return first
    if all(_is_boolean(v) for v in values):
        return Symbol(decision)
    try:
        value = conditional(*choice(first, rest))
    except Resists:
        return Condition(decision)
    if isinstance(value, Symbol):
        object.__setattr__(value, "_truth", decision)
    return value


@dataclass(frozen=True)
class Condition:
    """`a and b` of values that have no type in common: it can be asked, not computed with."""

    decision: Term
    _symbolic_ = True

    def _as_truth_(self) -> Term:
        return self.decision

    def _as_term_(self) -> Term:
        raise Resists("`and` or `or` between values of different types is used as a value")


def _is_boolean(value: Any) -> bool:
    if isinstance(value, Symbol):
        term = value._term
        return isinstance(term.type, Boolean) and (not nullable(term) or _is_logic(term))
    return isinstance(value, bool) or hasattr(value, "_as_truth_")


def negate(value: Any) -> Symbol:
    """`not value`."""
    return Symbol(build.negation(truth(value)))


def conditional(test: Any, value: Any, otherwise: Any) -> Any:
    """`value if test else otherwise`; rows are chosen member by member."""
    decision = truth(test)
    if isinstance(decision, Literal):
        return value if decision.value else otherwise
    ours, theirs = members_of(value), members_of(otherwise)
    if ours is not None and theirs is not None and len(ours) == len(theirs):
        parts = [conditional(Symbol(decision), a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True)]
        if type(value) is type(otherwise):
            return _rebuild(value, [n for n, _ in ours], parts)
    shape = value._shape if isinstance(value, Symbol) else None
    kinds = {kind_of(term_of(v).type) for v in (value, otherwise)} - {"null"}
    if len(kinds) > 1:
        raise Resists("a choice between values of different types")
    return Symbol(build.case([(decision, term_of(value))], term_of(otherwise)), shape)


def _rebuild(value: Any, names: list[str], parts: list[Any]) -> Any:
    if isinstance(value, dict):
        return dict(zip(names, parts, strict=True))
    if type(value) is tuple:
        return tuple(parts)
    return type(value)(**dict(zip(names, parts, strict=True)))
