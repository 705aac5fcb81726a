"""Walking through queries: parts and rewriting.

Everything here goes into the queries that are nested in terms, which the walkers of `term.walk` leave alone. What is bound
where, and substitution, is in `scope`.

>>> from evercurrent.data.types import INT, Member
>>> fields = (Member("n", INT),)
>>> both = Union((Relation("t", fields), Relation("u", fields)), fields)
>>> sorted(relations_of(both))
['t', 'u']
>>> rewrite(both, lambda q: q, lambda t: t) == both
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Qualifier,
    Quantified,
    Query,
    Relation,
    Scalar,
    SetOperation,
    Top,
    Union,
    Unnest,
    Values,
    Window,
)
from evercurrent.term.nodes import (
    Aggregate,
    Apply,
    Call,
    Case,
    Cast,
    Column,
    Field,
    Lambda,
    Literal,
    Nested,
    Record,
    SortKey,
    Term,
    Variable,
    WindowFunction,
)
from evercurrent.term.walk import children as term_children

OnQuery = Callable[[Query], Query]
OnTerm = Callable[[Term], Term]


# --- one level ---------------------------------------------------------------------------------------------


def with_parts(query: Query, on_query: OnQuery, on_term: OnTerm) -> Query:
    """The same node with its direct parts, queries and terms, replaced."""
    match query:
        case Relation():
            return query
        case Values(rows):
            return replace(query, rows=tuple(tuple(map(on_term, row)) for row in rows))
        case Comprehension(_, head, qualifiers):
            replaced = tuple(qualifier_with_parts(q, on_query, on_term) for q in qualifiers)
            return replace(query, head=tuple(map(on_term, head)), qualifiers=replaced)
        case Union(inputs):
            return replace(query, inputs=tuple(map(on_query, inputs)))
        case SetOperation():
            return replace(query, left=on_query(query.left), right=on_query(query.right))
        case FullOuter():
            return replace(
                query,
                left=on_query(query.left),
                right=on_query(query.right),
                on=on_term(query.on),
                head=tuple(map(on_term, query.head)),
            )
        case Group():
            return replace(
                query,
                source=on_query(query.source),
                keys=tuple(map(on_term, query.keys)),
                aggregates=tuple(aggregate_with_parts(a, on_term) for a in query.aggregates),
            )
        case Window():
            return replace(
                query,
                source=on_query(query.source),
                functions=tuple(function_with_parts(f, on_term) for f in query.functions),
            )
        case Top():
            return replace(query, source=on_query(query.source), order=order_with_parts(query.order, on_term))
        case Fixpoint():
            definitions = tuple(replace(d, body=on_query(d.body)) for d in query.definitions)
            return replace(query, definitions=definitions)
        case _:
            assert_never(query)


def qualifier_with_parts(qualifier: Qualifier, on_query: OnQuery, on_term: OnTerm) -> Qualifier:
    match qualifier:
        case Generator(variable, source):
            return Generator(variable, on_query(source))
        case OuterGenerator(variable, source, on):
            return OuterGenerator(variable, on_query(source), on_term(on))
        case Unnest():
            return replace(qualifier, collection=on_term(qualifier.collection))
        case Filter(condition):
            return Filter(on_term(condition))
        case _:
            assert_never(qualifier)


def aggregate_with_parts(aggregate: Aggregate, on_term: OnTerm) -> Aggregate:
    return replace(
        aggregate,
        args=tuple(map(on_term, aggregate.args)),
        where=None if aggregate.where is None else on_term(aggregate.where),
        order=order_with_parts(aggregate.order, on_term),
    )


def function_with_parts(function: WindowFunction, on_term: OnTerm) -> WindowFunction:
    return replace(
        function,
        args=tuple(map(on_term, function.args)),
        partition=tuple(map(on_term, function.partition)),
        order=order_with_parts(function.order, on_term),
        where=None if function.where is None else on_term(function.where),
    )


def order_with_parts(order: tuple[SortKey, ...], on_term: OnTerm) -> tuple[SortKey, ...]:
    return tuple(replace(key, term=on_term(key.term)) for key in order)


def term_with_parts(term: Term, on_query: OnQuery, on_term: OnTerm) -> Term:
    """The same term with its direct parts replaced, the query of a nested one included."""
    match term:
        case Literal() | Column() | Variable():
            return term
        case Field():
            return replace(term, of=on_term(term.of))
        case Call() | Apply():
            return replace(term, args=tuple(map(on_term, term.args)))
        case Case():
            branches = tuple((on_term(c), on_term(v)) for c, v in term.branches)
            return replace(term, branches=branches, otherwise=on_term(term.otherwise))
        case Cast():
            return replace(term, of=on_term(term.of))
        case Record():
            return replace(term, members=tuple((n, on_term(t)) for n, t in term.members))
        case Lambda():
            return replace(term, body=on_term(term.body))
        case Scalar() | Exists():
            return replace(term, query=on_query(term.query))
        case Quantified():
            return replace(term, args=tuple(map(on_term, term.args)), query=on_query(term.query))
        case Nested():
            raise AssertionError(f"a nested query of an unknown kind: {term!r}")
        case _:
            assert_never(term)


def children(node: Query | Term) -> list[Query | Term]:
    """The direct parts of a query or term, queries and terms alike."""
    match node:
        case Scalar(query) | Exists(query):
            return [query]
        case Quantified(args=args, query=query):
            return [*args, query]
        case (
            Relation()
            | Values()
            | Comprehension()
            | Union()
            | SetOperation()
            | FullOuter()
            | Group()
            | Window()
            | Top()
            | Fixpoint()
        ):
            found: list[Query | Term] = []
            with_parts(node, _note_into(found), _note_into(found))
            return found
        case _:
            return list(term_children(node))


Part = TypeVar("Part", bound=Query | Term)


def _note_into(found: list[Query | Term]) -> Callable[[Part], Part]:
    def note(part: Part) -> Part:
        found.append(part)
        return part

    return note


def is_query(node: Query | Term) -> bool:
    return isinstance(
        node,
        Relation
        | Values
        | Comprehension
        | Union
        | SetOperation
        | FullOuter
        | Group
        | Window
        | Top
        | Fixpoint,
    )


# --- all levels --------------------------------------------------------------------------------------------


def nodes(root: Query | Term) -> Iterator[Query | Term]:
    """The root and every query and term in it, at any depth."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def rewrite(query: Query, on_query: OnQuery, on_term: OnTerm = lambda t: t) -> Query:
    """Replace every query and term, innermost first."""

    def queries(q: Query) -> Query:
        return on_query(with_parts(q, queries, terms))

    def terms(t: Term) -> Term:
        return on_term(term_with_parts(t, queries, terms))

    return queries(query)


