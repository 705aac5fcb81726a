"""Walking terms: children, rewriting, what a term mentions, substitution.

Law. `rewrite(t, f)` applies `f` to every node, children before parents, and `rewrite(t, identity) is t`: what does not
change is not copied, so a pass that finds nothing to do costs no memory and comparisons by identity are quick.

A `Nested` term is a leaf here. `calculus.walk` goes into the query that it holds.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.build import call, lit
>>> from evercurrent.term.show import show
>>> a, b = Column("a", INT), Column("b", INT)
>>> show(substitute(call("add", a, b), {a: call("mul", b, b)}))
'b * b + b'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from evercurrent.term.nodes import (
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
    Term,
    Variable,
)


def children(t: Term) -> tuple[Term, ...]:
    """The terms directly inside a term, in the order in which they are written."""
    match t:
        case Literal() | Column() | Variable() | Nested():
            return ()
        case Field(of=of) | Cast(of=of):
            return (of,)
        case Call(args=args) | Apply(args=args):
            return args
        case Case(branches, otherwise):
            return (*(x for branch in branches for x in branch), otherwise)
        case Record(members):
            return tuple(term for _, term in members)
        case Lambda(body=body):
            return (body,)
        case _:
            assert_never(t)


def with_children(t: Term, new: tuple[Term, ...]) -> Term:
    """The same node around other children (as many, in the order of `children`)."""
    match t:
        case Literal() | Column() | Variable() | Nested():
            return t
        case Field(_, name, type, nullable):
            return Field(new[0], name, type, nullable)
        case Cast(_, type, strict):
            return Cast(new[0], type, strict)
        case Call(function, _, type, place):
            return Call(function, new, type, place)
        case Apply(opaque, _, type, may):
            return Apply(opaque, new, type, may)
        case Case(branches, _, type):
            pairs = tuple((new[2 * i], new[2 * i + 1]) for i in range(len(branches)))
            return Case(pairs, new[-1], type)
        case Record(members, type):
            return Record(tuple((name, term) for (name, _), term in zip(members, new, strict=True)), type)
        case Lambda(parameters, _, type):
            return Lambda(parameters, new[0], type)
        case _:
            assert_never(t)


def rewrite(t: Term, f: Callable[[Term], Term]) -> Term:
    """`f` applied to every node from the leaves up."""
    old = children(t)
    if old:
        new = tuple(rewrite(child, f) for child in old)
        if any(a is not b for a, b in zip(old, new, strict=True)):
            t = with_children(t, new)
    return f(t)


def nodes(t: Term) -> Iterator[Term]:
    """Every node of a term, parents before children."""
    yield t
    for child in children(t):
        yield from nodes(child)


MOST_NODES = 400
"""Terms are written out in what reads them up to so many nodes; beyond that they are computed once."""


def grows(terms: Iterable[Term], by_name: Mapping[str, Term]) -> bool:
    """Whether writing columns out makes terms large, because what is computed is read several times."""
    sizes = {name: sum(1 for _ in nodes(t)) for name, t in by_name.items()}
    uses = Counter(n.name for t in terms for n in nodes(t) if isinstance(n, Column))
    copied = sum((times - 1) * sizes.get(name, 1) for name, times in uses.items() if sizes.get(name, 1) > 1)
    return copied > MOST_NODES


def columns_of(t: Term) -> frozenset[Column]:
    """The columns that a term mentions."""
    return frozenset(n for n in nodes(t) if isinstance(n, Column))


def variables_of(t: Term) -> frozenset[Variable]:
    """The free variables of a term; those that a lambda binds are not free in it."""
    match t:
        case Variable():
            return frozenset((t,))
        case Lambda(parameters, body):
            names = {p.name for p in parameters}
            return frozenset(v for v in variables_of(body) if v.name not in names)
        case _:
            return frozenset(v for child in children(t) for v in variables_of(child))


def substitute(t: Term, by: Mapping[Column | Variable, Term]) -> Term:
    """The term with columns and free variables replaced.

    Keys match by name and kind (a column's nullability may differ between the places where it is read). What is put
    in must not mention a variable that a lambda around its place binds; front ends give lambdas' parameters fresh names.
    """
    columns = {k.name: v for k, v in by.items() if isinstance(k, Column)}
    variables = {k.name: v for k, v in by.items() if isinstance(k, Variable)}
    return _substitute(t, columns, variables)


def _substitute(t: Term, columns: Mapping[str, Term], variables: Mapping[str, Term]) -> Term:
    match t:
        case Column(name):
            return columns.get(name, t)
        case Variable(name):
            return variables.get(name, t)
        case Lambda(parameters=parameters):
            bound = {p.name for p in parameters}
            variables = {k: v for k, v in variables.items() if k not in bound}
    old = children(t)
    new = tuple(_substitute(child, columns, variables) for child in old)
    if all(a is b for a, b in zip(old, new, strict=True)):
        return t
    result = with_children(t, new)
    if isinstance(result, Field) and isinstance(result.of, Record):
        # A member of a record that is spelled out is that member: the calculus relies on it to fuse comprehensions.
        for name, member in result.of.members:
            if name == result.name:
                return member
    return result
