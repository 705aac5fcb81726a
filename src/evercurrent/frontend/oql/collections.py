"""From collections to collections, and to one of their elements: set operations, lists, `element`, `flatten`.

Where a query can express it, the result is a query; positions that are not constant, concatenation and `distinct` of lists
work on the collected value.

    set(1, 2) union set(2, 3) = set(1, 2, 3)        bag(1, 2) union bag(2) = bag(1, 2, 2)
    list(1) + list(2) = list(1, 2)                  flatten(list(list(1), list(2, 3))) = list(1, 2, 3)
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Generator,
    Group,
    Query,
    Scalar,
    SetOperation,
    Union,
)
from evercurrent.data.types import BIGINT, BOOLEAN, Member, Struct
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.forms import (
    Read,
    article,
    columns,
    comprehension,
    decode_slot,
    distinct,
    guard_value,
    in_slot,
    many,
    one,
)
from evercurrent.frontend.oql.kinds import (
    NIL,
    TRUTH,
    Coll,
    NoCommonKind,
    Slot,
    common,
    common_slot,
    slot_type,
)
from evercurrent.frontend.oql.values import Expr, Made, Many, One, slot_of
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import Record, Term, Variable

# --- set operations ------------------------------------------------------------------------------------------

WORDS = {"+": "union", "-": "except", "*": "intersect"}


def combine(context: Context, operator: str, left: Many, right: Many, place: Place | None) -> Expr:
    """union, except, intersect; of two lists, `+` and union are concatenation."""
    word = WORDS.get(operator, operator)
    if left.shape == right.shape == "list" and word == "union":
        return _concatenate(context, left, right, place)
    sets = left.shape == right.shape == "set"
    slot = _common_slot(context, left, right, place)
    queries = (_values(context, left, slot), _values(context, right, slot))
    fields = queries[0].fields
    found: Query
    if word == "union":
        found = Union(queries, fields)
        if sets:
            variable = Variable(context.names.fresh("u"), Struct(fields))
            head = (build.field(variable, "value"),)
            found = Comprehension("set", head, (Generator(variable, found),), fields)
    else:
        found = SetOperation("intersect" if word == "intersect" else "except", not sets, *queries, fields)
    variable = Variable(context.names.fresh("x"), Struct(fields))
    defined = build.conjunction([left.defined, right.defined])
    qualifiers = (Generator(variable, found),)
    guard = () if defined == TRUE else (Filter(defined),)
    shape = "set" if sets else "bag"
    return Many(
        shape, (*guard, *qualifiers), decode_slot(slot, build.field(variable, "value")), defined=defined
    )


def _common_slot(context: Context, left: Many, right: Many, place: Place | None) -> Slot:
    try:
        return common_slot([slot_of(left.element), slot_of(right.element)], context.schema)
    except NoCommonKind:
        raise wrong(f"{article(left.kind)} and {article(right.kind)} do not go together", place) from None


def _values(context: Context, collection: Many, slot: Slot) -> Comprehension:
    """The elements in one column, as they stand in a slot."""
    made = comprehension(collection, [("value", in_slot(context, collection.element, slot))])
    return replace(made, fields=(Member("value", slot_type(slot)),))


def _concatenate(context: Context, left: Many, right: Many, place: Place | None) -> One:
    kind = common([left.kind, right.kind], context.schema)
    assert isinstance(kind, Coll)
    a = one(context, replace(left, element=_as(context, left.element, kind.element)))
    b = one(context, replace(right, element=_as(context, right.element, kind.element)))
    term = build.call("concat", a.term, b.term, place=place)
    return One(kind, term, build.conjunction([left.defined, right.defined]))


def _as(context: Context, expr: Expr, slot: Slot) -> Expr:
    """An element in the encoding of a slot: the slot's own flag travels in the value."""
    return decode_slot(slot, in_slot(context, expr, slot)) if slot.undefined else one(context, expr)


