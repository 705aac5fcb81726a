"""The entry points of the OQL front end.

    views(context, name, node, text)     the views that keep a definition, its own last
    question(context, node)              the relations that hold the value of a query that is run once

    define pay as sum(select e.salary from e in Employees)      one view: bag{ (value: coalesce(the group(...), 0)) }

The node comes from `parse`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evercurrent.calculus.nodes import Query
from evercurrent.calculus.paths import resolve
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import PartOf, View
from evercurrent.data.types import Member
from evercurrent.errors import EvercurrentError, LimitError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import Context, Scope
from evercurrent.frontend.oql.forms import comprehension, term_as
from evercurrent.frontend.oql.kinds import VALUE, plain
from evercurrent.frontend.oql.layout import Layout, Order, read_whole
from evercurrent.frontend.oql.shred import shred
from evercurrent.frontend.oql.translate import expression
from evercurrent.frontend.oql.values import Expr, Made, Many


@dataclass(frozen=True, slots=True)
class Question:
    """A query to be answered once: `relations` are to be evaluated, `layout` reads the value from them."""

    layout: Layout
    relations: tuple[tuple[str, Query], ...]


def translate_node(context: Context, node: syntax.Node) -> Expr:
    try:
        return expression(context, Scope(), node)
    except RecursionError:
        raise LimitError("this is nested too deeply", place=node.place) from None
    except EvercurrentError as problem:
        if problem.place is None:
            problem.place = node.place
        raise


def question(context: Context, node: syntax.Node) -> Question:
    made = shred(context, "result", translate_node(context, node))
    relations = tuple((name, resolve(query, context.catalog)) for name, query, _ in made.relations)
    return Question(made.layout, relations)


def views(
    context: Context, name: str, node: syntax.Node, text: str, *, keep: bool = False, **options: Any
) -> list[View]:
    """The views that keep a definition: its parts first, then, under its name, what SQL sees.

    The last is only written out where it is read, unless it is to be kept as well.
    """
    made = shred(context, name, translate_node(context, node))
    found = [
        _view(context.catalog, part, query, order, text, PartOf(name), options)
        for part, query, order in made.relations
    ]
    if len(found) == 1:
        return [replace(found[0], shape=made.layout)]
    catalog = context.catalog
    for part in found:
        catalog = catalog.with_view(part)
    inner = replace(context, catalog=catalog)
    whole = read_whole(inner, made.layout)
    collection = whole if isinstance(whole, Many) else Many("bag", (), whole)
    query = _for_others(inner, collection)
    return [*found, _view(catalog, name, query, (), text, made.layout, options | {"inline": not keep})]


def _for_others(context: Context, collection: Many) -> Query:
    """What SQL sees of a view that is kept in parts: nested collections as arrays, UNDEFINED as NULL."""
    element = collection.element
    members = element.members if isinstance(element, Made) and element.members else ((VALUE, element),)
    head = [(name, term_as(context, e, plain(e.kind))) for name, e in members]
    return comprehension(collection, head)


def _view(
    catalog: Catalog, name: str, query: Query, order: Order, text: str, shape: object, options: dict[str, Any]
) -> View:
    resolved = resolve(query, catalog)
    names = [f.name for f in resolved.fields]
    positions = tuple((names.index(c), down, first) for c, down, first in order)
    fields: tuple[Member, ...] = resolved.fields
    return View(
        name,
        fields,
        resolved,
        positions,
        text,
        "oql",
        uses=relations_of(resolved),
        shape=shape,
        **options,
    )
