"""Names and paths: what a name means, and what a member of something is.

A property that is stored in the row of its object is a step along a path; a collection is the comprehension over the table
that stores it, or over the objects that refer back. A step from nil is UNDEFINED.

    select c from e in Employees, c in e.dependents      d <- Employees_dependents, d.owner = e.oid
    select e.dept.name from e in Employees               bag("dev", UNDEFINED), if one employee has no department
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from evercurrent.calculus.nodes import Filter, Generator, Relation
from evercurrent.calculus.paths import step as reference_step
from evercurrent.catalog.extents import OID, Apart, Inside, Inverse, Single, place_of
from evercurrent.data.types import Date, Struct, Time, Timestamp
from evercurrent.frontend.oql.context import Context, Scope, near, wrong
from evercurrent.frontend.oql.forms import article, decode_slot, one, present
from evercurrent.frontend.oql.kinds import Atom, Coll, Dict, Kind, Obj, Rec, is_nil, kind_of, retype
from evercurrent.frontend.oql.values import Expr, Made, Many, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import SortKey, Variable

MOMENTS = ("year", "month", "day", "hour", "minute", "second")


def has_member(context: Context, expr: Expr, name: str) -> bool:
    match expr.kind:
        case Obj(of):
            return name in context.schema.properties(of) or name in context.schema.operations(of)
        case Rec() as rec:
            return rec.slot(name) is not None
        case _:
            return False


def members_of(context: Context, kind: Kind) -> Iterable[str]:
    match kind:
        case Obj(of):
            return [*context.schema.properties(of), *context.schema.operations(of)]
        case Rec(members):
            return [name for name, _ in members]
        case _:
            return ()


def member(context: Context, expr: Expr, name: str, place: Place | None) -> Expr:
    """`expr.name`: a property of an object, a member of a struct, a part of a date."""
    match expr:
        case Made(defined=build.TRUE):
            found = expr.member(name)
            if found is None:
                raise _unknown(context, expr.kind, name, place)
            return found
        case Many() | One(kind=Coll() | Dict()):
            whole = expr.kind
            raise wrong(
                f"{name} cannot be taken of a {whole.kind if isinstance(whole, Coll) else 'dictionary'}",
                place,
                hint=f"select its elements: select x.{name} from x in ...",
            )
        case _:
            pass
    plain = one(context, expr)
    match plain.kind:
        case Obj(of):
            return _property(context, plain, of, name, place)
        case Rec() as rec:
            slot = rec.slot(name)
            if slot is None:
                raise _unknown(context, rec, name, place)
            inner = decode_slot(slot, build.field(plain.term, name))
            defined = build.conjunction([present(plain), inner.defined])
            return One(inner.kind, inner.term, defined)
        case Atom(Date() | Timestamp()) if name in MOMENTS:
            term = build.call(name, plain.term, place=place)
            return One(Atom(term.type), term, present(plain))
        case Atom(Time()) if name in ("hour", "minute", "second"):
            term = build.call(name, plain.term, place=place)
            return One(Atom(term.type), term, present(plain))
        case kind if is_nil(kind):
            return One(kind, plain.term, build.FALSE)
        case kind:
            raise wrong(f"{article(kind)} has no members", place)


def _unknown(context: Context, kind: Kind, name: str, place: Place | None) -> Exception:
    names = list(members_of(context, kind))
    hint = near(name, names) or (f"there are {', '.join(names[:12])}" if names else None)
    return wrong(f"{kind if isinstance(kind, Obj) else 'this struct'} has no member {name}", place, hint)


def _property(context: Context, object: One, of: str, name: str, place: Place | None) -> Expr:
    if name not in context.schema.properties(of):
        raise _unknown(context, object.kind, name, place)
    kept = place_of(context.schema, of, name)
    defined = present(object)
    match kept:
        case Single(_, _, type):
            found = retype(reference_step(context.schema, object.term, name, place))
            return One(kind_of(type), found, defined)
        case Inside(_, _, kind, type):
            term = reference_step(context.schema, object.term, name, place)
            value = kind_of(type)
            if kind in ("set", "bag") and isinstance(value, Coll):
                return One(Coll(kind, value.element), build.call("sort_array", term), defined)
            return One(value, term, defined)
        case Apart(table, kind, element, owner, value, position):
            variable, generator = scan(context, table)
            own = Filter(build.call("eq", build.field(variable, owner), object.term))
            item = One(kind_of(element), retype(build.field(variable, value)))
            at = None if position is None else build.field(variable, position)
            order = (SortKey(at),) if kind == "list" and at is not None else ()
            return Many(kind, (generator, own), item, order, at, defined)
        case Inverse(table, column, kind, target):
            variable, generator = scan(context, table)
            own = Filter(build.call("eq", build.field(variable, column), object.term))
            return Many(kind, (generator, own), One(Obj(target), build.field(variable, OID)), defined=defined)
        case _:
            assert_never(kept)


def scan(context: Context, relation: str) -> tuple[Variable, Generator]:
    """A variable that ranges over a table or view."""
    source = Relation(relation, context.catalog.fields_of(relation))
    variable = Variable(context.names.fresh(relation.lower()), Struct(source.fields))
    return variable, Generator(variable, source)


# --- names ---------------------------------------------------------------------------------------------------


def extent(context: Context, name: str) -> Many | None:
    """All objects of a class, by the name of its extent."""
    found = next((c for c in context.schema.classes.values() if c.extent == name), None)
    if found is None:
        return None
    variable, generator = scan(context, found.relation)
    return Many("set", (generator,), One(Obj(found.name), build.field(variable, OID)))


def table(context: Context, name: str) -> Many | None:
    """A table or a view of SQL: a bag of structs."""
    found = context.catalog.relation(name)
    if found is None or found.name != name:
        return None
    variable, generator = scan(context, name)
    members = tuple(
        (f.name, One(kind_of(f.type), retype(build.field(variable, f.name)))) for f in found.fields
    )
    return Many("bag", (generator,), Made(members))


def list_names(context: Context, scope: Scope) -> Iterable[str]:
    yield from scope.names
    for expr in scope.implicit:
        yield from members_of(context, expr.kind)
    yield from (c.extent for c in context.schema.classes.values() if c.extent)
    yield from (t.name for t in context.catalog.tables.values())
    yield from (v.name for v in context.catalog.views.values())
    yield from context.macros
    yield from context.catalog.objects
