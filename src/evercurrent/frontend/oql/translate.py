"""Syntax to expressions of the calculus: one page of `match`, and a second for conditions of which only TRUE counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from evercurrent.calculus.nodes import Filter
from evercurrent.data.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, Boolean, Reference, String
from evercurrent.errors import QueryError
from evercurrent.frontend.oql import collections as colls
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.aggregates import compared, holds, member_of, quantified
from evercurrent.frontend.oql.calls import call
from evercurrent.frontend.oql.context import Context, Scope, caution, near, wrong
from evercurrent.frontend.oql.forms import article, guarded, many, one, present
from evercurrent.frontend.oql.kinds import NIL, STRING_KIND, TRUTH, Atom, Coll, Dict, Obj
from evercurrent.frontend.oql.methods import operation
from evercurrent.frontend.oql.names import named_object
from evercurrent.frontend.oql.operators import (
    ORDER,
    arithmetic,
    atom,
    function,
    logic,
    negated,
    ordered,
    same,
    truth,
)
from evercurrent.frontend.oql.select import Translators, select
from evercurrent.frontend.oql.steps import extent, has_member, known_names, member, table
from evercurrent.frontend.oql.strings import character, like, substring
from evercurrent.frontend.oql.values import Expr, Made, Many, One, renamed
from evercurrent.frontend.oql.views import defined_view
from evercurrent.term import build
from evercurrent.term.nodes import Cast, Literal, Term

SETS = ("union", "except", "intersect")


def expression(context: Context, scope: Scope, node: syntax.Node) -> Expr:
    match node:
        case syntax.Constant():
            return constant(node)
        case syntax.Name(name, place):
            return named(context, scope, name, node)
        case syntax.Step(of, name, arguments, place):
            value = expression(context, scope, of)
            if isinstance(value.kind, Obj) and name in context.schema.operations(value.kind.of):
                args = [expression(context, scope, a) for a in arguments or ()]
                return operation(context, one(context, value), value.kind.of, name, args, place)
            if arguments:
                raise wrong(f"{article(value.kind)} has no operation {name}", place)
            return member(context, value, name, place)
        case syntax.Index():
            return index(context, scope, node)
        case syntax.Slice(of, low, high, place):
            value = expression(context, scope, of)
            ends = [atom(context, expression(context, scope, n), n.place) for n in (low, high)]
            if isinstance(value.kind, Atom):
                return substring(context, value, ends[0], ends[1], place)
            return colls.sliced(context, value, ends[0], ends[1], place)
        case syntax.Unary("not", of):
            return negated(truth(context, expression(context, scope, of), of.place))
        case syntax.Unary(sign, of, place):
            value = expression(context, scope, of)
            return function(context, "neg", [value], place) if sign == "-" else atom(context, value, place)
        case syntax.Binary():
            return binary(context, scope, node)
        case syntax.Compared(operator, every, left, right, place):
            source = many(context, expression(context, scope, right), right.place)
            return compared(
                context,
                operator,
                every,
                expression(context, scope, left),
                renamed(source, context.names),
                place,
            )
        case syntax.Quantified(every, _, _, condition_):
            source, inner = _bound(context, scope, node)
            return quantified(
                every, source, truth(context, expression(context, inner, condition_), condition_.place)
            )
        case syntax.Call():
            return call(context, scope, node, AT)
        case syntax.Construct(name, members, place):
            made = None if name is None else context.class_name(name)
            if name is not None and made is None:
                raise wrong(f"there is no class {name}", place, near(name, context.schema.classes))
            return Made(tuple((n, expression(context, scope, e)) for n, e in members), made)
        case syntax.Collect(kind, items, place):
            return colls.literal_collection(
                context, kind, [expression(context, scope, i) for i in items], place
            )
        case syntax.Range(kind, low, high, place):
            return _range(context, scope, node)
        case syntax.Cast(name, of, place):
            return cast(context, scope, name, expression(context, scope, of), node)
        case syntax.Select():
            return select(context, scope, node, AT)
        case _:
            assert_never(node)


def condition(context: Context, scope: Scope, node: syntax.Node) -> Term:
    """A term that is TRUE where the condition is; elsewhere it may be FALSE or NULL."""
    match node:
        case syntax.Binary("and" | "andthen", left, right):
            first = condition(context, scope, left)
            return build.conjunction([first, condition(context, scope.given(first), right)])
        case syntax.Binary("or", left, right):
            return build.disjunction([condition(context, scope, left), condition(context, scope, right)])
        case syntax.Quantified(every, _, _, inner_node):
            source, inner = _bound(context, scope, node)
            return holds(every, source, condition(context, inner, inner_node))
        case _:
            return truth(context, expression(context, scope, node), node.place).term


def _bound(context: Context, scope: Scope, node: syntax.Quantified) -> tuple[Many, Scope]:
    source = many(context, expression(context, scope, node.collection), node.collection.place)
    source = renamed(source, context.names, node.variable)
    return source, scope.with_name(node.variable, source.element).under(*source.qualifiers)


def constant(node: syntax.Constant) -> One:
    match node.type:
        case "nil":
            return One(NIL, build.null())
        case "undefined":
            return One(NIL, build.null(), build.FALSE)
        case "string":
            return One(STRING_KIND, build.lit(node.value.replace("\\\\", "\\"), STRING))
        case "float":
            return One(Atom(DOUBLE), build.lit(node.value, DOUBLE))
        case "date" | "timestamp" | "time":
            if node.type == "time":
                raise wrong("there is no type for a time of day", node.place, "use a timestamp, or a string")
            type = DATE if node.type == "date" else TIMESTAMP
            term = build.cast(build.lit(node.value), type, strict=False, place=node.place)
            if isinstance(term, Literal) and term.value is None:
                raise wrong(f"{node.value!r} is not a {node.type}", node.place)
            return One(Atom(type), term)
        case _:
            term = build.lit(node.value)
            return One(Atom(term.type), term)


def named(context: Context, scope: Scope, name: str, node: syntax.Name) -> Expr:
    if name in scope.names:
        return scope.names[name]
    for expr in reversed(scope.implicit):
        if has_member(context, expr, name):
            return expression(context, replace(scope, names={**scope.names, name: expr}), _step(name, node))
    found = extent(context, name)
    if found is not None:
        return found
    bound = named_object(context, name)
    if bound is not None:
        return bound
    if name in context.macros:
        return call(context, scope, syntax.Call(name, (), place=node.place), AT)
    relation = defined_view(context, name) or table(context, name)
    if relation is not None:
        return relation
    if scope.rows is not None and name in dict(_iterators(scope.rows)):
        raise wrong(f"{name} is not known above group by", node.place, "there are the labels and partition")
    raise wrong(f"there is no {name} here", node.place, near(name, known_names(context, scope)))


def _iterators(rows: Many) -> Mapping[str, Expr]:
    return dict(rows.element.members) if isinstance(rows.element, Made) else {}


def _step(name: str, node: syntax.Name) -> syntax.Step:
    return syntax.Step(syntax.Name(name, node.place), name, None, node.place)


# --- operators -----------------------------------------------------------------------------------------------


def binary(context: Context, scope: Scope, node: syntax.Binary) -> Expr:
    operator, place = node.operator, node.place
    left = expression(context, scope, node.left)
    if operator in ("and", "or", "andthen", "orelse"):
        first = truth(context, left, node.left.place)
        inner = scope
        if operator == "andthen":
            inner = scope.given(first.term)
        elif operator == "orelse":
            inner = scope.given(build.negation(build.call("coalesce", first.term, build.FALSE)))
        second = truth(context, expression(context, inner, node.right), node.right.place)
        if operator == "andthen":
            return _short(first, second, first.term, first)
        if operator == "orelse":
            return logic(operator, first, second)
        return logic(operator, first, second)
    right = expression(context, scope, node.right)
    match operator:
        case "=":
            return same(context, left, right, place)
        case "!=":
            return negated(same(context, left, right, place))
        case "like":
            return like(context, left, right, place)
        case "in":
            if isinstance(right.kind, Atom) and isinstance(right.kind.type, String):
                found = function(context, "locate", [left, right], place)
                return One(TRUTH, build.call("gt", found.term, build.lit(0)), found.defined)
            source = renamed(many(context, right, node.right.place), context.names)
            return member_of(context, left, source, place)
        case _:
            pass
    if isinstance(left.kind, Coll) or isinstance(right.kind, Coll) or operator in SETS:
        a = many(context, left, node.left.place)
        b = renamed(many(context, right, node.right.place), context.names)
        if operator in ORDER:
            return colls.included(context, operator, a, b, place)
        if operator in SETS or operator in colls.WORDS or operator == "||":
            return colls.combined(context, "union" if operator == "||" else operator, a, b, place)
        raise wrong(f"{operator} is not for collections", place)
    try:
        if operator in ORDER:
            return ordered(context, operator, left, right, place)
        return arithmetic(context, operator, left, right, place)
    except QueryError as problem:
        if problem.place is None:
            problem.place = place
        raise


def _short(first: One, second: One, when: Term, otherwise: One) -> One:
    """`andthen`: the right side where the left is true, else the left side."""
    term = build.case([(when, second.term)], otherwise.term)
    defined = build.case([(when, second.defined)], otherwise.defined)
    if isinstance(defined.type, Boolean) and second.defined == build.TRUE == otherwise.defined:
        defined = build.TRUE
    return One(TRUTH, term, defined)


def index(context: Context, scope: Scope, node: syntax.Index) -> Expr:
    value = expression(context, scope, node.of)
    at = atom(context, expression(context, scope, node.at), node.at.place)
    found: Expr
    if isinstance(value.kind, Atom):
        found, inside = character(context, value, at, node.place)
    else:
        found, inside = colls.indexed(context, value, at, node.place)
    what = "there may be no such key" if isinstance(value.kind, Dict) else "the index may be out of range"
    known = [value.defined, at.defined, build.call("is_not_null", at.term)]
    if isinstance(value, One) and isinstance(value.kind, Atom):
        known.append(build.call("is_not_null", value.term))
    caution(context, scope.given(build.conjunction(known)), inside, what, node.place)
    outer = colls.with_defined(found, build.conjunction([value.defined, at.defined]))
    return outer


def cast(context: Context, scope: Scope, name: str, expr: Expr, node: syntax.Cast) -> Expr:
    """An object as one of another class; UNDEFINED if it is none."""
    target, value = context.class_name(name), one(context, expr)
    if target is None:
        raise wrong(f"there is no class {name}", node.place, near(name, context.schema.classes))
    if not isinstance(value.kind, Obj):
        raise wrong(f"{article(value.kind)} cannot be cast to {name}", node.place)
    if context.schema.is_a(value.kind.of, target):
        return One(Obj(target), value.term, value.defined)
    if not context.schema.is_a(target, value.kind.of):
        raise wrong(f"no {value.kind.of} can be a {name}", node.place)
    found, is_one = narrowed_object(context, value, target)
    caution(context, scope, is_one, f"the object may be no {target}", node.place)
    return found


def narrowed_object(context: Context, value: One, target: str) -> tuple[One, Term]:
    """The object looked up in the extent of a subclass, and whether it is there (or nil)."""
    from evercurrent.calculus.paths import step
    from evercurrent.catalog.extents import OID

    found = step(context.schema, Cast(value.term, Reference(target)), OID)
    there = build.call("is_not_null", found)
    is_one = (
        there
        if present(value) == build.TRUE
        else build.disjunction([build.call("is_null", value.term), there])
    )
    return guarded(Obj(target), found, build.conjunction([value.defined, is_one])), is_one


def narrowed(context: Context, source: Many, iterator: syntax.Iterator) -> tuple[Many, Expr]:
    """`e as employee in Persons`: the elements that are of a class."""
    target, value = context.class_name(iterator.of or ""), one(context, source.element)
    if target is None or not isinstance(value.kind, Obj):
        raise wrong(
            f"there is no class {iterator.of}",
            iterator.place,
            near(iterator.of or "", context.schema.classes),
        )
    if context.schema.is_a(value.kind.of, target):
        return source, value
    found, _ = narrowed_object(context, value, target)
    there = Filter(build.call("is_not_null", found.term))
    return replace(source, qualifiers=(*source.qualifiers, there)), One(Obj(target), found.term)


def _range(context: Context, scope: Scope, node: syntax.Range) -> One:
    low, high = (atom(context, expression(context, scope, n), n.place) for n in (node.low, node.high))
    numbers = build.call("sequence", low.term, high.term, place=node.place)
    term = build.case(
        [(build.call("le", low.term, high.term), numbers)], build.cast(build.call("array"), numbers.type)
    )
    from evercurrent.frontend.oql.kinds import kind_of

    element = kind_of(numbers.type)
    assert isinstance(element, Coll)
    defined = build.conjunction([low.defined, high.defined])
    return One(Coll(node.kind, element.element), term, defined)


AT = Translators(expression, condition, narrowed)

__all__ = ["AT", "INT", "condition", "expression"]
