"""select ... from ... where ... group by ... having ... order by ... limit.

Iterators become qualifiers in turn, each in the scope of those before it; `where` filters; the projection is the element. The
result is a bag, `distinct` makes a set, `order by` a list. `limit` takes the first elements of that; equal sort keys, and bags and
sets, are ordered by the elements themselves, as in SQL.

    select e.name from e in Employees where e.age > 40             bag{ (value: e.name) | e <- Employees, e.age > 40 }
    select e.name from e in Employees order by e.salary desc       list("Ann", "Ben"), Ann having the greater salary
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from evercurrent.calculus.nodes import Filter, Generator, Group, Qualifier
from evercurrent.data.types import Member, Struct
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.aggregates import AGGREGATES
from evercurrent.frontend.oql.context import Context, Scope, wrong
from evercurrent.frontend.oql.forms import columns, comprehension, distinct, many, one
from evercurrent.frontend.oql.grouping import group_rows
from evercurrent.frontend.oql.kinds import Coll, Dict
from evercurrent.frontend.oql.lists import rank_elements
from evercurrent.frontend.oql.values import Expr, Made, Many, rename
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate
from evercurrent.term.nodes import SortKey, Variable

Translate = Callable[[Context, Scope, syntax.Node], Expr]
"""The translation of expressions, and of conditions of which only TRUE counts."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The iterators of a select, with its condition: what they bind, and the scope that they make."""

    qualifiers: tuple[Qualifier, ...]
    iterators: tuple[tuple[str, Expr], ...]
    scope: Scope

    def as_many(self) -> Many:
        """The rows as a bag of structs of the iterators."""
        return Many("bag", self.qualifiers, Made(self.iterators))


def rows_of(context: Context, scope: Scope, node: syntax.Select, at: Translators) -> Rows:
    qualifiers: list[Qualifier] = []
    iterators: list[tuple[str, Expr]] = []
    inner = replace(scope, rows=None)
    for i, iterator in enumerate(node.iterators):
        source = many(context, at.expression(context, inner, iterator.collection), iterator.place)
        name = iterator.variable or _implicit_name(iterator, i)
        source = rename(source, context.names, name)
        element = source.element
        if iterator.of is not None:
            source, element = at.narrowed(context, source, iterator)
        qualifiers += source.qualifiers
        inner = inner.under(*source.qualifiers)
        if iterator.variable is None:
            inner = replace(inner, implicit=(*inner.implicit, element))
        else:
            inner = inner.with_name(name, element)
        if name in dict(iterators):
            raise wrong(f"two iterators are called {name}", iterator.place)
        iterators.append((name, element))
    if node.where is not None:
        condition = Filter(at.condition(context, inner, node.where))
        qualifiers.append(condition)
        inner = inner.under(condition)
    return Rows(tuple(qualifiers), tuple(iterators), inner)


def _implicit_name(iterator: syntax.Iterator, position: int) -> str:
    return (syntax.last_name(iterator.collection) or f"x{position}").lower()


@dataclass(frozen=True, slots=True)
class Translators:
    expression: Translate
    condition: Callable[[Context, Scope, syntax.Node], build.Term]  # type: ignore[name-defined]
    narrowed: Callable[[Context, Many, syntax.Iterator], tuple[Many, Expr]]


def select(context: Context, scope: Scope, node: syntax.Select, at: Translators) -> Expr:
    rows = rows_of(context, scope, node, at)
    if node.groups is not None:
        return _finish(context, node, *group_rows(context, scope, node, rows, at))
    if node.having is not None:
        raise wrong("having needs a group by", node.having.place, hint="use where")
    if _is_whole(context, rows.scope, node, at):
        if node.limit is not None:
            raise wrong("limit is for collections, and this select is one value", node.place)
        whole = replace(scope, rows=rows.as_many())
        return projection(context, whole, node, rows, at)
    element = projection(context, rows.scope, node, rows, at)
    order = order_of(context, rows.scope, node, at)
    return _finish(context, node, rows.qualifiers, element, order)


def projection(context: Context, scope: Scope, node: syntax.Select, rows: Rows, at: Translators) -> Expr:
    """The element for one binding of the iterators."""
    if node.projections is None:
        if node.groups is None:
            return Made(rows.iterators)
        names = [*(label for label, _ in node.groups), "partition"]
        return Made(tuple((name, scope.names[name]) for name in names))
    if len(node.projections) == 1 and node.projections[0].name is None:
        return at.expression(context, scope, node.projections[0].of)
    members: dict[str, Expr] = {}
    for p in node.projections:
        name = p.name or syntax.last_name(p.of)
        if name is None:
            raise wrong("this projection needs a name", p.place, hint="write name: expression")
        if name in members:
            raise wrong(f"two projections are called {name}", p.place, hint="write name: expression")
        members[name] = at.expression(context, scope, p.of)
    return Made(tuple(members.items()))


