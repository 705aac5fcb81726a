"""An expression as the flat relations that keep it: one for its elements, one for each collection nested in them.

    select struct(n: e.name, kids: (select c.name from c in e.dependents)) from e in Employees

    v.rows   bag{ (n: e.name, key.0: e.oid) | e <- Employees }
    v.kids   bag{ (key.0: k.key.0, value: c.name) | k <- set{ (key.0: e.oid) | e <- Employees }, c <- ... owner = k.key.0 ... }

What the inner comprehension reads of the outer variables determines it, so that is its key. A change inside changes inner rows
only. A view without nested collections is one relation, under its own name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from evercurrent.calculus.nodes import Comprehension, Generator, Qualifier, Query
from evercurrent.calculus.scope import free_paths
from evercurrent.calculus.walk import term_with_parts, with_parts
from evercurrent.data.types import Member, Struct
from evercurrent.frontend.oql.context import Context
from evercurrent.frontend.oql.forms import one
from evercurrent.frontend.oql.layout import Flat, Layout, Order, Part, Shape, Spread
from evercurrent.frontend.oql.values import Expr, Made, Many, One, map_terms, pack
from evercurrent.term import build
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import Term, Variable
from evercurrent.term.nullable import nullable

ROWS = "rows"
"""The last name of the relation of the elements, where a view has nested collections."""


@dataclass(slots=True)
class Shredded:
    """The relations of a view in the making, each a name and a query; `layout` says how they hold the value."""

    layout: Layout
    relations: list[tuple[str, Query, Order]]


def shred(context: Context, name: str, expr: Expr) -> Shredded:
    nested = _has_many(expr.element if isinstance(expr, Many) else expr)
    maker = _Maker(context, name)
    relation = f"{name}.{ROWS}" if nested else name
    if isinstance(expr, Many):
        whole = expr if expr.shape != "dictionary" else None
        if whole is not None and whole.defined == TRUE:
            element, order, position = maker.relation(relation, whole, (), ())
            return Shredded(Layout(relation, whole.shape, element, order, position), maker.relations)
        expr = one(context, expr)
    single = Many("bag", (), expr)
    element, _, _ = maker.relation(relation, single, (), ())
    return Shredded(Layout(relation, None, element), maker.relations)


def _has_many(expr: Expr) -> bool:
    match expr:
        case One():
            return False
        case Made(members):
            return any(_has_many(e) for _, e in members)
        case Many():
            return expr.shape != "dictionary"
        case _:
            assert_never(expr)


@dataclass(slots=True)
class _Maker:
    context: Context
    name: str
    relations: list[tuple[str, Query, Order]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def relation(
        self,
        name: str,
        many: Many,
        prefix: tuple[Qualifier, ...],
        keys: tuple[tuple[str, Term], ...],
        path: str = "",
    ) -> tuple[Shape, Order, str | None]:
        """Make the relation of a collection's elements; returns their shape, the order, and the column of positions."""
        qualifiers = (*prefix, *many.qualifiers)
        place = len(self.relations)
        columns = _Columns(dict(keys))
        shape = self.shape(many.element, "", columns, qualifiers, path)
        order: list[tuple[str, bool, bool]] = []
        for i, key in enumerate(many.order):
            order.append((columns.add(f"order.{i}", key.term), key.descending, key.nulls_first))
        position = None if many.position is None else columns.add("position.", many.position)
        head = columns.terms
        if not head:
            columns.add("row.", build.lit(1))
        fields = tuple(Member(n, t.type, nullable(t)) for n, t in head.items())
        query = Comprehension("bag", tuple(head.values()), qualifiers, fields)
        self.relations.insert(place, (name, query, tuple(order)))
        return shape, tuple(order), position

    def shape(
        self, expr: Expr, name: str, columns: _Columns, qualifiers: tuple[Qualifier, ...], path: str
    ) -> Shape:
        defined = None
        match expr:
            case Made(members, of) if members and (name == "" or _has_many(expr)):
                if expr.defined != TRUE:
                    defined = columns.add(f"{name}.defined", expr.defined)
                dotted = f"{name}." if name else ""
                found = tuple(
                    (n, self.shape(e, f"{dotted}{n}", columns, qualifiers, path)) for n, e in members
                )
                return Spread(found, of, defined)
            case Many(shape) if shape != "dictionary":
                return self.part(expr, name, columns, qualifiers, path)
            case _:
                value = one(self.context, expr)
                column = columns.add(name or "value", value.term)
                if value.defined != TRUE:
                    defined = columns.add(f"{column}.defined", value.defined)
                return Flat(value.kind, column, defined)

    def part(
        self, many: Many, name: str, columns: _Columns, qualifiers: tuple[Qualifier, ...], path: str
    ) -> Part:
        """A nested collection as a relation of its own."""
        defined = None if many.defined == TRUE else columns.add(f"{name}.defined", many.defined)
        read = sorted(free_paths(pack(many)[1]), key=repr)
        outer = [columns.add(f"key.{i}", term) for i, term in enumerate(read)]
        inner = many
        prefix: tuple[Qualifier, ...] = ()
        own: tuple[tuple[str, Term], ...] = ()
        if read:
            fields = tuple(Member(f"key.{i}", t.type, nullable(t)) for i, t in enumerate(read))
            keys = Comprehension("set", tuple(read), qualifiers, fields)
            variable = Variable(self.context.names.fresh("k"), Struct(fields))
            at = {t: build.field(variable, f"key.{i}") for i, t in enumerate(read)}
            moved = map_terms(many, _replace_terms(at))
            assert isinstance(moved, Many)
            inner, prefix = moved, (Generator(variable, keys),)
            own = tuple((f"key.{i}", term) for i, term in enumerate(at.values()))
        steps = [part for part in (path, name) if part]
        inside = ".".join(steps) or "elements"
        relation = self.fresh(f"{self.name}.{inside}")
        element, order, position = self.relation(relation, inner, prefix, own, inside)
        pairs = tuple((o, f"key.{i}") for i, o in enumerate(outer))
        return Part(many.shape, relation, pairs, element, order, defined, position)

    def fresh(self, name: str) -> str:
        while name.lower() in self.taken or name.lower() == f"{self.name}.{ROWS}".lower():
            name += "_"
        self.taken.add(name.lower())
        return name


class _Columns:
    """The head of a relation in the making: a term has one column, whatever it is asked for."""

    def __init__(self, given: dict[str, Term]) -> None:
        self.terms: dict[str, Term] = dict(given)

    def add(self, name: str, term: Term) -> str:
        if name.startswith(("key.", "order.", "position.")):
            known = next((n for n, t in self.terms.items() if t == term), None)
            if known is not None:
                return known
        chosen = name
        while chosen.lower() in {n.lower() for n in self.terms}:
            chosen += "_"
        self.terms[chosen] = term
        return chosen


def _replace_terms(terms: dict[Term, Term]) -> Callable[[Term], Term]:
    """Every occurrence of a term replaced, in nested queries too; bound variables have names of their own."""

    def on_query(query: Query) -> Query:
        return with_parts(query, on_query, on_term)

    def on_term(term: Term) -> Term:
        found = terms.get(term)
        return found if found is not None else term_with_parts(term, on_query, on_term)

    return on_term
