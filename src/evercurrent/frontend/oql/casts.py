"""Objects as objects of a more special class: looked up in its extent.

In a view, `(employee) p` is UNDEFINED where p is no employee; a query that is asked once fails there. The iterator
`e as employee in Persons` passes over those.

    select e.salary from e as employee in Persons      with Ann (100) and Ben (50) employed, and Bob not: bag(50, 100)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import Filter
from evercurrent.calculus.paths import step
from evercurrent.catalog.extents import OID
from evercurrent.data.types import Reference
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import Context, Scope, caution, near, wrong
from evercurrent.frontend.oql.forms import article, guard_value, one, present
from evercurrent.frontend.oql.kinds import Obj
from evercurrent.frontend.oql.values import Expr, Many, One
from evercurrent.term import build
from evercurrent.term.nodes import Cast, Term


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
    found, is_one = narrow_object(context, value, target)
    caution(context, scope, is_one, f"the object may be no {target}", node.place)
    return found


def narrow_object(context: Context, value: One, target: str) -> tuple[One, Term]:
    """The object looked up in the extent of a subclass, and whether it is there (or nil)."""
    found = step(context.schema, Cast(value.term, Reference(target)), OID)
    there = build.call("is_not_null", found)
    is_one = (
        there
        if present(value) == build.TRUE
        else build.disjunction([build.call("is_null", value.term), there])
    )
    return guard_value(Obj(target), found, build.conjunction([value.defined, is_one])), is_one


def narrow(context: Context, source: Many, iterator: syntax.Iterator) -> tuple[Many, Expr]:
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
    found, _ = narrow_object(context, value, target)
    there = Filter(build.call("is_not_null", found.term))
    return replace(source, qualifiers=(*source.qualifiers, there)), One(Obj(target), found.term)
