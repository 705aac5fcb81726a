"""The static types of OQL, and how values of them are represented in terms.

    Atom     a scalar of any type that is not structured
    Obj      an object of a class, inside its identity
    Rec      a struct; with a class, an object that a query constructs
    Coll     a set, bag or list, inside an array (sets and bags in the order of their elements, so that equal ones are equal)
    Dict     a dictionary, inside a map

A `Slot` is a place that holds a value, and says whether UNDEFINED can stand there. nil is NULL. Only a slot where UNDEFINED can
stand costs anything: there a struct of the value and of whether it is defined.

>>> print(slot_type(Slot(Coll("bag", Slot(STRING_KIND, True)))))
ARRAY<STRUCT<value: STRING, defined: BOOLEAN>>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal as Choice
from typing import assert_never

from evercurrent.catalog.classes import Schema
from evercurrent.data.types import (
    BOOLEAN,
    NULL,
    STRING,
    Array,
    Collection,
    Map,
    Member,
    Null,
    Reference,
    Struct,
    Type,
)
from evercurrent.errors import QueryError
from evercurrent.term import build
from evercurrent.term.functions import coerce
from evercurrent.term.functions.function import TypeMismatch
from evercurrent.term.nodes import Cast, Field, Lambda, Literal, Record, Term, Variable

VALUE, DEFINED = "value", "defined"


@dataclass(frozen=True, slots=True)
class Atom:
    type: Type

    def __str__(self) -> str:
        return "nil" if isinstance(self.type, Null) else str(self.type).lower()


@dataclass(frozen=True, slots=True)
class Obj:
    of: str

    def __str__(self) -> str:
        return self.of


@dataclass(frozen=True, slots=True)
class Rec:
    members: tuple[tuple[str, Slot], ...]
    of: str | None = None

    def __str__(self) -> str:
        return f"{self.of or 'struct'}({', '.join(f'{n}: {s.kind}' for n, s in self.members)})"

    def slot(self, name: str) -> Slot | None:
        return next((slot for n, slot in self.members if n == name), None)


@dataclass(frozen=True, slots=True)
class Coll:
    kind: Choice["set", "bag", "list"]
    element: Slot

    def __str__(self) -> str:
        return f"{self.kind}<{self.element.kind}>"


@dataclass(frozen=True, slots=True)
class Dict:
    key: Kind
    value: Slot

    def __str__(self) -> str:
        return f"dictionary<{self.key}, {self.value.kind}>"


Kind = Atom | Obj | Rec | Coll | Dict


@dataclass(frozen=True, slots=True)
class Slot:
    kind: Kind
    undefined: bool = False


NIL = Atom(NULL)
TRUTH = Atom(BOOLEAN)
STRING_KIND = Atom(STRING)


def is_nil(kind: Kind) -> bool:
    return isinstance(kind, Atom) and isinstance(kind.type, Null)


def struct(members: Sequence[tuple[str, Term]]) -> Term:
    """A record, typed as `type_of` types it: any member may be nil."""
    return Record(tuple(members), Struct(tuple(Member(name, term.type) for name, term in members)))


# --- types of terms ------------------------------------------------------------------------------------------


def type_of(kind: Kind) -> Type:
    """The type of the terms that stand for values of a kind."""
    match kind:
        case Atom(type):
            return type
        case Obj(of):
            return Reference(of)
        case Rec(members):
            return Struct(tuple(Member(name, slot_type(slot)) for name, slot in members))
        case Coll(_, element):
            return Array(slot_type(element))
        case Dict(key, value):
            return Map(type_of(key), slot_type(value))
        case _:
            assert_never(kind)


def slot_type(slot: Slot) -> Type:
    plain = type_of(slot.kind)
    if not slot.undefined:
        return plain
    return Struct((Member(VALUE, plain), Member(DEFINED, BOOLEAN)))


def kind_of(type: Type) -> Kind:
    """The kind of what tables and attributes hold."""
    match type:
        case Reference(target):
            return Obj(target)
        case Struct(members):
            return Rec(tuple((m.name, Slot(kind_of(m.type))) for m in members))
        case Collection(kind, element):
            return Coll(kind, Slot(kind_of(element)))
        case Array(element):
            return Coll("list", Slot(kind_of(element)))
        case Map(key, value):
            return Dict(kind_of(key), Slot(kind_of(value)))
        case _:
            return Atom(type)


def as_arrays(type: Type) -> Type:
    """A type of tables as terms have it: every collection is an array."""
    match type:
        case Collection(_, element) | Array(element):
            return Array(as_arrays(element))
        case Map(key, value):
            return Map(key, as_arrays(value))
        case Struct(members):
            return Struct(tuple(Member(m.name, as_arrays(m.type), m.nullable) for m in members))
        case _:
            return type


def retype(term: Term) -> Term:
    """A column as a term of its kind."""
    wanted = as_arrays(term.type)
    return term if wanted == term.type or not isinstance(term, Field) else replace(term, type=wanted)


def plain(kind: Kind) -> Kind:
    """The kind without UNDEFINED, which is NULL for everybody else."""
    match kind:
        case Atom() | Obj():
            return kind
        case Rec(members, of):
            return Rec(tuple((n, Slot(plain(s.kind))) for n, s in members), of)
        case Coll(shape, element):
            return Coll(shape, Slot(plain(element.kind)))
        case Dict(key, value):
            return Dict(key, Slot(plain(value.kind)))
        case _:
            assert_never(kind)


# --- what several have in common -----------------------------------------------------------------------------


class NoCommonKind(QueryError):
    """Values of different kinds meet where they must agree."""


def common(kinds: Sequence[Kind], schema: Schema) -> Kind:
    """The least kind that holds values of all the given kinds."""
    return reduce(lambda a, b: _common(a, b, schema), kinds)


def common_slot(slots: Sequence[Slot], schema: Schema) -> Slot:
    return Slot(common([s.kind for s in slots], schema), any(s.undefined for s in slots))


def _common(a: Kind, b: Kind, schema: Schema) -> Kind:
    if a == b or is_nil(b):
        return a
    if is_nil(a):
        return b
    match a, b:
        case Atom(x), Atom(y):
            try:
                return Atom(coerce.common_of_two(x, y))
            except TypeMismatch:
                raise NoCommonKind(f"{a} and {b} have nothing in common") from None
        case Obj(x), Obj(y):
            shared = schema.common(x, y)
            if shared is not None:
                return Obj(shared)
        case Rec(xs, of), Rec(ys, other) if of == other and [n for n, _ in xs] == [n for n, _ in ys]:
            return Rec(
                tuple((n, common_slot((s, t), schema)) for (n, s), (_, t) in zip(xs, ys, strict=True)), of
            )
        case Coll(kind, x), Coll(other, y):
            shape = kind if kind == other else "bag"
            return Coll(shape, common_slot((x, y), schema))
        case Dict(k, v), Dict(l, w):
            return Dict(_common(k, l, schema), common_slot((v, w), schema))
        case _:
            pass
    raise NoCommonKind(f"{a} and {b} have nothing in common")


# --- terms of one kind as terms of another -------------------------------------------------------------------


def convert(term: Term, old: Kind, new: Kind) -> Term:
    """A term of one kind as one of a more general kind."""
    if old == new or type_of(old) == type_of(new):
        return term
    match old, new:
        case Obj(), Obj():
            return Cast(term, type_of(new))
        case Atom(), (Atom() | Obj()):
            return build.cast(term, type_of(new))
        case Atom(), _:
            return Literal(None, type_of(new))
        case Rec(xs), Rec(ys):
            members = [
                (name, convert_slot(build.field(term, name), s, t))
                for (name, s), (_, t) in zip(xs, ys, strict=True)
            ]
            made = struct(members)
            return build.case([(build.call("is_not_null", term), made)])
        case Coll(_, x), Coll(_, y):
            item = Variable("item.", slot_type(x), True)
            body = convert_slot(item, x, y)
            return build.call("transform", term, Lambda((item,), body, body.type))
        case _:
            return build.cast(term, type_of(new))


def convert_slot(term: Term, old: Slot, new: Slot) -> Term:
    match old.undefined, new.undefined:
        case False, True:
            return struct([(VALUE, convert(term, old.kind, new.kind)), (DEFINED, build.TRUE)])
        case True, True:
            if old.kind == new.kind:
                return term
            inner = convert(build.field(term, VALUE), old.kind, new.kind)
            return struct([(VALUE, inner), (DEFINED, build.field(term, DEFINED))])
        case True, False:
            return convert(build.field(term, VALUE), old.kind, new.kind)
        case _:
            return convert(term, old.kind, new.kind)
