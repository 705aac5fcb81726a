"""From one form to another: collections as values and as queries, structs as terms, values in slots.

one      anything as one term: a struct as a record, a collection as an array that collects it
many     a collection value as a comprehension over it
rows     a collection as a query, and how to read an element from its rows
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from evercurrent.calculus.nodes import Comprehension, Generator, Group, Query, Scalar, Unnest, Values
from evercurrent.data.types import INT, Array, Member, Struct
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.kinds import (
    DEFINED,
    VALUE,
    Coll,
    Dict,
    Kind,
    Rec,
    Slot,
    convert,
    is_nil,
    kind_of,
    slot_type,
    struct,
    type_of,
)
from evercurrent.frontend.oql.values import Expr, Made, Many, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import FALSE, TRUE
from evercurrent.term.nodes import Lambda, SortKey, Term, Variable
from evercurrent.term.nullable import nullable

# --- slots ---------------------------------------------------------------------------------------------------


def encode_slot(expr: One) -> Term:
    """A value as it stands in a slot."""
    if expr.defined == TRUE:
        return expr.term
    return struct([(VALUE, expr.term), (DEFINED, expr.defined)])


def decode_slot(slot: Slot, term: Term) -> One:
    """What stands in a slot."""
    if not slot.undefined:
        return One(slot.kind, term)
    known = build.call("coalesce", build.field(term, DEFINED), FALSE)
    return One(slot.kind, build.field(term, VALUE), known)


def guard_value(kind: Kind, term: Term, defined: Term) -> One:
    """A value that is NULL where it is not defined, whatever the term says there."""
    if defined == TRUE:
        return One(kind, term)
    return One(kind, build.case([(defined, term)], build.null(type_of(kind))), defined)


def present(expr: One) -> Term:
    """Whether a step from the value is defined: it is there, and not nil."""
    return build.call("is_not_null", expr.term) if nullable(expr.term) else TRUE


# --- one -----------------------------------------------------------------------------------------------------


def one(context: Context, expr: Expr) -> One:
    match expr:
        case One():
            return expr
        case Made(members, of, defined):
            terms = [(name, one(context, e)) for name, e in members]
            kind = Rec(tuple((n, Slot(o.kind, o.defined != TRUE)) for n, o in terms), of)
            return guard_value(kind, struct([(n, encode_slot(o)) for n, o in terms]), defined)
        case Many():
            return collect_elements(context, expr)
        case _:
            assert_never(expr)


def collect_elements(context: Context, many: Many, slot: Slot | None = None) -> One:
    """The elements in an array: a list in its order, others in the order of their values."""
    if slot is None:
        item = one(context, many.element)
        slot = Slot(item.kind, item.defined != TRUE)
        term = encode_slot(item)
    else:
        term = in_slot(context, many.element, slot)
    wrap = nullable(term)  # an aggregate passes over NULLs
    head = [("item", struct([(VALUE, term)]) if wrap else term)]
    head += [(f"key{i}", k.term) for i, k in enumerate(many.order)]
    if many.shape == "dictionary":
        assert many.position is not None
        head = [("item", struct([("key", many.position), (VALUE, term)]))]
    query = comprehension(many, head)
    variable = Variable(context.names.fresh("c"), Struct(query.fields))
    order = tuple(replace(k, term=build.field(variable, f"key{i}")) for i, k in enumerate(many.order))
    collect = aggregate("collect_list", [build.field(variable, "item")], order=order)
    group = Group(variable, query, (), (collect,), (Member("items", collect.type, False),))
    items: Term = Scalar(group, collect.type)
    kind: Kind = Coll(many.shape, slot)  # type: ignore[arg-type]
    if many.shape == "dictionary":
        assert many.position is not None
        kind = Dict(kind_of(many.position.type), slot)
        items = build.call("map_from_entries", items)
    elif wrap:
        at = Variable("item.", collect.type.element if isinstance(collect.type, Array) else collect.type)
        items = build.call(
            "transform", items, Lambda((at,), build.field(at, VALUE), build.field(at, VALUE).type)
        )
    return guard_value(kind, items, many.defined)


def comprehension(many: Many, head: list[tuple[str, Term]]) -> Comprehension:
    """A bag with one record for each element."""
    fields = tuple(Member(name, term.type, nullable(term)) for name, term in head)
    return Comprehension("bag", tuple(term for _, term in head), many.qualifiers, fields)


# --- many ----------------------------------------------------------------------------------------------------


def many(context: Context, expr: Expr, place: Place | None) -> Many:
    """A collection as a comprehension."""
    match expr:
        case Many():
            return expr
        case One(Coll(shape, slot), term, defined):
            listed = shape == "list"
            members = ((Member("pos", INT, False),) if listed else ()) + (Member("col", slot_type(slot)),)
            variable = Variable(context.names.fresh("x"), Struct(members))
            unnest = Unnest(variable, term, ordinal=listed)
            position = build.field(variable, "pos") if listed else None
            order = (SortKey(position),) if position is not None else ()
            return Many(
                shape, (unnest,), decode_slot(slot, build.field(variable, "col")), order, position, defined
            )
        case One(Dict(key, slot), term, defined):
            members = (Member("key", type_of(key), False), Member("value", slot_type(slot)))
            variable = Variable(context.names.fresh("x"), Struct(members))
            element = decode_slot(slot, build.field(variable, "value"))
            return Many(
                "dictionary", (Unnest(variable, term),), element, (), build.field(variable, "key"), defined
            )
        case One(kind) if is_nil(kind):
            nothing = Variable(context.names.fresh("x"), Struct(()))
            return Many("set", (Generator(nothing, Values((), ())),), One(kind, build.null()))
        case _:
            raise wrong(f"a collection is needed here, not {article(expr.kind)}", place)


def article(kind: Kind) -> str:
    text = str(kind)
    return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text}"


# --- rows ----------------------------------------------------------------------------------------------------

Read = Callable[[Term], Expr]


def columns(context: Context, expr: Expr) -> tuple[list[tuple[str, Term]], Read]:
    """The columns that hold an element, one for each member of a struct, and how to read it from a row of them."""
    if isinstance(expr, Made) and expr.defined == TRUE and expr.members:
        parts = [(name, one(context, e)) for name, e in expr.members]
        made = expr
    else:
        parts, made = [(VALUE, one(context, expr))], None
    head: list[tuple[str, Term]] = []
    slots: list[tuple[str, str, Slot]] = []
    for i, (name, part) in enumerate(parts):
        column = name if name.lower() not in {n.lower() for n, _ in head} else f"{name}.{i}"
        head.append((column, encode_slot(part)))
        slots.append((name, column, Slot(part.kind, part.defined != TRUE)))

    def read(variable: Term) -> Expr:
        found = [(name, decode_slot(slot, build.field(variable, column))) for name, column, slot in slots]
        return Made(tuple(found), made.of) if made is not None else found[0][1]

    return head, read


def rows(context: Context, collection: Many) -> tuple[Comprehension, Read]:
    head, read = columns(context, collection.element)
    return comprehension(collection, head), read


def over(context: Context, query: Query, read: Read, shape: str, stem: str = "x") -> Many:
    """A collection that ranges over a query."""
    variable = Variable(context.names.fresh(stem), Struct(query.fields))
    return Many(shape, (Generator(variable, query),), read(variable))


def distinct(context: Context, collection: Many) -> Many:
    """The collection as a set."""
    if collection.shape == "set":
        return collection
    query, read = rows(context, collection)
    found = over(context, replace(query, monoid="set"), read, "set")
    return replace(found, defined=collection.defined)


# --- common kinds --------------------------------------------------------------------------------------------


def term_as(context: Context, expr: Expr, kind: Kind) -> Term:
    match expr, kind:
        case Made(members, _, defined), Rec(wanted):
            pairs = zip(members, wanted, strict=True)
            made = struct([(n, in_slot(context, e, slot)) for (n, e), (_, slot) in pairs])
            return guard_value(kind, made, defined).term
        case Many(), Coll(_, slot):
            return collect_elements(context, expr, slot).term
        case _:
            plain = one(context, expr)
            return convert(plain.term, plain.kind, kind)


def in_slot(context: Context, expr: Expr, slot: Slot) -> Term:
    """The term that stands in a slot for an expression."""
    term = term_as(context, expr, slot.kind)
    return struct([(VALUE, term), (DEFINED, expr.defined)]) if slot.undefined else term
