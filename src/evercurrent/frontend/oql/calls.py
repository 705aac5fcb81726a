"""Calls: definitions, aggregates, functions of collections, and the scalar functions that SQL has.

    older(40)                  the definition `older(long a)`, written out with 40 for a
    sum(select ...)            an aggregate
    first(list(1, 2))          a function of a collection: 1
    upper("abc")               a scalar function: "ABC"

A name is looked for in this order.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.data.types import BIGINT, Null
from evercurrent.frontend.oql import collections as colls
from evercurrent.frontend.oql import lists, syntax
from evercurrent.frontend.oql.aggregates import AGGREGATES, aggregate_elements, count, exists
from evercurrent.frontend.oql.context import Context, Scope, caution, near, wrong
from evercurrent.frontend.oql.forms import article, distinct, guard_value, many
from evercurrent.frontend.oql.kinds import TRUTH, Atom, Coll, Dict, kind_of
from evercurrent.frontend.oql.operators import function, otherwise
from evercurrent.frontend.oql.select import Translators, is_collection, strip_brackets
from evercurrent.frontend.oql.values import Expr, Made, Many, One, rename
from evercurrent.frontend.oql.views import find_defined_view
from evercurrent.term import build
from evercurrent.term.function_table import find

COLLECTIONS = ("exists", "unique", "element", "first", "last", "listtoset", "distinct", "flatten", "keys")
NIL_FUNCTIONS = ("nvl", "ifnull")
FUNCTIONS = (*AGGREGATES, *COLLECTIONS, *NIL_FUNCTIONS, "abs", "is_defined", "is_undefined")


def call(context: Context, scope: Scope, node: syntax.Call, at: Translators) -> Expr:
    name, lower, place = node.name, node.name.lower(), node.place
    if name in context.macros:
        return macro(context, scope, node, at)
    view = find_defined_view(context, name)
    if view is not None:
        if node.arguments:
            raise wrong(f"{name} takes no arguments", place)
        return view
    if lower in AGGREGATES:
        return _aggregate(context, scope, node, at)
    if node.distinct:
        raise wrong(f"{name} does not take distinct", place, "count, sum, min, max and avg do")
    args = [at.expression(context, scope, a) for a in node.arguments]
    if lower in ("is_defined", "is_undefined"):
        _arity(node, args)
        defined = args[0].defined
        return One(TRUTH, defined if lower == "is_defined" else build.negation(defined))
    if lower in COLLECTIONS:
        _arity(node, args)
        return _of_collection(context, scope, node, lower, args[0])
    if lower in NIL_FUNCTIONS:
        if len(args) != 2:
            raise wrong(f"{name} takes two arguments, not {len(args)}", place)
        return otherwise(context, args[0], args[1], place)
    if context.class_name(name) is not None and not args:
        return Made((), context.class_name(name))
    if find(name) is None:
        known = [*FUNCTIONS, *context.macros, *(v.name for v in context.catalog.views.values())]
        raise wrong(f"there is no function or definition {name}", place, near(name, known))
    return function(context, name, args, place)


def _arity(node: syntax.Call, args: list[Expr]) -> None:
    if len(args) != 1:
        raise wrong(f"{node.name} takes one argument, not {len(args)}", node.place)


def macro(context: Context, scope: Scope, node: syntax.Call, at: Translators) -> Expr:
    """A definition with parameters: its body, the parameters standing for the arguments."""
    define = context.macros[node.name]
    if len(define.parameters) != len(node.arguments):
        wanted = ", ".join(f"{type} {name}".strip() for name, type in define.parameters)
        raise wrong(f"{node.name} takes ({wanted})", node.place)
    if node.name in context.expanding:
        raise wrong(f"{node.name} is defined by itself", node.place, "use WITH RECURSIVE in SQL")
    args = {
        name: at.expression(context, scope, a)
        for (name, _), a in zip(define.parameters, node.arguments, strict=True)
    }
    context.expanding = (*context.expanding, node.name)
    try:
        return at.expression(context, Scope(args, active=scope.active), define.body)
    finally:
        context.expanding = context.expanding[:-1]


def _aggregate(context: Context, scope: Scope, node: syntax.Call, at: Translators) -> Expr:
    """Of a collection; or of a scalar, which then ranges over the rows of the select around it."""
    name = node.name.lower()
    if node.star:
        if scope.rows is None:
            raise wrong("count(*) belongs in a select", node.place, "count(collection) counts elements")
        return aggregate_elements(context, name, scope.rows, node.place)

    def of(values: Many) -> Expr:
        return aggregate_elements(
            context, name, distinct(context, values) if node.distinct else values, node.place
        )

    if len(node.arguments) != 1:
        raise wrong(f"{name} takes one argument, not {len(node.arguments)}", node.place)
    if scope.rows is not None:
        rows = rename(scope.rows, context.names, "r")
        assert isinstance(rows.element, Made)
        inner = replace(
            scope, names={**scope.names, **dict(rows.element.members)}, rows=None, active=rows.qualifiers
        )
        inner = replace(inner, implicit=(*scope.implicit, *(e for _, e in rows.element.members)))
        argument = strip_brackets(node.arguments[0])
        if not is_collection(context, inner, argument, at):
            values = replace(rows, element=at.expression(context, inner, argument))
            return of(values if argument is node.arguments[0] else distinct(context, values))
    value = at.expression(context, scope, node.arguments[0])
    if not isinstance(value.kind, Coll | Dict) and not (
        isinstance(value.kind, Atom) and isinstance(value.kind.type, Null)
    ):
        raise wrong(
            f"{name} needs a collection, not {article(value.kind)}",
            node.place,
            hint=f"{name}(select ... from ...)",
        )
    return of(many(context, value, node.place))


def _of_collection(context: Context, scope: Scope, node: syntax.Call, name: str, value: Expr) -> Expr:
    place = node.place
    if name == "distinct":
        return colls.distinct_of(context, value, place)
    source: Many = many(context, value, place)
    match name:
        case "exists":
            return guard_value(TRUTH, exists(source), source.defined)
        case "unique":
            single = build.call("eq", count(context, source), build.lit(1, BIGINT))
            return guard_value(TRUTH, single, source.defined)
        case "element":
            found, single = colls.only(context, source)
            known = scope.assume(source.defined)
            caution(context, known, single, "there may be no element, or several", place)
            return found
        case "first" | "last":
            if source.shape != "list":
                raise wrong(f"a {source.shape} has no {name} element", place, "order by makes a list")
            return lists.edge(context, source, name == "last")
        case "listtoset":
            return distinct(context, replace(source, shape="bag", order=()))
        case "keys":
            if source.shape != "dictionary" or source.position is None:
                raise wrong(f"{article(source.kind)} has no keys", place, "a dictionary has")
            key = One(kind_of(source.position.type), source.position)
            return replace(source, shape="set", element=key, order=(), position=None)
        case _:
            return colls.flatten(context, source, place)