def rewrite_term(term: Term, on_query: OnQuery, on_term: OnTerm = lambda t: t) -> Term:
    """Replace every query and term in a term, innermost first."""

    def terms(t: Term) -> Term:
        return on_term(term_with_parts(t, lambda q: rewrite(q, on_query, on_term), terms))

    return terms(term)


def relations_of(node: Query | Term) -> frozenset[str]:
    """The relations that are read, except those that a fixpoint in it defines."""
    match node:
        case Relation(name):
            return frozenset((name,))
        case Fixpoint(definitions):
            read = frozenset[str]().union(*(relations_of(d.body) for d in definitions))
            return read - {d.name for d in definitions}
        case _:
            return frozenset[str]().union(*map(relations_of, children(node)))


def rename_relations(query: Query, names: Mapping[str, str]) -> Query:
    """The query over other relations; those that a fixpoint in it defines keep their names."""

    def queries(q: Query) -> Query:
        match q:
            case Relation(name, fields):
                return Relation(names.get(name, name), fields)
            case Fixpoint(definitions):
                own = {d.name for d in definitions}
                inner = {old: new for old, new in names.items() if old not in own}
                return replace(
                    q,
                    definitions=tuple(replace(d, body=rename_relations(d.body, inner)) for d in definitions),
                )
            case _:
                return with_parts(q, queries, terms)

    def terms(t: Term) -> Term:
        return term_with_parts(t, queries, terms)

    return queries(query)


def size(query: Query) -> tuple[int, int]:
    """How often a query reads tables and views, and of how many nodes it is, if what it shares is written out.

    What stands in several places is one object, so that it is walked through once.
    """
    known: dict[int, tuple[int, int]] = {}

    def count(node: Query | Term) -> tuple[int, int]:
        found = known.get(id(node))
        if found is None:
            parts = [count(child) for child in children(node)]
            reads = isinstance(node, Relation) + sum(r for r, _ in parts)
            found = known[id(node)] = (reads, 1 + sum(n for _, n in parts))
        return found

    return count(query)
