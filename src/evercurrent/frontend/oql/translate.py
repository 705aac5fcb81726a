"""Syntax to expressions of the calculus: one page of `match`, and a second for conditions of which only TRUE counts.

    select e.name from e in Employees where e.dept.name = "dev"      bag{ (value: e.name) | e <- Employees
                                                                        , dept <-outer Departments on dept.oid = e.dept
                                                                        , dept.name = 'dev' }

The path `e.dept` becomes a generator later, in `calculus.paths`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from evercurrent.data.types import Boolean, String
from evercurrent.errors import QueryError
from evercurrent.frontend.oql import collections as colls
from evercurrent.frontend.oql import lists, syntax
from evercurrent.frontend.oql.aggregates import compare_quantified, holds, member_of, quantify
from evercurrent.frontend.oql.calls import call
from evercurrent.frontend.oql.casts import cast, narrow
from evercurrent.frontend.oql.constants import constant, number_range
from evercurrent.frontend.oql.context import Context, Scope, caution, near, wrong
from evercurrent.frontend.oql.forms import article, many, one
from evercurrent.frontend.oql.kinds import TRUTH, Atom, Coll, Dict, Obj
from evercurrent.frontend.oql.methods import operation
from evercurrent.frontend.oql.names import find_named_object
from evercurrent.frontend.oql.operators import (
    ORDER,
    arithmetic,
    atom,
    compare_order,
    function,
    logic,
    negate,
    same,
    truth,
)
from evercurrent.frontend.oql.select import Translators, select
from evercurrent.frontend.oql.steps import extent, has_member, list_names, member, table
from evercurrent.frontend.oql.strings import character, like, substring
from evercurrent.frontend.oql.values import Expr, Made, Many, One, rename
from evercurrent.frontend.oql.views import find_defined_view
from evercurrent.term import build
from evercurrent.term.nodes import Term

SETS = ("union", "except", "intersect")


def expression(context: Context, scope: Scope, node: syntax.Node) -> Expr:
    match node:
        case syntax.Constant():
            return constant(node)
        case syntax.Name(name, place):
            return resolve_name(context, scope, name, node)
        case syntax.Step():
            return step(context, scope, node)
        case syntax.Index():
            return index(context, scope, node)
        case syntax.Slice(of, low, high, place):
            value = expression(context, scope, of)
            ends = [atom(context, expression(context, scope, n), n.place) for n in (low, high)]
            if isinstance(value.kind, Atom):
                return substring(context, value, ends[0], ends[1], place)
            return lists.slice_list(context, value, ends[0], ends[1], place)
        case syntax.Unary("not", of):
            return negate(truth(context, expression(context, scope, of), of.place))
        case syntax.Unary(sign, of, place):
            value = expression(context, scope, of)
            return function(context, "neg", [value], place) if sign == "-" else atom(context, value, place)
        case syntax.Binary():
            return binary(context, scope, node)
        case syntax.Compared(operator, every, left, right, place):
            source = many(context, expression(context, scope, right), right.place)
            return compare_quantified(
                context,
                operator,
                every,
                expression(context, scope, left),
                rename(source, context.names),
                place,
            )
        case syntax.Quantified(every, _, _, condition_):
            source, inner = _bind(context, scope, node)
            return quantify(
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
            ends = [atom(context, expression(context, scope, n), n.place) for n in (low, high)]
            return number_range(kind, ends[0], ends[1], place)
        case syntax.Cast(name, of, place):
            return cast(context, scope, name, expression(context, scope, of), node)
        case syntax.Select():
            return select(context, scope, node, AT)
        case _:
            assert_never(node)


def step(context: Context, scope: Scope, node: syntax.Step) -> Expr:
    """`x.name`, a property, or `x.name(...)`, an operation."""
    value = expression(context, scope, node.of)
    if isinstance(value.kind, Obj) and node.name in context.schema.operations(value.kind.of):
        args = [expression(context, scope, a) for a in node.arguments or ()]
        return operation(context, one(context, value), value.kind.of, node.name, args, node.place)
    if node.arguments:
        raise wrong(f"{article(value.kind)} has no operation {node.name}", node.place)
    return member(context, value, node.name, node.place)


def condition(context: Context, scope: Scope, node: syntax.Node) -> Term:
    """A term that is TRUE where the condition is; elsewhere it may be FALSE or NULL."""
    match node:
        case syntax.Binary("and" | "andthen", left, right):
            first = condition(context, scope, left)
            return build.conjunction([first, condition(context, scope.assume(first), right)])
        case syntax.Binary("or", left, right):
            return build.disjunction([condition(context, scope, left), condition(context, scope, right)])
        case syntax.Quantified(every, _, _, inner_node):
            source, inner = _bind(context, scope, node)
            return holds(every, source, condition(context, inner, inner_node))
        case _:
            return truth(context, expression(context, scope, node), node.place).term


def _bind(context: Context, scope: Scope, node: syntax.Quantified) -> tuple[Many, Scope]:
    source = many(context, expression(context, scope, node.collection), node.collection.place)
    source = rename(source, context.names, node.variable)
    return source, scope.with_name(node.variable, source.element).under(*source.qualifiers)


def resolve_name(context: Context, scope: Scope, name: str, node: syntax.Name) -> Expr:
    if name in scope.names:
        return scope.names[name]
    for expr in reversed(scope.implicit):
        if has_member(context, expr, name):
            return expression(context, replace(scope, names={**scope.names, name: expr}), _step(name, node))
    found = extent(context, name)
    if found is not None:
        return found
    bound = find_named_object(context, name)
    if bound is not None:
        return bound
    if name in context.macros:
        return call(context, scope, syntax.Call(name, (), place=node.place), AT)
    relation = find_defined_view(context, name) or table(context, name)
    if relation is not None:
        return relation
    if scope.rows is not None and name in dict(_iterators(scope.rows)):
        raise wrong(f"{name} is not known above group by", node.place, "there are the labels and partition")
    raise wrong(f"there is no {name} here", node.place, near(name, list_names(context, scope)))


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
            inner = scope.assume(first.term)
        elif operator == "orelse":
            inner = scope.assume(build.negation(build.call("coalesce", first.term, build.FALSE)))
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
            return negate(same(context, left, right, place))
        case "like":
            return like(context, left, right, place)
        case "in":
            if isinstance(right.kind, Atom) and isinstance(right.kind.type, String):
                found = function(context, "locate", [left, right], place)
                return One(TRUTH, build.call("gt", found.term, build.lit(0)), found.defined)
            source = rename(many(context, right, node.right.place), context.names)
            return member_of(context, left, source, place)
        case _:
            pass
    if isinstance(left.kind, Coll) or isinstance(right.kind, Coll) or operator in SETS:
        a = many(context, left, node.left.place)
        b = rename(many(context, right, node.right.place), context.names)
        if operator in ORDER:
            return colls.compare_inclusion(context, operator, a, b, place)
        if operator in SETS or operator in colls.WORDS or operator == "||":
            return colls.combine(context, "union" if operator == "||" else operator, a, b, place)
        raise wrong(f"{operator} is not for collections", place)
    try:
        if operator in ORDER:
            return compare_order(context, operator, left, right, place)
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
        found, inside = lists.index_collection(context, value, at, node.place)
    what = "there may be no such key" if isinstance(value.kind, Dict) else "the index may be out of range"
    known = [value.defined, at.defined, build.call("is_not_null", at.term)]
    if isinstance(value, One) and isinstance(value.kind, Atom):
        known.append(build.call("is_not_null", value.term))
    caution(context, scope.assume(build.conjunction(known)), inside, what, node.place)
    outer = colls.with_defined(found, build.conjunction([value.defined, at.defined]))
    return outer


AT = Translators(expression, condition, narrow)
