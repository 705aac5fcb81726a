"""Where a recursive relation may be read: only where more rows of it cannot remove rows of the result.

Law. If `not_monotone(q, r)` is None, then q(r) is contained in q(r') whenever r is contained in r'.

>>> from evercurrent.data.types import INT, Member
>>> fields = (Member("n", INT),)
>>> t, r = Relation("t", fields), Relation("r", fields)
>>> not_monotone(Union((t, r), fields), "r"), not_monotone(SetOperation("except", False, t, r, fields), "r")
(None, 'under EXCEPT')
"""

from __future__ import annotations

from collections.abc import Iterator

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Quantified,
    Query,
    Relation,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
)
from evercurrent.calculus.walk import relations_of
from evercurrent.term.nodes import Term


def not_monotone(query: Query, relation: str) -> str | None:
    """Why more rows of the relation could remove rows of the query; None if they cannot."""
    if relation not in relations_of(query):
        return None
    match query:
        case Relation():
            return None
        case Union(inputs):
            return _first(not_monotone(q, relation) for q in inputs)
        case Comprehension(_, head, qualifiers):
            for qualifier in qualifiers:
                reason = _qualifier(qualifier, relation)
                if reason is not None:
                    return reason
            return "in a subquery of the select list" if any(_reads(t, relation) for t in head) else None
        case SetOperation(kind="intersect", all=False, left=left, right=right):
            return not_monotone(left, relation) or not_monotone(right, relation)
        case SetOperation(kind="except", left=left, right=right):
            return "under EXCEPT" if relation in relations_of(right) else not_monotone(left, relation)
        case SetOperation():
            return "under INTERSECT ALL"
        case Group():
            return "under an aggregate or GROUP BY"
        case Window():
            return "under a window function"
        case Top():
            return "under LIMIT"
        case FullOuter():
            return "in an outer join"
        case Fixpoint():
            return "inside another recursive query"
        case _:
            return "in this place"


def _qualifier(qualifier: Generator | OuterGenerator | Unnest | Filter, relation: str) -> str | None:
    match qualifier:
        case Generator(source=source):
            return not_monotone(source, relation)
        case OuterGenerator(source=source, on=on):
            return "in an outer join" if relation in relations_of(source) or _reads(on, relation) else None
        case Unnest(collection=collection):
            return "in an expression" if _reads(collection, relation) else None
        case Filter(condition):
            match condition:
                case Exists(query):
                    return not_monotone(query, relation)
                case Quantified(every=False, args=args, query=query) if not any(
                    _reads(a, relation) for a in args
                ):
                    return not_monotone(query, relation)
                case _:
                    return "in a condition other than EXISTS or IN" if _reads(condition, relation) else None


def _reads(term: Term, relation: str) -> bool:
    return relation in relations_of(term)


def _first(reasons: Iterator[str | None]) -> str | None:
    return next((r for r in reasons if r is not None), None)