def order_of(context: Context, scope: Scope, node: syntax.Select, at: Translators) -> tuple[SortKey, ...]:
    """nil and UNDEFINED come first ascending, last descending."""
    keys = []
    for key in node.order:
        value = one(context, at.expression(context, scope, key.of))
        if isinstance(value.kind, Dict):
            raise wrong(f"a {value.kind} has no order", key.place)
        keys.append(SortKey(value.term, key.descending, not key.descending))
    return tuple(keys)


def _finish(
    context: Context,
    node: syntax.Select,
    qualifiers: tuple[Qualifier, ...],
    element: Expr,
    order: tuple[SortKey, ...],
) -> Expr:
    found = _select_all(context, node, qualifiers, element, order)
    return found if node.limit is None else rank_elements(context, found, node.limit, node.offset)


def _select_all(
    context: Context,
    node: syntax.Select,
    qualifiers: tuple[Qualifier, ...],
    element: Expr,
    order: tuple[SortKey, ...],
) -> Many:
    bag = Many("bag", qualifiers, element)
    if not node.order:
        return distinct(context, bag) if node.distinct else bag
    if not node.distinct:
        return replace(bag, shape="list", order=order)
    return _distinct_list(context, bag, order)


def _distinct_list(context: Context, bag: Many, order: tuple[SortKey, ...]) -> Many:
    """Each element once, where it comes first: the first of its sort keys."""
    directions = {k.descending for k in order}
    head, read = columns(context, bag.element)
    keys = build.record([(f"k{i}", k.term) for i, k in enumerate(order)])
    query = comprehension(bag, [*head, ("keys.", keys)])
    variable = Variable(context.names.fresh("d"), Struct(query.fields))
    own = build.field(variable, "keys.")
    if len(directions) > 1:
        best = aggregate(
            "first", [own], order=[replace(k, term=build.field(own, f"k{i}")) for i, k in enumerate(order)]
        )
    else:
        best = aggregate("max" if True in directions else "min", [own])
    terms = tuple(build.field(variable, name) for name, _ in head)
    fields = (*query.fields[:-1], Member("keys.", best.type))
    group = Group(variable, query, terms, (best,), fields)
    at = Variable(context.names.fresh("d"), Struct(fields))
    place = build.field(at, "keys.")
    sort = tuple(replace(k, term=build.field(place, f"k{i}")) for i, k in enumerate(order))
    return Many("list", (Generator(at, group),), read(at), sort)


# --- aggregates of the whole ---------------------------------------------------------------------------------


def _is_whole(context: Context, scope: Scope, node: syntax.Select, at: Translators) -> bool:
    """`select sum(e.salary) from e in Employees` is one value: an aggregate of something that is no collection."""
    return node.projections is not None and any(
        has_shorthand(context, scope, p.of, at) for p in node.projections
    )


def has_shorthand(context: Context, scope: Scope, node: object, at: Translators) -> bool:
    match node:
        case syntax.Select():
            return False
        case syntax.Call(name, arguments, star) if name.lower() in AGGREGATES and name not in context.macros:
            return star or (
                len(arguments) == 1 and not is_collection(context, scope, strip_brackets(arguments[0]), at)
            )
        case tuple():
            return any(has_shorthand(context, scope, part, at) for part in node)
        case _ if isinstance(node, syntax.Node):
            parts = (getattr(node, name) for name in node.__slots__ if name != "place")
            return any(has_shorthand(context, scope, part, at) for part in parts)
        case _:
            return False


def strip_brackets(node: syntax.Node) -> syntax.Node:
    """What is in the brackets of `distinct (x)`, which looks like a call; any other node is what it is."""
    if isinstance(node, syntax.Call) and node.name.lower() == "distinct" and len(node.arguments) == 1:
        return node.arguments[0]
    return node


def is_collection(context: Context, scope: Scope, node: syntax.Node, at: Translators) -> bool:
    cautions, checks = len(context.cautions), len(context.checks)
    kind = at.expression(context, scope, node).kind
    del context.cautions[cautions:], context.checks[checks:]
    return isinstance(kind, Coll | Dict)
