"""Laws of unread fields: what ranges over a query and does not read a field may range over it without that field.

    M{ e | v <- q, r }  =  M{ e | v <- q', r }       q' being q without the fields that e and r do not read from v

A bag comprehension loses terms of its head, an aggregation loses aggregates, a window loses functions, a union the same
field of every part. What looks at whole records keeps them: a set, a set operation, an order (its ties), a relation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evercurrent.calculus.laws.generators import count_uses
from evercurrent.calculus.nodes import (
    Comprehension,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Qualifier,
    Query,
    Relation,
    Union,
    Window,
)
from evercurrent.calculus.scope import Names, row_type, substitute_qualifiers, substitute_term, variable_names
from evercurrent.calculus.walk import aggregate_with_parts, children, is_query
from evercurrent.data.types import Struct
from evercurrent.term.build import field
from evercurrent.term.nodes import Term, Variable
from evercurrent.term.opaque import any_opaque


def prune_generators(query: Query) -> Query | None:
    """M{ e | p, v <- q, r } = M{ e | p, v <- q', r }."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Generator(variable, source) | OuterGenerator(variable, source):
                readers: list[Query | Term] = [replace(query, qualifiers=query.qualifiers[i + 1 :])]
                if isinstance(qualifier, OuterGenerator):
                    readers.append(qualifier.on)
                pruned = without_unread(variable, source, readers)
                if pruned is not None:
                    return _with_source(query, i, qualifier, pruned)
            case _:
                pass
    return None


def _with_source(query: Comprehension, i: int, qualifier: Generator | OuterGenerator, source: Query) -> Query:
    variable = replace(qualifier.variable, type=row_type(source))
    changed: Qualifier = Generator(variable, source)
    bindings = {variable.name: variable}
    if isinstance(qualifier, OuterGenerator):
        strict = {variable.name: replace(variable, nullable=False)}
        changed = OuterGenerator(variable, source, substitute_term(qualifier.on, strict))
    later, scope = substitute_qualifiers(query.qualifiers[i + 1 :], bindings)
    head = tuple(map(scope, query.head))
    return replace(query, head=head, qualifiers=(*query.qualifiers[:i], changed, *later))


def prune_grouping(query: Query) -> Query | None:
    """The same for what an aggregation ranges over."""
    if not isinstance(query, Group):
        return None
    terms = [part for part in children(query) if not is_query(part)]
    source = without_unread(query.variable, query.source, terms)
    if source is None:
        return None
    variable = replace(query.variable, type=row_type(source))

    def rename(term: Term) -> Term:
        return substitute_term(term, {variable.name: variable})

    return replace(
        query,
        variable=variable,
        source=source,
        keys=tuple(map(rename, query.keys)),
        aggregates=tuple(aggregate_with_parts(a, rename) for a in query.aggregates),
    )


def prune_full_outer(query: Query) -> Query | None:
    """The same for both sides of a full outer join."""
    if not isinstance(query, FullOuter):
        return None
    readers = [query.on, *query.head]
    left = without_unread(query.left_variable, query.left, readers)
    right = without_unread(query.right_variable, query.right, readers)
    if left is None and right is None:
        return None
    left, right = left or query.left, right or query.right
    one, other = (
        replace(query.left_variable, type=row_type(left)),
        replace(query.right_variable, type=row_type(right)),
    )
    padded: dict[str, Term] = {v.name: replace(v, nullable=True) for v in (one, other)}
    strict: dict[str, Term] = {v.name: replace(v, nullable=False) for v in (one, other)}
    return replace(
        query,
        left_variable=one,
        left=left,
        right_variable=other,
        right=right,
        on=substitute_term(query.on, strict),
        head=tuple(substitute_term(t, padded) for t in query.head),
    )


# --- queries without some fields ---------------------------------------------------------------------------


def without_unread(variable: Variable, source: Query, readers: Iterable[Query | Term]) -> Query | None:
    """The source without the fields that nobody reads; None if there is nothing to drop."""
    if not can_prune(source):
        return None
    read: set[str] = set()
    for reader in readers:
        uses = count_uses(reader, variable.name)
        if uses[None]:
            return None
        read.update(name for name in uses if name is not None)
    assert isinstance(variable.type, Struct)
    positions = {variable.type.position(name) for name in read}
    pruned = keep_fields(source, {p for p in positions if p is not None})
    return pruned if len(pruned.fields) < len(source.fields) else None


def can_prune(query: Query) -> bool:
    match query:
        case Comprehension("bag", head):
            return not any_opaque(head)  # all who read an opaque function's values read the same query
        case Group() | Window():
            return True
        case Union(inputs):
            return all(can_prune(i) or isinstance(i, Relation) for i in inputs)
        case _:
            return False


def keep_fields(query: Query, kept: set[int]) -> Query:
    """The query with these fields, and whatever others cannot be dropped."""
    match query:
        case Comprehension("bag", head, _, fields):
            return replace(
                query,
                head=tuple(t for i, t in enumerate(head) if i in kept),
                fields=tuple(f for i, f in enumerate(fields) if i in kept),
            )
        case Group(keys=keys, aggregates=aggregates, fields=fields):
            needed = kept | set(range(len(keys)))
            if query.sets is not None:
                needed.add(len(fields) - 1)
            return replace(
                query,
                aggregates=tuple(a for i, a in enumerate(aggregates, len(keys)) if i in needed),
                fields=tuple(f for i, f in enumerate(fields) if i in needed),
            )
        case Window(source=source, functions=functions, fields=fields):
            width = len(source.fields)
            needed = kept | set(range(width))
            left = tuple(f for i, f in enumerate(functions, width) if i in needed)
            if not left:
                return source
            return replace(
                query, functions=left, fields=tuple(f for i, f in enumerate(fields) if i in needed)
            )
        case Union(inputs, fields):
            return Union(
                tuple(project(i, kept) for i in inputs), tuple(f for i, f in enumerate(fields) if i in kept)
            )
        case _:
            raise AssertionError(f"{type(query).__name__} keeps its fields")


def project(query: Query, kept: set[int]) -> Query:
    """The query with exactly these fields."""
    if isinstance(query, Comprehension) and query.monoid == "bag":
        return keep_fields(query, kept)
    variable = Variable(Names(variable_names(query)).fresh("v"), row_type(query))
    fields = tuple(f for i, f in enumerate(query.fields) if i in kept)
    return Comprehension(
        "bag", tuple(field(variable, f.name) for f in fields), (Generator(variable, query),), fields
    )
