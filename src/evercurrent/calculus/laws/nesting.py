"""Laws of queries inside terms. "Is there a record" is the monoid OR: it is idempotent, and looks at no record.

exists M{ e | q }                        =  exists bag{ () | q }
exists bag{ () | p, exists bag{ () | r }, q }  =  exists bag{ () | p, r, q }
set{ e | p, exists bag{ () | r }, q }    =  set{ e | p, r, q }
exists {}  =  FALSE        exists {(t)}  =  TRUE        exists q order by ... limit n  =  exists q    (n > 0)
filter x IN q                            =  filter exists bag{ () | v <- q, x = v }    (a filter asks only for TRUE)
NOT (x = SOME q)                         =  x <> ALL q                  (and for the other comparisons)
(select e)                               =  e
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Generator,
    Group,
    Qualifier,
    Quantified,
    Query,
    Scalar,
    SetOperation,
    Top,
    Values,
    Window,
)
from evercurrent.calculus.scope import Names, row_type, substitute_qualifiers, variable_names
from evercurrent.data.types import BOOLEAN
from evercurrent.term.build import FALSE, TRUE, call, cast, field
from evercurrent.term.nodes import Call, Literal, Term, Variable

OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


# --- terms -------------------------------------------------------------------------------------------------


def exists_of_known(term: Term) -> Term | None:
    """exists {} = FALSE, exists {(t)} = TRUE; an aggregation without keys always has a record."""
    match term:
        case Exists(Values(rows)):
            return TRUE if rows else FALSE
        case Exists(Comprehension(qualifiers=())) | Exists(Group(keys=(), sets=None)):
            return TRUE
        case Exists(Group(sets=sets)) if sets is not None and () in sets:
            return TRUE
        case _:
            return None


def exists_of_source(term: Term) -> Term | None:
    """Grouping, ordering, windows and distinctness leave nothing of something only if there is nothing."""
    match term:
        case Exists(Group(source=source, sets=None)) | Exists(Window(source=source)):
            return replace(term, query=source)
        case Exists(Top(source=source, limit=limit, offset=0)) if limit is None or limit > 0:
            return replace(term, query=source)
        case Exists(SetOperation("intersect", True) as query):
            return replace(term, query=replace(query, all=False))
        case _:
            return None


def exists_without_head(term: Term) -> Term | None:
    """exists M{ e | q } = exists bag{ () | q }; what it ranges over need not be distinct."""
    match term:
        case Exists(Comprehension("bag", (), qualifiers) as query):
            bags = tuple(as_bag(q) for q in qualifiers)
            return None if bags == qualifiers else replace(term, query=replace(query, qualifiers=bags))
        case Exists(Comprehension(qualifiers=qualifiers)):
            return replace(term, query=Comprehension("bag", (), qualifiers, ()))
        case _:
            return None


def as_bag(qualifier: Qualifier) -> Qualifier:
    match qualifier:
        case Generator(variable, Comprehension("set") as source):
            return Generator(variable, replace(source, monoid="bag"))
        case _:
            return qualifier


def exists_in_exists(term: Term) -> Term | None:
    """exists bag{ () | p, exists bag{ () | r }, q } = exists bag{ () | p, r, q }."""
    match term:
        case Exists(Comprehension("bag", ()) as query):
            flat = inline_exists(query)
            return None if flat is None else replace(term, query=flat)
        case _:
            return None


def negate_quantified(term: Term) -> Term | None:
    """NOT (x = SOME q) = x <> ALL q."""
    match term:
        case Call("not", (Quantified(comparison, every) as inner,)):
            return replace(inner, comparison=OPPOSITE[comparison], every=not every)
        case _:
            return None


def quantify_nothing(term: Term) -> Term | None:
    """Over nothing SOME is FALSE and ALL is TRUE."""
    match term:
        case Quantified(every=every, query=Values(())):
            return Literal(every, BOOLEAN)
        case _:
            return None


def scalar_of_head(term: Term) -> Term | None:
    """(select e) = e; over nothing it is NULL."""
    match term:
        case Scalar(Comprehension(_, (head,), ()), type):
            return cast(head, type)
        case Scalar(Values(((value,),)), type):
            return cast(value, type)
        case Scalar(Values(()), type):
            return Literal(None, type)
        case _:
            return None


# --- comprehensions ----------------------------------------------------------------------------------------


def in_to_exists(query: Query) -> Query | None:
    """filter x IN q = filter exists bag{ () | v <- q, x = v }: a filter does not tell FALSE from NULL."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Filter(Quantified("eq", False, args, source, type) as condition):
                named = with_distinct_names(source)
                if named is None:
                    continue
                variable = Variable(Names(variable_names(condition)).fresh("v"), row_type(named))
                equal = [
                    Filter(call("eq", arg, field(variable, f.name)))
                    for arg, f in zip(args, named.fields, strict=True)
                ]
                inner = Comprehension("bag", (), (Generator(variable, named), *equal), ())
                changed = Filter(Exists(inner, type))
                return replace(query, qualifiers=(*query.qualifiers[:i], changed, *query.qualifiers[i + 1 :]))
            case _:
                pass
    return None


def with_distinct_names(query: Query) -> Query | None:
    """The query with distinct field names; None if they cannot be changed."""
    if len({f.name.lower() for f in query.fields}) == len(query.fields):
        return query
    if not isinstance(query, Comprehension):
        return None
    return replace(query, fields=tuple(replace(f, name=f"_{i}") for i, f in enumerate(query.fields)))


def exists_to_generators(query: Query) -> Query | None:
    """set{ e | p, exists bag{ () | r }, q } = set{ e | p, r, q }: a set does not count witnesses."""
    if isinstance(query, Comprehension) and query.monoid == "set":
        return inline_exists(query)
    return None


def inline_exists(query: Comprehension) -> Comprehension | None:
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Filter(Exists(Comprehension(qualifiers=inner))):
                before, after = query.qualifiers[:i], query.qualifiers[i + 1 :]
                names = Names(variable_names(replace(query, qualifiers=before + after)))
                witnesses, _ = substitute_qualifiers(inner, {}, names)
                return replace(query, qualifiers=(*before, *witnesses, *after))
            case _:
                pass
    return None