def compare_inclusion(context: Context, operator: str, left: Many, right: Many, place: Place | None) -> One:
    """`<=` and its kin between sets or bags."""
    if operator in (">", ">="):
        return compare_inclusion(context, operator.replace(">", "<"), right, left, place)
    slot = _common_slot(context, left, right, place)
    a, b = _values(context, left, slot), _values(context, right, slot)
    every = not left.shape == right.shape == "set"
    term = build.negation(Exists(SetOperation("except", every, a, b, a.fields), BOOLEAN))
    if operator == "<":
        more = Exists(SetOperation("except", every, b, a, a.fields), BOOLEAN)
        term = build.conjunction([term, more])
    return guard_value(TRUTH, term, build.conjunction([left.defined, right.defined]))


# --- one element ---------------------------------------------------------------------------------------------


def pick(query: Query, read: Read, found: Term) -> Expr:
    """The element that the only row of a query holds; UNDEFINED where `found` does not hold."""
    variable = Variable("p.", Struct(query.fields))
    members = []
    for f in query.fields:
        field = (Member(f.name, f.type),)
        column = Comprehension("bag", (build.field(variable, f.name),), (Generator(variable, query),), field)
        members.append((f.name, Scalar(column, f.type)))
    return with_defined(read(Record(tuple(members), Struct(query.fields))), found)


def with_defined(expr: Expr, defined: Term) -> Expr:
    """An expression that is defined only where something holds besides."""
    match expr:
        case One(kind, term, own):
            return One(kind, term, build.conjunction([defined, own]))
        case Made(members, of, own):
            return Made(members, of, build.conjunction([defined, own]))
        case Many():
            return replace(expr, defined=build.conjunction([defined, expr.defined]))


def only(context: Context, collection: Many) -> tuple[Expr, Term]:
    """`element(collection)`, and whether there is exactly one."""
    head, read = columns(context, collection.element)
    query = comprehension(collection, head)
    variable = Variable(context.names.fresh("g"), Struct(query.fields))
    counted = aggregate("count", [])
    firsts = [aggregate("any_value", [build.field(variable, name)]) for name, _ in head]
    fields = (
        *(Member(name, a.type) for (name, _), a in zip(head, firsts, strict=True)),
        Member("count.", BIGINT, False),
    )
    group = Group(variable, query, (), (*firsts, counted), fields)
    at = Variable(context.names.fresh("g"), Struct(fields))
    single = build.call("eq", build.field(at, "count."), build.lit(1, BIGINT))
    terms = tuple(build.field(at, name) for name, _ in head)
    kept = Comprehension("bag", terms, (Generator(at, group), Filter(single)), fields[:-1])
    found = Exists(kept, BOOLEAN)
    return pick(kept, read, found), found


# --- other ---------------------------------------------------------------------------------------------------


def flatten(context: Context, collection: Many, place: Place | None) -> Expr:
    """One level less."""
    inner = many(context, collection.element, place)
    lists = collection.shape == inner.shape == "list"
    shape = "list" if lists else "set" if inner.shape == "set" else "bag"
    found = Many(
        "list" if lists else "bag",
        (*collection.qualifiers, *inner.qualifiers),
        inner.element,
        (*collection.order, *inner.order) if lists else (),
        None,
        collection.defined,
    )
    return distinct(context, found) if shape == "set" else found


def distinct_of(context: Context, expr: Expr, place: Place | None) -> Expr:
    collection = many(context, expr, place)
    if collection.shape != "list":
        return distinct(context, collection)
    value = one(context, collection)
    return One(value.kind, build.call("array_distinct", value.term), value.defined)


def literal_collection(context: Context, shape: str, items: list[Expr], place: Place | None) -> One:
    """`set(...)`, `bag(...)`, `list(...)`."""
    try:
        slot = common_slot([slot_of(i) for i in items], context.schema) if items else Slot(NIL)
    except NoCommonKind as problem:
        raise wrong(f"the elements do not go together: {problem.message}", place) from None
    kind = Coll(shape, slot)  # type: ignore[arg-type]
    if not items:
        return One(kind, build.call("array"))
    term: Term = build.call("array", *(in_slot(context, i, slot) for i in items))
    if shape == "set":
        term = build.call("array_distinct", term)
    return One(kind, term if shape == "list" else build.call("sort_array", term))


def single_row(query: Query, read: Read) -> Expr:
    """What the only row of a relation holds."""
    return pick(query, read, TRUE)
