"""Laws of filters. A filter keeps what makes its condition TRUE; FALSE and NULL are the same to it.

M{ e | p, a AND b, q }                       =  M{ e | p, a, b, q }
M{ e | p, TRUE, q }                          =  M{ e | p, q }
M{ e | p, FALSE, q }                         =  {}                           (likewise NULL)
M{ e | p, v <-outer s on c, q, f }           =  M{ e | p, v <- s, c, q, f }  where f is not TRUE when v is NULL
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.laws.generators import with_binding
from evercurrent.calculus.nodes import (
    Comprehension,
    Filter,
    Generator,
    OuterGenerator,
    Qualifier,
    Query,
    Values,
)
from evercurrent.term.build import TRUE, conjuncts
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.nodes import Call, Cast, Field, Literal, Term, Variable


def split_filters(query: Query) -> Query | None:
    """M{ e | p, a AND b, q } = M{ e | p, a, b, q }; a filter TRUE is dropped."""
    if not isinstance(query, Comprehension):
        return None
    if not any(isinstance(q, Filter) and conjuncts(q.condition) != (q.condition,) for q in query.qualifiers):
        return None
    split: list[Qualifier] = []
    for qualifier in query.qualifiers:
        if isinstance(qualifier, Filter):
            split.extend(Filter(c) for c in conjuncts(qualifier.condition))
        else:
            split.append(qualifier)
    return replace(query, qualifiers=tuple(split))


def drop_repeated_filters(query: Query) -> Query | None:
    """M{ e | p, f, q, f, r } = M{ e | p, f, q, r }; names are unique, so equal filters mean the same."""
    if not isinstance(query, Comprehension):
        return None
    seen: set[Term] = set()
    kept: list[Qualifier] = []
    for qualifier in query.qualifiers:
        if isinstance(qualifier, Filter):
            if qualifier.condition in seen:
                continue
            seen.add(qualifier.condition)
        kept.append(qualifier)
    return replace(query, qualifiers=tuple(kept)) if len(kept) < len(query.qualifiers) else None


def filter_nothing(query: Query) -> Query | None:
    """M{ e | p, FALSE, q } = {}; NULL likewise."""
    if not isinstance(query, Comprehension):
        return None
    for qualifier in query.qualifiers:
        match qualifier:
            case Filter(Literal(False | None)):
                return Values((), query.fields)
            case _:
                pass
    return None


def outer_to_inner(query: Query) -> Query | None:
    """M{ e | p, v <-outer s on c, q, f } = M{ e | p, v <- s, c, q, f } where f is not TRUE when v is NULL."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        if isinstance(qualifier, OuterGenerator):
            variable = qualifier.variable
            later = [q.condition for q in query.qualifiers[i + 1 :] if isinstance(q, Filter)]
            if any(rejects_null(f, variable.name) for f in later):
                found = replace(variable, nullable=False)
                condition = () if qualifier.on == TRUE else (Filter(qualifier.on),)
                return with_binding(
                    query, i, (Generator(found, qualifier.source), *condition), variable, found
                )
    return None


def rejects_null(condition: Term, variable: str) -> bool:
    """Whether the condition cannot be TRUE when the variable is NULL."""
    match condition:
        case Call("and", args):
            return any(rejects_null(a, variable) for a in args)
        case Call("or", args):
            return all(rejects_null(a, variable) for a in args)
        case Call("is_not_null", (arg,)):
            return is_null_with(arg, variable)
        case Call("not", (Call("is_null", (arg,)),)):
            return is_null_with(arg, variable)
        case _:
            return is_null_with(condition, variable)


def is_null_with(term: Term, variable: str) -> bool:
    """Whether the term is NULL whenever the variable is."""
    match term:
        case Variable(name):
            return name == variable
        case Field(of) | Cast(of):
            return is_null_with(of, variable)
        case Call("and" | "or", args):
            return all(is_null_with(a, variable) for a in args)
        case Call(function, args):
            entry = FUNCTIONS[function]
            return entry.strict and any(
                is_null_with(a, variable) for i, a in enumerate(args) if i not in entry.lambdas
            )
        case Literal(value):
            return value is None
        case _:
            return False
