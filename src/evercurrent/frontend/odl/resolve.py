"""Syntax to classes: what the names of types and constants in a text stand for.

Whether the classes fit together (inverses, keys, cycles) is checked by `catalog.wellformed`, for classes of any origin.

>>> schema = classes_of("class person (extent Persons) { attribute string name; };", Schema())
>>> [(p.name, str(p.type)) for p in schema.classes["person"].properties]
[('name', 'STRING')]
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, assert_never, cast

from evercurrent.catalog.classes import (
    Attribute,
    Class,
    Keeping,
    Limit,
    Operation,
    Path,
    Property,
    Relationship,
    Schema,
)
from evercurrent.catalog.wellformed import check
from evercurrent.data.types import Collection, Decimal, Map, Member, Reference, String, Struct, Type
from evercurrent.errors import QueryError
from evercurrent.frontend.odl import syntax as s
from evercurrent.frontend.odl.parse import parse
from evercurrent.frontend.odl.primitives import ALIASES, ANY, PRIMITIVES
from evercurrent.source import Place

KINDS: dict[str, Literal["set", "bag", "list"]] = {
    "set": "set",
    "bag": "bag",
    "list": "list",
    "array": "list",
    "sequence": "list",
}
Limits = tuple[tuple[Path, Limit], ...]
SIGNS: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
    "%": operator.mod,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


def classes_of(
    text: str,
    schema: Schema,
    operations: Mapping[str, Callable[..., Any]] | None = None,
    replacing: bool = False,
) -> Schema:
    """The schema with the classes of a text added; `operations` are functions by "class.operation"."""
    written = parse(text)
    resolver = Resolver(written, schema)
    found = dict(schema.classes)
    for one in written.classes:
        if one.name in found and (one.name not in schema.classes or not replacing):
            raise QueryError(
                f"there is already a class {one.name}",
                place=one.place,
                hint="db.drop_class drops it" if one.name in schema.classes else None,
            )
        found[one.name] = resolver.class_(one)
    made = Schema(found)
    check(made)
    return bind(made, operations or {})


def bind(schema: Schema, functions: Mapping[str, Callable[..., Any]]) -> Schema:
    """The schema with functions for operations, by "class.operation"."""
    found = dict(schema.classes)
    for name, function in functions.items():
        owner, _, called = name.partition(".")
        made = found.get(owner)
        if made is None or all(o.name != called for o in made.operations):
            names = [f"{c.name}.{o.name}" for c in schema.classes.values() for o in c.operations]
            near = difflib.get_close_matches(name, names, 1)
            raise QueryError(
                f"there is no operation {name!r}", hint=f"did you mean {near[0]!r}?" if near else None
            )
        if not callable(function):
            raise QueryError(f"{name}: {function!r} is not a function")
        bound = tuple(replace(o, function=function) if o.name == called else o for o in made.operations)
        found[owner] = replace(made, operations=bound)
    return Schema(found)


class Resolver:
    """Looks names up: in the class, in the text, among the classes that are there."""

    def __init__(self, text: s.Text, schema: Schema) -> None:
        self.names = set(schema.classes) | {c.name for c in text.classes}
        self.types: dict[str, s.Written] = {}
        self.constants: dict[str, s.Constant] = {}
        self.resolving: list[str] = []
        self.add(text.definitions)

    def add(self, definitions: tuple[s.Definition, ...]) -> None:
        for d in definitions:
            if d.name in self.types or d.name in self.constants or d.name in self.names:
                raise QueryError(f"the name {d.name} is there twice", place=d.place)
            if isinstance(d.what, s.Constant):
                self.constants[d.name] = d.what
            else:
                self.types[d.name] = d.what

    # --- classes -------------------------------------------------------------------------------------------

    def class_(self, c: s.WrittenClass) -> Class:
        kept = (dict(self.types), dict(self.constants))
        self.add(c.definitions)
        properties: list[Property] = []
        operations: list[Operation] = []
        for m in c.members:
            match m:
                case s.WrittenAttribute(name, written, readonly, place, keeping):
                    t, limits = self.type(written)
                    own = dict(limits).get((), ANY)
                    inner = tuple(x for x in limits if x[0])
                    properties.append(
                        Attribute(
                            name,
                            t,
                            readonly,
                            cast(Keeping, keeping),
                            own.least,
                            own.greatest,
                            own.labels,
                            place,
                            inner,
                        )
                    )
                case s.WrittenRelationship(name, kind, target, other, inverse, place):
                    self.require_class(target)
                    self.require_class(other)
                    if other.name != target.name:
                        raise QueryError(
                            f"relationship {name} leads to {target.name}, so its inverse is one of {target.name}, "
                            f"not of {other.name}",
                            place=other.place,
                        )
                    end = KINDS[kind] if kind != "one" else "one"
                    properties.append(Relationship(name, target.name, end, inverse, place))
                case s.WrittenOperation(name, written_type, parameters, place):
                    assert written_type is not None
                    given = tuple(Member(n, self.type(w)[0]) for n, w, _ in parameters)
                    operations.append(Operation(name, given, self.type(written_type)[0], place=place))
                case _:
                    assert_never(m)
        if c.parent is not None:
            self.require_class(c.parent)
        self.types, self.constants = kept
        parent = None if c.parent is None else c.parent.name
        return Class(
            c.name, parent, c.extent, c.keys, tuple(properties), tuple(operations), c.place, c.module
        )

    def require_class(self, named: s.Named) -> None:
        if named.name not in self.names:
            raise self.unknown("class", named.name, named.place, sorted(self.names))

    def unknown(self, kind: str, name: str, place: Place, names: list[str]) -> QueryError:
        near = difflib.get_close_matches(name, names, 1)
        return QueryError(
            f"there is no {kind} {name!r}", place=place, hint=f"did you mean {near[0]!r}?" if near else None
        )

    # --- types ---------------------------------------------------------------------------------------------

    def type(self, written: s.Written) -> tuple[Type, Limits]:
        """The type, and the limits of it and of its parts."""
        match written:
            case s.Named(name, place):
                return self.resolve_named(name, place)
            case s.Sized("string", (size,), place):
                return String(self.number(size)), ()
            case s.Sized(_, sizes, place):
                precision, scale = self.number(sizes[0]), self.number(sizes[1]) if len(sizes) > 1 else 0
                if not (1 <= precision <= 38 and 0 <= scale <= precision):
                    raise QueryError(
                        "a decimal has 1 to 38 digits, and no more of them after the point", place=place
                    )
                return Decimal(precision, scale), ()
            case s.Many(kind, element, _):
                t, limits = self.type(element)
                return Collection(KINDS[kind], t), under("element", limits)
            case s.Dictionary(key, value, _):
                k, key_limits = self.type(key)
                v, value_limits = self.type(value)
                return Map(k, v), under("key", key_limits) + under("value", value_limits)
            case s.Enumeration(_, labels, _):
                names = [label for label, _ in labels]
                for i, (label, where) in enumerate(labels):
                    if label in names[:i]:
                        raise QueryError(f"the label {label} is there twice", place=where)
                return String(), (((), Limit(labels=tuple(names))),)
            case s.Structure(_, members, _):
                return self.structure(members)
            case _:
                assert_never(written)

    def structure(self, members: tuple[tuple[str, s.Written, Place], ...]) -> tuple[Type, Limits]:
        found: list[Member] = []
        limits: Limits = ()
        for name, written, place in members:
            if any(m.name.lower() == name.lower() for m in found):
                raise QueryError(f"the member {name} is there twice", place=place)
            t, inner = self.type(written)
            found.append(Member(name, t))
            limits += under(name, inner)
        return Struct(tuple(found)), limits

    def resolve_named(self, name: str, place: Place) -> tuple[Type, Limits]:
        if name in self.types:
            if name in self.resolving:
                raise QueryError(
                    f"the type {name} contains itself", place=place, hint="refer to a class instead"
                )
            self.resolving.append(name)
            try:
                return self.type(self.types[name])
            finally:
                self.resolving.pop()
        if name in self.names:
            return Reference(name), ()
        word = name.lower()
        found = PRIMITIVES.get(ALIASES.get(word, word))
        if found is None:
            raise self.unknown("type", name, place, sorted({*self.names, *self.types, *PRIMITIVES}))
        t, limit = found
        return t, () if limit == ANY else (((), limit),)

    # --- constants -----------------------------------------------------------------------------------------

    def number(self, constant: s.Constant) -> int:
        value = self.value(constant)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise QueryError("a size is a whole number", place=constant.place)
        return value

    def value(self, c: s.Constant) -> Any:
        if c.operator == "value":
            return c.value
        if c.operator == "name":
            name = str(c.value)
            if name not in self.constants or name in self.resolving:
                raise self.unknown("constant", name, c.place, sorted(self.constants))
            self.resolving.append(name)
            try:
                return self.value(self.constants[name])
            finally:
                self.resolving.pop()
        try:
            parts = [self.value(p) for p in c.parts]
            if len(parts) == 1:
                return SIGNS[c.operator](parts[0])
            return OPERATORS[c.operator](*parts)
        except (TypeError, ArithmeticError, ValueError) as problem:
            raise QueryError(f"the constant has no value: {problem}", place=c.place) from None


def under(step: str, limits: Limits) -> Limits:
    return tuple(((step, *path), limit) for path, limit in limits)
