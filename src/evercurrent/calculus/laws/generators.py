"""Laws of generators: what a comprehension ranges over is spelled out in its own qualifiers.

M{ e | p, v <- bag{ e' | r }, q }       =  M{ e[v:=e'] | p, r, q[v:=e'] }
set{ e | p, v <- set{ e' | r }, q }     =  the same, since set is idempotent
M{ e | p, v <- {(t)}, q }               =  M{ e[v:=(t)] | p, q[v:=(t)] }
M{ e | p, v <- {}, q }                  =  {}
M{ e | p, v <-outer {} on c, q }        =  M{ e[v:=NULL] | p, q[v:=NULL] }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Filter,
    Generator,
    OuterGenerator,
    Qualifier,
    Query,
    Unnest,
    Values,
)
from evercurrent.calculus.scope import (
    Names,
    free_variables,
    record_of,
    substitute_qualifiers,
    substitute_term,
    variable_names,
)
from evercurrent.calculus.walk import children, nodes
from evercurrent.term.build import conjunction
from evercurrent.term.nodes import Field, Literal, Nested, Term, Variable
from evercurrent.term.opaque import any_opaque

GROWTH = 100
"""How many nodes a flattening may add by writing out the inner head wherever it is read."""


def flatten_generator(query: Query) -> Query | None:
    """M{ e | p, v <- bag{ e' | r }, q } = M{ e[v:=e'] | p, r, q[v:=e'] }; in a set, over a set too."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Generator(variable, Comprehension(monoid, head, inner, fields)) if (
                monoid == "bag" or query.monoid == "set"
            ) and not any_opaque(head):
                rest = replace(query, qualifiers=query.qualifiers[:i] + query.qualifiers[i + 1 :])
                if growth(rest, variable.name, tuple(f.name for f in fields), head) > GROWTH:
                    continue
                names = Names(variable_names(rest) - {variable.name})
                renamed, scope = substitute_qualifiers(inner, {}, names)
                record = record_of(fields, tuple(map(scope, head)))
                return with_binding(query, i, renamed, variable, record)
            case _:
                pass
    return None


def flatten_outer_generator(query: Query) -> Query | None:
    """M{ e | p, v <-outer bag{ (w.f, ...) | w <- s, c' } on c, q } = M{ ... | p, w <-outer s on c' and c, q }.

    The head must consist of members of w: they are NULL when w is, as those of v are. (v itself must not be read: a
    record of NULLs is not NULL.)
    """
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case OuterGenerator(
                variable, Comprehension("bag", head, (Generator(inner, source), *filters), fields), on
            ):
                plain = all(isinstance(t, Field) and t.of == inner for t in head)
                conditions = [f.condition for f in filters if isinstance(f, Filter)]
                if not plain or len(conditions) < len(filters) or reads_whole(query, variable.name):
                    continue
                taken = variable_names(replace(query, qualifiers=_without(query.qualifiers, i)))
                name = Names((taken | variable_names_of((on,))) - {variable.name}).fresh(inner.name)
                padded = Variable(name, inner.type, True)
                strict = Variable(name, inner.type, inner.nullable)
                inside = record_of(fields, tuple(substitute_term(t, {inner.name: strict}) for t in head))
                outside = record_of(fields, tuple(substitute_term(t, {inner.name: padded}) for t in head))
                condition = conjunction(
                    [
                        *(substitute_term(c, {inner.name: strict}) for c in conditions),
                        substitute_term(on, {variable.name: inside}),
                    ]
                )
                return with_binding(query, i, (OuterGenerator(padded, source, condition),), variable, outside)
            case _:
                pass
    return None


def substitute_constant(query: Query) -> Query | None:
    """M{ e | p, v <- {(t)}, q } = M{ e[v:=(t)] | p, q[v:=(t)] }."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Generator(variable, Values((row,), fields)):
                rest = replace(query, qualifiers=_without(query.qualifiers, i))
                if growth(rest, variable.name, tuple(f.name for f in fields), row) <= GROWTH:
                    return with_binding(query, i, (), variable, record_of(fields, row))
            case _:
                pass
    return None


def generate_nothing(query: Query) -> Query | None:
    """M{ e | p, v <- {}, q } = {}; of an outer generator over nothing, v is NULL."""
    if not isinstance(query, Comprehension):
        return None
    for i, qualifier in enumerate(query.qualifiers):
        match qualifier:
            case Generator(source=Values(())):
                return Values((), query.fields)
            case OuterGenerator(variable, Values(())):
                return with_binding(query, i, (), variable, Literal(None, variable.type))
            case Unnest(variable, Literal(None | ())):
                if not qualifier.outer:
                    return Values((), query.fields)
                return with_binding(query, i, (), variable, Literal(None, variable.type))
            case _:
                pass
    return None


def drop_identity(query: Query) -> Query | None:
    """bag{ (v.f1, ..., v.fn) | v <- q } = q, f1 to fn being the fields of q."""
    match query:
        case Comprehension("bag", head, (Generator(variable, source),), fields):
            same = tuple(f.name for f in fields) == tuple(f.name for f in source.fields)
            path = all(
                isinstance(t, Field) and t.of == variable and t.name == f.name
                for t, f in zip(head, fields, strict=True)
            )
            distinct = len({f.name.lower() for f in fields}) == len(fields)
            return source if same and path and distinct else None
        case _:
            return None


def drop_unused_outer(query: Query) -> Query | None:
    """set{ e | p, v <-outer s on c, q } = set{ e | p, q } where v is not read: there is always a v."""
    if not isinstance(query, Comprehension) or query.monoid != "set":
        return None
    for i, qualifier in enumerate(query.qualifiers):
        if isinstance(qualifier, OuterGenerator):
            later = replace(query, qualifiers=query.qualifiers[i + 1 :])
            if qualifier.variable.name not in free_variables(later):
                return replace(query, qualifiers=_without(query.qualifiers, i))
    return None


# --- substitution in what follows --------------------------------------------------------------------------


def with_binding(
    query: Comprehension, i: int, instead: tuple[Qualifier, ...], variable: Variable, value: Term
) -> Comprehension:
    """The comprehension with its i-th qualifier replaced, and its variable by a value in what follows."""
    later, scope = substitute_qualifiers(query.qualifiers[i + 1 :], {variable.name: value})
    head = tuple(map(scope, query.head))
    return replace(query, head=head, qualifiers=(*query.qualifiers[:i], *instead, *later))


def growth(query: Query, variable: str, fields: tuple[str, ...], head: tuple[Term, ...]) -> int:
    """Nodes that writing out the head adds. Paths are free; a nested query is never written twice."""
    uses = count_uses(query, variable)
    total = 0
    for name, term in zip(fields, head, strict=True):
        copies = uses[None] + uses[name] - 1
        parts = list(nodes(term))
        if copies > 0 and len(parts) > 2:
            total += copies * len(parts)
            if any(isinstance(part, Nested) for part in parts):
                return GROWTH + 1
    return total


def count_uses(query: Query | Term, variable: str) -> Counter[str | None]:
    """How often each member of a variable is read, and (under None) the whole of it; whoever binds the name."""
    uses: Counter[str | None] = Counter()
    pending: list[Query | Term] = [query]
    while pending:
        node = pending.pop()
        match node:
            case Field(Variable(name), member) if name == variable:
                uses[member] += 1
            case Variable(name) if name == variable:
                uses[None] += 1
            case _:
                pending.extend(children(node))
    return uses


def reads_whole(query: Query, variable: str) -> bool:
    return count_uses(query, variable)[None] > 0


def variable_names_of(terms: Iterable[Term]) -> frozenset[str]:
    return frozenset[str]().union(*map(variable_names, terms))


def _without(qualifiers: tuple[Qualifier, ...], i: int) -> tuple[Qualifier, ...]:
    return qualifiers[:i] + qualifiers[i + 1 :]
