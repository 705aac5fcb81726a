"""What an expression is translated to, before anybody has asked for rows or for one value.

    One     a value: a term, and a term that says whether it is defined
    Made    a struct that is spelled out, member by member
    Many    a collection as a comprehension: qualifiers, and the element in their scope

    select struct(n: e.name, kids: (select c.name from c in e.dependents)) from e in Employees
      = Many(e <- Employees; Made(n: One(e.name), kids: Many(c <- ..., c.owner = e.oid; One(c.name))))

Where a value is not defined its term is NULL, so whatever asks for TRUE need not look further. The qualifiers of a `Many` give
each element as often as the collection holds it: once, if it is a set. A list has the sort keys that order it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from evercurrent.calculus.nodes import Comprehension, Exists, Generator, Qualifier, Unnest
from evercurrent.calculus.scope import Names, substitute_term
from evercurrent.data.types import BOOLEAN
from evercurrent.frontend.oql.kinds import Coll, Dict, Kind, Rec, Slot, kind_of
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import SortKey, Term, Variable


@dataclass(frozen=True, slots=True)
class One:
    kind: Kind
    term: Term
    defined: Term = TRUE


@dataclass(frozen=True, slots=True)
class Made:
    members: tuple[tuple[str, Expr], ...]
    of: str | None = None
    defined: Term = TRUE

    @property
    def kind(self) -> Rec:
        return Rec(tuple((name, slot_of(e)) for name, e in self.members), self.of)

    def member(self, name: str) -> Expr | None:
        return next((e for n, e in self.members if n == name), None)


@dataclass(frozen=True, slots=True)
class Many:
    """`shape` is set, bag, list or dictionary. `position` is the place of an element in a list, from 0, where it is known; the
    key in a dictionary."""

    shape: str
    qualifiers: tuple[Qualifier, ...]
    element: Expr
    order: tuple[SortKey, ...] = ()
    position: Term | None = None
    defined: Term = TRUE

    @property
    def kind(self) -> Coll | Dict:
        if self.shape == "dictionary":
            assert self.position is not None
            return Dict(kind_of(self.position.type), slot_of(self.element))
        return Coll(self.shape, slot_of(self.element))  # type: ignore[arg-type]


Expr = One | Made | Many


def slot_of(expr: Expr) -> Slot:
    return Slot(expr.kind, expr.defined != TRUE)


# --- substitution --------------------------------------------------------------------------------------------


def pack(expr: Expr) -> tuple[Term, ...]:
    """All terms of an expression in a row; a collection is one nested query, so that its variables stay bound."""
    match expr:
        case One(_, term, defined):
            return (term, defined)
        case Made(members, _, defined):
            return (defined, *(t for _, e in members for t in pack(e)))
        case Many(_, qualifiers, element, order, position, defined):
            head = (*pack(element), *(k.term for k in order), *(() if position is None else (position,)))
            return (defined, Exists(Comprehension("bag", head, qualifiers, ()), BOOLEAN))
        case _:
            assert_never(expr)


def unpack(like: Expr, terms: Iterator[Term]) -> Expr:
    """The expression again, with other terms."""
    match like:
        case One(kind):
            return One(kind, next(terms), next(terms))
        case Made(members, of):
            defined = next(terms)
            return Made(tuple((n, unpack(e, terms)) for n, e in members), of, defined)
        case Many():
            defined, packed = next(terms), next(terms)
            assert isinstance(packed, Exists) and isinstance(packed.query, Comprehension)
            inner = iter(packed.query.head)
            element = unpack(like.element, inner)
            order = tuple(replace(k, term=next(inner)) for k in like.order)
            position = None if like.position is None else next(inner)
            return replace(
                like,
                qualifiers=packed.query.qualifiers,
                element=element,
                order=order,
                position=position,
                defined=defined,
            )
        case _:
            assert_never(like)


def map_terms(expr: Expr, on_term: Callable[[Term], Term]) -> Expr:
    """The expression with a substitution applied to it."""
    return unpack(expr, map(on_term, pack(expr)))


def rename(many: Many, names: Names, name: str | None = None) -> Many:
    """The same collection, every variable under a fresh name; a single one is called `name`."""
    match many.qualifiers:
        case (Generator(variable) | Unnest(variable) as only,) if name is not None:
            new = Variable(names.fresh(name), variable.type, variable.nullable)
            bound = replace(only, variable=new)

            def on_term(term: Term) -> Term:
                return substitute_term(term, {variable.name: new})

            position = None if many.position is None else on_term(many.position)
            return replace(
                many,
                qualifiers=(bound,),
                element=map_terms(many.element, on_term),
                order=tuple(replace(k, term=on_term(k.term)) for k in many.order),
                position=position,
            )
        case _:
            found = map_terms(many, lambda term: substitute_term(term, {}, names))
            assert isinstance(found, Many)
            return found
